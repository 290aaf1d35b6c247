"""A decision table: lines, limits, rules in order; refused at construction, and after that nothing fails.

What is refused here can never be evaluated. What is merely unwise, or leaves a gap, can be built: the analysis and
the lint say so while somebody is still typing, and keep it from being published.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from types import MappingProxyType

from policy_app.kernel.conditions import Bound, Condition, bounds_of
from policy_app.kernel.errors import Duplicate, LimitMismatch, OutOfRange, TooLarge, UnknownName, WrongType
from policy_app.kernel.names import id_of, text_of, twice
from policy_app.kernel.numbers import decimal_of, plain, whole_of
from policy_app.kernel.operations import Operation, Parameters, default_parameters, parameters_type
from policy_app.kernel.signals import ORDER
from policy_app.kernel.zones import HitPolicy, Lines, WorkingWindow

MOST_RULES = 200
MOST_WINDOWS = 100
MOST_REASON = 2_000
MOST_EVIDENCE = 20
MOST_ARGUMENTS = 200


@dataclass(frozen=True, slots=True)
class Limits:
    """Numbers that hold beside the rules; a rule's bound may refer to the first two by name.

    `handoff_brief_target_tokens` is advice; the two `..._max_tokens` are hard, the last for each prompt.
    """

    compaction_depth_cap: int = 2
    tool_result_share_prune: Decimal = Decimal("0.4")
    prompt_path_ms: int = 300
    memory_timeout_ms: int = 1_500
    handoff_brief_target_tokens: int = 1_500
    handoff_digest_max_tokens: int = 200
    injected_artifact_max_tokens: int = 200

    def __post_init__(self) -> None:
        for name in LIMIT_NAMES:
            value = getattr(self, name)
            if name == "tool_result_share_prune":
                share = decimal_of(f"limits.{name}", value)
                if not 0 < share <= 1:
                    raise OutOfRange(f"limits.{name}", plain(share), "must be above 0 and at most 1")
                object.__setattr__(self, name, share)
            else:
                low = 0 if name == "compaction_depth_cap" else 1
                object.__setattr__(self, name, whole_of(f"limits.{name}", value, low=low, high=1_000_000))

    def number(self, name: str) -> Decimal:
        """The limit of that name, or `UnknownName`."""
        if name not in LIMIT_NAMES:
            raise UnknownName("limits", name, f"must be one of {', '.join(LIMIT_NAMES)}")
        return Decimal(getattr(self, name))


LIMIT_NAMES: tuple[str, ...] = tuple(each.name for each in fields(Limits))
#: Limits that a bound on this signal may refer to.
LIMIT_OF_SIGNAL: Mapping[str, str] = MappingProxyType(
    {"depth": "compaction_depth_cap", "tool_result_share": "tool_result_share_prune"}
)


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: all conditions of `when` must hold (none: always), then `operation` with its parameters.

    `reason` says why in a sentence, `evidence` names records of the evidence library. A rule that is switched off
    keeps its place and never matches.
    """

    id: str
    operation: Operation
    when: tuple[Condition, ...] = ()
    parameters: Parameters | None = None
    reason: str = ""
    evidence: tuple[str, ...] = ()
    enabled: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", id_of("rules.id", self.id))
        if not isinstance(self.operation, Operation):
            raise UnknownName(f"rules.{self.id}.operation", self.operation, "must be of the closed set")
        self._check_when()
        self._check_parameters()
        reason = text_of(f"rules.{self.id}.reason", self.reason, most=MOST_REASON, empty=True)
        object.__setattr__(self, "reason", reason)
        _check_evidence(f"rules.{self.id}.evidence", self.evidence)

    def _check_when(self) -> None:
        repeated = twice(condition.signal for condition in self.when)
        if repeated is not None:
            raise Duplicate(f"rules.{self.id}.when", repeated, "must test each signal once")
        ordered = tuple(sorted(self.when, key=lambda condition: ORDER[condition.signal]))
        object.__setattr__(self, "when", ordered)

    def _check_parameters(self) -> None:
        wanted = parameters_type(self.operation)
        if self.parameters is None:
            object.__setattr__(self, "parameters", default_parameters(self.operation))
        elif not isinstance(self.parameters, wanted):
            raise WrongType(f"rules.{self.id}.parameters", self.parameters, f"must be those of {self.operation}")

    @property
    def takes(self) -> Parameters:
        """The parameters, which are there for every rule."""
        return self.parameters or default_parameters(self.operation)

    def on(self, signal: str) -> Condition | None:
        """Its condition on that signal; None where it does not look at it."""
        return next((condition for condition in self.when if condition.signal == signal), None)


