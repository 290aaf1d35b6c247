"""PURE: signals, conditions, operations, tables, verdicts, analysis, diffs and interchange; no I/O, no clock."""
