"""The laws of ECM held against a table; exactly, by looking for a situation in which a rule breaks them.

A rule breaks a law only where it answers: what an earlier rule takes is not held against it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from policy_app.kernel.boxes import Steps, StepsSpent, escape, meet
from policy_app.kernel.conditions import Condition, InRange, OneOf, Only, at_least, bounds_of
from policy_app.kernel.findings import Finding, Severity, shown
from policy_app.kernel.levers import hosts_without
from policy_app.kernel.numbers import plain
from policy_app.kernel.operations import LOSSY, MEMORY_TOOL, Operation, PruneToolResults
from policy_app.kernel.sentences import OPERATION_WORDS, listed
from policy_app.kernel.signals import CATALOGUE, UNKNOWN
from policy_app.kernel.space import Space, Witness, space_of
from policy_app.kernel.table import LIMIT_OF_SIGNAL, Rule, Table

MOST_STEPS = 300_000
_UNKNOWN = frozenset({UNKNOWN})
_FULL = (OneOf("zone", ("RED", "CRITICAL")),)
_ZONE_UNKNOWN = (Only("zone", _UNKNOWN),)


@dataclass(frozen=True, slots=True)
class _Law:
    """A law: in the situations of `probe`, no rule with one of `operations` may answer."""

    code: str
    severity: Severity
    probe: tuple[Condition, ...]
    operations: frozenset[Operation]
    text: str


def lint(table: Table, *, hosts: Sequence[str] = (), evidence: Collection[str] | None = None) -> tuple[Finding, ...]:
    """Every finding of the laws, of `hosts` on which a rule cannot be carried out, and of evidence.

    `evidence` are the ids of the library; None skips that check.
    """
    return (
        *_answered(table),
        *_own_situations(table),
        *_subagents(table),
        *_numbers_twice(table),
        *_reasons(table, evidence),
        *unable_hosts(table, hosts),
    )


def _laws(table: Table) -> tuple[_Law, ...]:
    beyond = (at_least("depth", table.limits.compaction_depth_cap),)
    acting = frozenset(Operation) - {Operation.CONTINUE}
    return (
        _Law(
            "red_continues", Severity.BLOCKS, _full(table), frozenset({Operation.CONTINUE}), "goes on at RED or above"
        ),
        _Law("unknown_escalates", Severity.BLOCKS, _nothing_known(table), acting, "acts where nothing is known"),
        _Law("unknown_escalates", Severity.BLOCKS, _ZONE_UNKNOWN, LOSSY, "loses context while the zone is unknown"),
        _Law("depth_cap", Severity.BLOCKS, beyond, frozenset({Operation.COMPACT}), "compacts beyond the depth cap"),
        _Law(
            "prunes_beyond_cap",
            Severity.NOTES,
            beyond,
            frozenset({Operation.PRUNE_TOOL_RESULTS}),
            "prunes beyond the depth cap too, where the survey allows only a handoff",
        ),
    )


def _full(table: Table) -> tuple[Condition, ...]:
    """RED or above; where rules look at utilization only, as far as that is known."""
    tested = {condition.signal for rule in table.live_rules for condition in rule.when}
    if "utilization" in tested and "zone" not in tested:
        return (*_FULL, InRange("utilization"))
    return _FULL


def _nothing_known(table: Table) -> tuple[Condition, ...]:
    """Every signal unknown that a rule tests, that measures something, and that can be unknown."""
    tested = {condition.signal for rule in table.live_rules for condition in rule.when}
    signals = (CATALOGUE[name] for name in sorted(tested | {"zone"}))
    return tuple(Only(each.name, _UNKNOWN) for each in signals if each.measured and UNKNOWN in each.specials)


def _answered(table: Table) -> Iterator[Finding]:
    laws = _laws(table)
    space = space_of(table, [condition for law in laws for condition in law.probe])
    steps = Steps(MOST_STEPS)
    blamed: set[tuple[str, str]] = set()
    for law in laws:
        for index, rule in enumerate(table.live_rules):
            if rule.operation not in law.operations or (law.code, rule.id) in blamed:
                continue
            try:
                witness = _answers(space, index, law.probe, steps)
            except StepsSpent:
                yield _undecided(rule)
                return
            if witness is not None:
                blamed.add((law.code, rule.id))
                yield Finding(law.code, law.severity, rule.id, f"{rule.id} {law.text}: {shown(witness)}.", witness)


def _answers(space: Space, index: int, probe: Iterable[Condition], steps: Steps) -> Witness | None:
    """A situation of the probe in which the rule answers; None where there is none."""
    inside = meet(space.boxes[index], space.box_of(probe))
    if inside is None:
        return None
    found = escape(inside, [*space.impossible, *space.boxes[:index]], steps)
    return None if found is None else space.witness(found)


def _own_situations(table: Table) -> Iterator[Finding]:
    """What a lossy rule does wherever it answers: clear the memory tool's results, take an unknown as a reason."""
    space, steps = space_of(table), Steps(MOST_STEPS)
    for index, rule in enumerate(table.live_rules):
        if rule.operation not in LOSSY:
            continue
        try:
            if isinstance(rule.takes, PruneToolResults) and MEMORY_TOOL not in rule.takes.exclude_tools:
                text = (
                    f"{rule.id} would clear what the memory tool returned; name `{MEMORY_TOOL}` among its exceptions."
                )
                yield Finding("memory_not_exempt", Severity.BLOCKS, rule.id, text, _answers(space, index, (), steps))
            yield from _unknown_reasons(rule, space, index, steps)
        except StepsSpent:
            yield _undecided(rule)
            return


