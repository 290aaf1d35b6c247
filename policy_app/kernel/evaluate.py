"""The verdict: a pure function of a table and signals, with every rule that was asked and why it did not match."""

from dataclasses import dataclass
from enum import StrEnum

from policy_app.kernel.conditions import Condition
from policy_app.kernel.levers import Lever, lever_of
from policy_app.kernel.operations import NoParameters, Operation, Parameters, default_parameters
from policy_app.kernel.signals import Signals, Value
from policy_app.kernel.situation import Situation, situate
from policy_app.kernel.table import Rule, Table
from policy_app.kernel.zones import Zone


class Outcome(StrEnum):
    """What became of a rule; rules after the one that matched are not asked."""

    MATCHED = "matched"
    NOT_MET = "not_met"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Step:
    """One rule of the trace: for NOT_MET the first condition that failed, and the value that it met."""

    rule: str
    outcome: Outcome
    failed: Condition | None = None
    value: Value | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the table says, and what it was told.

    `raw_operation` is the rule's; `operation` is what the asker does (a subagent's is remapped). `rule` is empty
    where a table with a gap has no answer, which means *continue*. `lever` is None where the host is not known.
    """

    rule: str
    operation: Operation
    raw_operation: Operation
    parameters: Parameters
    reason: str
    evidence: tuple[str, ...]
    situation: Situation
    trace: tuple[Step, ...]
    lever: Lever | None

    @property
    def zone(self) -> Zone:
        """The zone in which it was given."""
        return self.situation.zone

    @property
    def subagent(self) -> bool:
        """Whether a subagent asked."""
        return self.situation.is_subagent


def evaluate(table: Table, signals: Signals, subagent: bool = False) -> Verdict:
    """The verdict of the first rule whose conditions all hold."""
    situation = situate(table, signals, subagent=subagent)
    steps: list[Step] = []
    for rule in table.rules:
        step = _asked(rule, situation.signals)
        steps.append(step)
        if step.outcome is Outcome.MATCHED:
            return _verdict(table, rule, situation, tuple(steps))
    return _unanswered(situation, tuple(steps))


def matching(table: Table, signals: Signals, subagent: bool = False) -> tuple[str, ...]:
    """Every rule whose conditions hold, in order; for tables in which only one may."""
    known = situate(table, signals, subagent=subagent).signals
    return tuple(rule.id for rule in table.live_rules if _asked(rule, known).outcome is Outcome.MATCHED)


def _asked(rule: Rule, known: Signals) -> Step:
    if not rule.enabled:
        return Step(rule.id, Outcome.OFF)
    for condition in rule.when:
        value = known[condition.signal]
        if not condition.matches(value):
            return Step(rule.id, Outcome.NOT_MET, condition, value)
    return Step(rule.id, Outcome.MATCHED)


def _verdict(table: Table, rule: Rule, situation: Situation, trace: tuple[Step, ...]) -> Verdict:
    operation = table.remap.get(rule.operation, rule.operation) if situation.is_subagent else rule.operation
    return Verdict(
        rule=rule.id,
        operation=operation,
        raw_operation=rule.operation,
        parameters=rule.takes if operation is rule.operation else default_parameters(operation),
        reason=rule.reason,
        evidence=rule.evidence,
        situation=situation,
        trace=trace,
        lever=_lever(situation, operation),
    )


def _unanswered(situation: Situation, trace: tuple[Step, ...]) -> Verdict:
    return Verdict(
        rule="",
        operation=Operation.CONTINUE,
        raw_operation=Operation.CONTINUE,
        parameters=NoParameters(),
        reason="no rule matches",
        evidence=(),
        situation=situation,
        trace=trace,
        lever=_lever(situation, Operation.CONTINUE),
    )


def _lever(situation: Situation, operation: Operation) -> Lever | None:
    host = situation.signals["host"]
    return lever_of(host, operation) if isinstance(host, str) else None
