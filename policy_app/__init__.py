"""What should happen: signals, decision tables, verdicts, pins."""