@dataclass(frozen=True, slots=True)
class Argument:
    """Evidence for one number of the table, and the number for which it was confirmed.

    `subject` is a dotted path: `zones.red`, `limits.compaction_depth_cap`, `rules.P5.tool_result_share`.
    """

    subject: str
    evidence: str
    number: str

    def __post_init__(self) -> None:
        text_of("arguments.subject", self.subject, most=200)
        id_of("arguments.evidence", self.evidence)
        text_of("arguments.number", self.number, most=80)


#: A subagent has no successor and no budget of its own.
DEFAULT_REMAP: Mapping[Operation, Operation] = MappingProxyType(
    {
        Operation.HANDOFF_FRESH: Operation.FINISH_AND_RETURN,
        Operation.WRAP_UP: Operation.FINISH_AND_RETURN,
    }
)


@dataclass(frozen=True, slots=True)
class Table:
    """What a version holds. Its identity is the hash of its canonical document.

    `working_windows`: the first pattern that means the model counts. `remap`: what a subagent does instead.
    """

    rules: tuple[Rule, ...]
    hit_policy: HitPolicy = HitPolicy.FIRST
    lines: Lines = field(default_factory=Lines)
    limits: Limits = field(default_factory=Limits)
    working_windows: tuple[WorkingWindow, ...] = ()
    remap: Mapping[Operation, Operation] = DEFAULT_REMAP
    arguments: tuple[Argument, ...] = ()

    def __post_init__(self) -> None:
        _check_counts(self)
        repeated = twice(rule.id for rule in self.rules)
        if repeated is not None:
            raise Duplicate("rules.id", repeated, "must be there once")
        repeated = twice(window.pattern.text for window in self.working_windows)
        if repeated is not None:
            raise Duplicate("working_windows.model", repeated, "must be there once")
        repeated = twice(f"{argument.subject} {argument.evidence}" for argument in self.arguments)
        if repeated is not None:
            raise Duplicate("arguments", repeated, "must be there once")
        for rule in self.rules:
            _check_limits(rule, self.limits)
        object.__setattr__(self, "remap", MappingProxyType(dict(self.remap)))

    def rule(self, rule_id: str) -> Rule:
        """The rule of that id, or `UnknownName`."""
        for rule in self.rules:
            if rule.id == rule_id:
                return rule
        raise UnknownName("rules.id", rule_id, "must be a rule of the table")

    @property
    def live_rules(self) -> tuple[Rule, ...]:
        """The rules that are switched on, in order."""
        return tuple(rule for rule in self.rules if rule.enabled)


def _check_counts(table: Table) -> None:
    counts = (
        ("rules", len(table.rules), MOST_RULES),
        ("working_windows", len(table.working_windows), MOST_WINDOWS),
        ("arguments", len(table.arguments), MOST_ARGUMENTS),
    )
    for name, count, most in counts:
        if count > most:
            raise TooLarge(name, count, f"must be at most {most}")
    if not any(rule.enabled for rule in table.rules):
        raise OutOfRange("rules", len(table.rules), "must hold at least one rule that is switched on")


def _check_evidence(name: str, evidence: tuple[str, ...]) -> None:
    if len(evidence) > MOST_EVIDENCE:
        raise TooLarge(name, len(evidence), f"must be at most {MOST_EVIDENCE}")
    for each in evidence:
        id_of(name, each)
    repeated = twice(evidence)
    if repeated is not None:
        raise Duplicate(name, repeated, "must be there once")


def _check_limits(rule: Rule, limits: Limits) -> None:
    for condition in rule.when:
        for bound in bounds_of(condition):
            if bound.limit:
                _check_limit(f"rules.{rule.id}.when.{condition.signal}", condition.signal, bound, limits)


def _check_limit(name: str, signal: str, bound: Bound, limits: Limits) -> None:
    if LIMIT_OF_SIGNAL.get(signal) != bound.limit:
        raise UnknownName(name, bound.limit, "must be a limit of this signal")
    if bound.value != limits.number(bound.limit):
        raise LimitMismatch(name, plain(bound.value), f"must be the limit of {plain(limits.number(bound.limit))}")
