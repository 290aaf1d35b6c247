"""The analysis by trying every distinguishable situation, with no code of the analysis in it.

Values of a signal: each bound, a number between neighbouring bounds, the ends, and the special values. A situation
is possible where deriving it changes nothing.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from policy_app.kernel.conditions import OneOf, bounds_of
from policy_app.kernel.signals import CATALOGUE, Kind, Signals, Value
from policy_app.kernel.situation import situate
from policy_app.kernel.table import Table

#: Windows that hosts state, and tokens of context, where a table has working windows of a few tokens.
WINDOWS = range(1, 6)
MOST_TOKENS = 10
#: Signals that must be told for a value of the first to stay as it is.
_NEEDS = {"calls_since_compaction": "depth"}


@dataclass(frozen=True, slots=True)
class Tried:
    """What trying everything finds: whether a situation is left over, pairs that meet, and rules by id."""

    has_gap: bool
    overlaps: frozenset[tuple[str, str]]
    unreachable: frozenset[str]
    masked: frozenset[str]
    contradictory: frozenset[str]


def tried(table: Table) -> Tried:
    """Everything that is to be said about the table, found by trying all that its conditions tell apart."""
    ids = [rule.id for rule in table.live_rules]
    met: dict[str, list[tuple[str, ...]]] = {rule_id: [] for rule_id in ids}
    has_gap = False
    overlaps: set[tuple[str, str]] = set()
    for values in situations(table):
        takers = tuple(rule.id for rule in table.live_rules if all(c.matches(values[c.signal]) for c in rule.when))
        has_gap = has_gap or not takers
        overlaps.update(itertools.combinations(takers, 2))
        for index, rule_id in enumerate(takers):
            met[rule_id].append(takers[:index])
    return Tried(
        has_gap,
        frozenset(overlaps),
        frozenset(each for each in ids if all(met[each])),
        frozenset(each for each in ids if met[each] and set.intersection(*map(set, met[each]))),
        frozenset(each for each in ids if not met[each]),
    )


def situations(table: Table) -> Iterator[dict[str, Value]]:
    """Every possible combination of the values that the table's conditions tell apart."""
    tested = {condition.signal for rule in table.live_rules for condition in rule.when}
    needs = {**_NEEDS, "context_tokens": "zone"} if table.working_windows else _NEEDS
    tested |= {needs[name] for name in tested if name in needs}
    names = sorted(tested)
    for values in itertools.product(*(_values(table, name) for name in names)):
        found = dict(zip(names, values, strict=True))
        if _possible(table, found):
            yield found


def _possible(table: Table, values: dict[str, Value]) -> bool:
    """Whether some telling of the window leaves every value as it is."""
    share = values.get("utilization")
    if isinstance(share, Fraction) and values.get("zone", (at := table.lines.zone_at(share))) != at:
        return False
    for window in _windows(values):
        derived = situate(table, Signals({**values, **window})).signals
        if all(derived[name] == value and type(derived[name]) is type(value) for name, value in values.items()):
            return True
    return False


def _windows(values: dict[str, Value]) -> list[dict[str, Value]]:
    if "context_tokens" not in values:
        return [{}]
    told: list[dict[str, Value]] = [{"window_tokens": tokens} for tokens in WINDOWS]
    return [{}, *told]


def _values(table: Table, name: str) -> list[Value]:
    signal = CATALOGUE[name]
    conditions = [c for rule in table.live_rules for c in rule.when if c.signal == name]
    if signal.kind is Kind.FLAG:
        return [True, False, *signal.specials]
    if signal.kind is Kind.CHOICE:
        return [*signal.options, *signal.specials]
    if signal.kind is Kind.NAME:
        members = {member for c in conditions if isinstance(c, OneOf) for member in c.members}
        members |= {window.pattern.text for window in table.working_windows}
        return [*sorted(m.replace("*", "qq") for m in members), "other", *signal.specials]
    numbers = {Fraction(bound.value) for c in conditions for bound in bounds_of(c)}
    if name == "utilization":
        numbers |= {Fraction(line) for line in (table.lines.amber, table.lines.red, table.lines.critical)}
    if signal.kind is Kind.WHOLE:
        whole = {0, 1} | {int(number) + step for number in numbers for step in (-1, 0, 1)}
        whole |= set(range(MOST_TOKENS)) if name == "context_tokens" and table.working_windows else set()
        return [*sorted(number for number in whole if number >= 0), *signal.specials]
    ends = sorted({Fraction(0), *numbers, Fraction(signal.high or 2)})
    between = {(low + high) / 2 for low, high in itertools.pairwise(ends)}
    if table.working_windows and name == "utilization":
        between |= {Fraction(tokens, window) for tokens in range(MOST_TOKENS) for window in WINDOWS}
    return [*sorted({*ends, *between}), *signal.specials]
