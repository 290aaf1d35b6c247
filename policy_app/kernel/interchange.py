"""ECM's `policy.yaml` as a table, with everything that was not taken over said in words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from policy_app.kernel.errors import Refused
from policy_app.kernel.fields import list_of, object_of, text
from policy_app.kernel.findings import Severity
from policy_app.kernel.names import id_of
from policy_app.kernel.numbers import decimal_of
from policy_app.kernel.operations import Operation, operation_of
from policy_app.kernel.table import DEFAULT_REMAP, LIMIT_NAMES, Limits, Rule, Table
from policy_app.kernel.when_keys import conditions_of, second_numbers
from policy_app.kernel.yaml_text import read_yaml
from policy_app.kernel.zones import LINE_NAMES, Lines

ECM_VERSION = "0.1"
#: A project may add pins, never remove one of these (ECM rules, 5).
DEFAULT_PINS = (
    "cortex_routing_digest",
    "active_eidolon_refusal_table",
    "esl_enforcement_mode",
    "crystalium_trust_tier_map",
    "active_plan_step_and_criteria_sha256",
    "session_budget_and_compaction_count",
)
_HANDOFF = (
    "externalize",
    "compose_handoff_brief",
    "ecl_envelope",
    "crystalium_ingest_session_handoff",
    "crystalium_session_end",
)
#: Steps by operation as files spell them; they are the same for every table.
FILE_STEPS: Mapping[str, tuple[str, ...]] = {
    "continue": (),
    "externalize": ("plan_checkpoint", "commit_identifier_manifest", "ingest_envelope_if_present"),
    "prune_tool_results": ("externalize", "host_clear_tool_results"),
    "compact": ("externalize", "host_compact", "pin_reinject", "pin_verify_repair"),
    "handoff_fresh": _HANDOFF,
    "wrap_up": (*_HANDOFF, "emit_wrap_up_notice"),
}
SUBAGENTS = {"meter": "own", "budget": "shared_ledger"}
_TOP = ("ecm_version", "zones", "limits", "rules", "operations", "pins", "audit", "subagents")
_RULE = ("id", "when", "operation")
_NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Remark:
    """One finding of an import or export: `blocks` means that there is no result."""

    field: str
    severity: Severity
    text: str


@dataclass(frozen=True, slots=True)
class Imported:
    """The table, None where a remark blocks, and the pins that the file names."""

    table: Table | None
    pins: tuple[str, ...]
    remarks: tuple[Remark, ...]


def import_policy(source: str | bytes) -> Imported:
    """The policy of a YAML file; never raises for what the file holds."""
    reader = _Reader()
    document = reader.take(lambda: object_of("policy", read_yaml(source)), _NOTHING)
    if reader.is_blocked():
        return Imported(None, (), tuple(reader.remarks))
    table = reader.table(document)
    return Imported(None if reader.is_blocked() else table, reader.pins(document), tuple(reader.remarks))


class _Reader:
    """Reads on after a refusal, so that one import names everything that is wrong."""

    def __init__(self) -> None:
        self.remarks: list[Remark] = []

    def is_blocked(self) -> bool:
        return any(remark.severity is Severity.BLOCKS for remark in self.remarks)

    def say(self, field: str, words: str, severity: Severity = Severity.WARNS) -> None:
        self.remarks.append(Remark(field, severity, words))

    def take[Taken](self, read: Callable[[], Taken], otherwise: Taken) -> Taken:
        try:
            return read()
        except Refused as refused:
            self.say(refused.field, f"{refused}.", Severity.BLOCKS)
            return otherwise

    def section(self, document: Mapping[str, object], name: str, known: tuple[str, ...]) -> Mapping[str, object]:
        """An object of the file without the keys that nothing reads; missing or empty is an empty one."""
        found = self.take(lambda: object_of(name, document.get(name) or {}), _NOTHING)
        for key in found:
            if key not in known:
                self.say(f"{name}.{key}", f"Nothing reads {name}.{key}; it was left out.")
        return {key: value for key, value in found.items() if key in known}

    def table(self, document: Mapping[str, object]) -> Table | None:
        for key in document:
            if key not in _TOP:
                self.say(key, f"Nothing reads {key}; it was left out.")
        if document.get("ecm_version") != ECM_VERSION:
            self.say("ecm_version", f"The file does not say that it is of version {ECM_VERSION}; it was read as such.")
        if "audit" in document:
            self.say("audit", "Where files lie is each machine's own matter; audit was left out.", Severity.NOTES)
        lines, limits, remap = self.lines(document), self.limits(document), self.remap(document)
        self.operations(document)
        rules = self.rules(document, limits)
        if self.is_blocked():
            return None
        return self.take(lambda: Table(rules, lines=lines, limits=limits, remap=remap), None)

    def lines(self, document: Mapping[str, object]) -> Lines:
        written = self.section(document, "zones", LINE_NAMES)
        numbers: dict[str, Decimal | None] = {}
        for name in LINE_NAMES:
            default: Decimal = getattr(Lines(), name)
            if name not in written:
                self.say(f"zones.{name}", f"The file has no line for {name.upper()}; {default} was taken.")
            read = _number_reader(f"zones.{name}", written.get(name, default))
            numbers[name] = self.take(read, None)
        given = {name: number for name, number in numbers.items() if number is not None}
        return self.take(lambda: Lines(**given), Lines()) if len(given) == len(LINE_NAMES) else Lines()

    def limits(self, document: Mapping[str, object]) -> Limits:
        limits = Limits()
        for name, raw in self.section(document, "limits", LIMIT_NAMES).items():
            limits = self.take(_limit_setter(limits, name, raw), limits)
        return limits

    def rules(self, document: Mapping[str, object], limits: Limits) -> tuple[Rule, ...]:
        none: Sequence[object] = ()
        listed = self.take(lambda: list_of("rules", document.get("rules")), none)
        made = [self.take(_rule_reader(raw, limits, f"rules[{index}]"), None) for index, raw in enumerate(listed)]
        rules = tuple(rule for rule in made if rule is not None)
        for rule in rules:
            for words in second_numbers(rule, limits):
                self.say(f"rules.{rule.id}", words)
        return rules

    def operations(self, document: Mapping[str, object]) -> None:
        written = self.take(lambda: object_of("operations", document.get("operations") or {}), _NOTHING)
        for name, raw in written.items():
            steps = self.take(_steps_reader(name, raw), None)
            if name not in tuple(Operation):
                self.say(f"operations.{name}", f"There is no operation {name}; the set is closed. It was left out.")
            elif steps is not None and steps != FILE_STEPS.get(name, ()):
                self.say(
                    f"operations.{name}",
                    f"The steps of {name} are the same for every table; the file's own were left out.",
                )

    def remap(self, document: Mapping[str, object]) -> Mapping[Operation, Operation]:
        written = self.section(document, "subagents", (*SUBAGENTS, "operation_remap"))
        for name, meant in SUBAGENTS.items():
            if written.get(name, meant) != meant:
                self.say(f"subagents.{name}", f"A subagent's {name} is always {meant}; {written[name]} was left out.")
        if "operation_remap" not in written:
            return DEFAULT_REMAP
        return self.take(lambda: _remap_of(written["operation_remap"]), DEFAULT_REMAP)

    def pins(self, document: Mapping[str, object]) -> tuple[str, ...]:
        if "pins" not in document:
            return DEFAULT_PINS
        none: tuple[str, ...] = ()
        pins = self.take(lambda: tuple(id_of("pins", pin) for pin in list_of("pins", document["pins"])), none)
        for pin in DEFAULT_PINS:
            if pin not in pins:
                self.say("pins", f"The pin {pin} is missing; pins may be added, never removed. It stays.")
        return tuple(dict.fromkeys((*DEFAULT_PINS, *pins)))


def _number_reader(field: str, raw: object) -> Callable[[], Decimal | None]:
    return lambda: decimal_of(field, raw)


def _limit_setter(limits: Limits, name: str, raw: object) -> Callable[[], Limits]:
    changed: dict[str, Any] = {name: raw}
    return lambda: replace(limits, **changed)


def _rule_reader(raw: object, limits: Limits, field: str) -> Callable[[], Rule | None]:
    def read() -> Rule:
        document = object_of(field, raw, _RULE)
        return Rule(
            id=text(f"{field}.id", document.get("id")),
            operation=operation_of(f"{field}.operation", document.get("operation")),
            when=conditions_of(document.get("when") or {}, limits, field=f"{field}.when"),
        )

    return read


def _steps_reader(name: str, raw: object) -> Callable[[], tuple[str, ...] | None]:
    def read() -> tuple[str, ...]:
        written = object_of(f"operations.{name}", raw or {})
        return tuple(text(f"operations.{name}.steps", step) for step in list_of(name, written.get("steps")))

    return read


def _remap_of(raw: object) -> Mapping[Operation, Operation]:
    field = "subagents.operation_remap"
    written = object_of(field, raw or {})
    return {operation_of(field, was): operation_of(f"{field}.{was}", becomes) for was, becomes in written.items()}
