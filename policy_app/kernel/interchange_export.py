"""A table as ECM's `policy.yaml`, with everything that the format has no place for said in words."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import yaml

from policy_app.kernel.errors import Refused
from policy_app.kernel.findings import Severity
from policy_app.kernel.interchange import DEFAULT_PINS, ECM_VERSION, FILE_STEPS, SUBAGENTS, Remark
from policy_app.kernel.operations import default_parameters
from policy_app.kernel.table import LIMIT_NAMES, Rule, Table
from policy_app.kernel.when_keys import when_of
from policy_app.kernel.zones import LINE_NAMES, HitPolicy


@dataclass(frozen=True, slots=True)
class Exported:
    """The file, None where a rule cannot be said in it: a file without that rule would say something else."""

    text: str | None
    remarks: tuple[Remark, ...]


def export_policy(table: Table, pins: tuple[str, ...] = DEFAULT_PINS) -> Exported:
    """The table as YAML text. Importing it gives the same rules, lines, limits and remap."""
    remarks = [*_left_out(table)]
    rules = []
    for rule in table.live_rules:
        try:
            rules.append({"id": rule.id, "when": when_of(rule), "operation": str(rule.operation)})
        except Refused as refused:
            remarks.append(Remark(refused.field, Severity.BLOCKS, f"{refused.field} {refused.why}."))
    if any(remark.severity is Severity.BLOCKS for remark in remarks):
        return Exported(None, tuple(remarks))
    document = {
        "ecm_version": ECM_VERSION,
        "zones": {name: getattr(table.lines, name) for name in LINE_NAMES},
        "limits": {name: getattr(table.limits, name) for name in LIMIT_NAMES},
        "rules": rules,
        "operations": {name: _operation_keys(name) for name in FILE_STEPS},
        "pins": list(pins),
        "subagents": {**SUBAGENTS, "operation_remap": {str(was): str(now) for was, now in table.remap.items()}},
    }
    return Exported(yaml.dump(document, Dumper=_Writer, sort_keys=False, allow_unicode=True), tuple(remarks))


def _operation_keys(name: str) -> dict[str, object]:
    keys: dict[str, object] = {"steps": list(FILE_STEPS[name])} if FILE_STEPS[name] else {}
    # Without the memory service a file takes the specifics, and the host is warned once.
    return {**keys, "crystalium_absent": "file_floor_warn"} if name == "externalize" else keys


def _left_out(table: Table) -> Iterator[Remark]:
    if table.hit_policy is not HitPolicy.FIRST:
        yield Remark("hit_policy", Severity.WARNS, "Readers of the file take the first rule that matches.")
    for window in table.working_windows:
        words = f"The working window of {window.pattern.text} has no place in the file; the host's window counts there."
        yield Remark("working_windows", Severity.WARNS, words)
    for rule in table.rules:
        yield from _left_out_of(rule)
    if table.arguments or any(rule.reason or rule.evidence for rule in table.rules):
        yield Remark("rules", Severity.NOTES, "Reasons and evidence have no place in the file.")


def _left_out_of(rule: Rule) -> Iterator[Remark]:
    if not rule.enabled:
        yield Remark(f"rules.{rule.id}", Severity.NOTES, f"{rule.id} is switched off and was left out.")
    elif rule.takes != default_parameters(rule.operation):
        yield Remark(f"rules.{rule.id}", Severity.WARNS, f"The parameters of {rule.id} have no place in the file.")


class _Writer(yaml.SafeDumper):
    """The safe dumper, writing decimals digit by digit and every text in full."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _decimal_node(writer: _Writer, number: Decimal) -> Any:
    text = format(number.normalize(), "f")
    return writer.represent_scalar("tag:yaml.org,2002:float", text if "." in text else f"{text}.0")


_Writer.add_representer(Decimal, _decimal_node)