def _unknown_reasons(rule: Rule, space: Space, index: int, steps: Steps) -> Iterator[Finding]:
    for condition in rule.when:
        signal = CATALOGUE[condition.signal]
        # The laws above look at an unknown zone.
        if not signal.measured or signal.name == "zone" or UNKNOWN not in condition.accepts:
            continue
        witness = _answers(space, index, (Only(signal.name, _UNKNOWN),), steps)
        if witness is not None:
            text = f"{rule.id} loses context where {signal.label} is unknown: {shown(witness)}."
            yield Finding("unknown_as_reason", Severity.WARNS, rule.id, text, witness)


def _undecided(rule: Rule) -> Finding:
    return Finding("undecided", Severity.BLOCKS, rule.id, f"Too entangled to say whether {rule.id} obeys.")


def _subagents(table: Table) -> Iterator[Finding]:
    for was in (Operation.HANDOFF_FRESH, Operation.WRAP_UP):
        if table.remap.get(was) is not Operation.FINISH_AND_RETURN:
            text = f"A subagent cannot {OPERATION_WORDS[was]}: it has no successor. It finishes and returns."
            yield Finding("subagent_remap", Severity.BLOCKS, "", text)
    for rule in table.live_rules:
        if rule.operation is Operation.FINISH_AND_RETURN and rule.on("thread_kind") != _IN_SUBAGENT:
            text = f"{rule.id} says `finish and return` to the main chain too, which has nobody to return to."
            yield Finding("subagent_only", Severity.WARNS, rule.id, text)


_IN_SUBAGENT = OneOf("thread_kind", ("subagent",))


def _numbers_twice(table: Table) -> Iterator[Finding]:
    """A number that stands in a rule and in a limit: who edits one forgets the other."""
    for rule in table.live_rules:
        for condition in rule.when:
            limit = LIMIT_OF_SIGNAL.get(condition.signal)
            if limit is None or not _tied(rule, condition):
                continue
            for bound in bounds_of(condition):
                if not bound.limit:
                    held = plain(table.limits.number(limit))
                    text = f"{rule.id} says {plain(bound.value)} itself, and the limit `{limit}` says {held}."
                    yield Finding("number_twice", Severity.NOTES, rule.id, text)


def _tied(rule: Rule, condition: Condition) -> bool:
    """Whether the limit speaks of this rule: the cap of compactions, the share from which on to prune."""
    if not isinstance(condition, InRange):
        return False
    wanted = {"depth": Operation.COMPACT, "tool_result_share": Operation.PRUNE_TOOL_RESULTS}
    return wanted.get(condition.signal) is rule.operation


def _reasons(table: Table, evidence: Collection[str] | None) -> Iterator[Finding]:
    for rule in table.rules:
        if not rule.reason:
            yield Finding("no_reason", Severity.WARNS, rule.id, f"{rule.id} does not say why it is there.")
        missing = [each for each in rule.evidence if evidence is not None and each not in evidence]
        if missing:
            text = f"{rule.id} names evidence that the library does not hold: {listed(missing, 'and')}."
            yield Finding("no_such_evidence", Severity.WARNS, rule.id, text)


def unable_hosts(table: Table, hosts: Sequence[str]) -> Iterator[Finding]:
    """Rules that some, or all, of those `hosts` on which they can answer cannot carry out."""
    for rule in table.live_rules:
        condition = rule.on("host")
        asking = tuple(host for host in hosts if condition is None or condition.matches(host))
        unable = hosts_without(rule.operation, asking)
        if not unable:
            continue
        nobody = len(unable) == len(asking)
        where = "none of these hosts can" if nobody else f"{listed(unable, 'and')} cannot"
        yield Finding(
            "nobody_can" if nobody else "some_cannot",
            Severity.WARNS if nobody else Severity.NOTES,
            rule.id,
            f"{rule.id}: {where} {OPERATION_WORDS[rule.operation]}.",
            hosts=unable,
        )
