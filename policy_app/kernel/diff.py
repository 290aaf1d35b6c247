"""What one table has and another has not, as changes that people speak of; applying them gives the other.

`difference(a, a)` is empty and `applied(a, difference(a, b)) == b`. Each change holds what it replaces, so that it
is not applied to a table that has moved on. A bound that refers to a limit follows it and is no change of its rule.
"""

import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from policy_app.kernel.conditions import Bound, Condition, InRange
from policy_app.kernel.errors import Refused
from policy_app.kernel.rule_documents import rule_document
from policy_app.kernel.table import LIMIT_NAMES, Limits, Rule, Table
from policy_app.kernel.zones import LINE_NAMES


class Conflict(Refused):
    """A change that replaces something else than what stands there."""

    code = "conflict"


@dataclass(frozen=True, slots=True)
class Set:
    """A field of the table with another value: `zones.red`, `limits.NAME`, or one of `TABLE_FIELDS`."""

    field: str
    was: Any
    now: Any


@dataclass(frozen=True, slots=True)
class RuleAdded:
    """A rule that was not there."""

    rule: Rule


@dataclass(frozen=True, slots=True)
class RuleRemoved:
    """A rule that is not there any more."""

    rule: Rule


@dataclass(frozen=True, slots=True)
class RuleChanged:
    """A rule that says something else under the same id; `fields` differ (`when.SIGNAL` for a condition)."""

    was: Rule
    now: Rule
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reordered:
    """The order of all rules afterwards, and the fewest of those that stayed which had to move for it."""

    now: tuple[str, ...]
    moved: tuple[str, ...]


type Change = Set | RuleAdded | RuleRemoved | RuleChanged | Reordered

TABLE_FIELDS = ("hit_policy", "working_windows", "remap", "arguments")


def difference(was: Table, now: Table) -> tuple[Change, ...]:
    """The changes that make `now` of `was`: lines, limits, other fields, then rules."""
    return (
        *_numbers_set("zones", LINE_NAMES, was.lines, now.lines),
        *_numbers_set("limits", LIMIT_NAMES, was.limits, now.limits),
        *_fields_set(was, now),
        *_rules_changed(was, now),
    )


def applied(table: Table, changes: Sequence[Change]) -> Table:
    """The table after the changes; raises `Conflict` where one does not fit, or the refusal of what would be."""
    for change in conflicts(table, changes):
        raise Conflict(_field_of(change), _value_of(change), "must replace what stands there")
    values = {change.field: change.now for change in changes if isinstance(change, Set)}
    lines = replace(table.lines, **_under("zones", values))
    limits = replace(table.limits, **_under("limits", values))
    others = {name: values[name] for name in TABLE_FIELDS if name in values}
    rules = tuple(_linked(rule, limits) for rule in _rules_after(table, changes))
    return replace(table, lines=lines, limits=limits, rules=rules, **others)


def conflicts(table: Table, changes: Sequence[Change]) -> tuple[Change, ...]:
    """Those changes that replace something else than what stands in the table."""
    return tuple(change for change in changes if not _fits(table, change, changes))


def _numbers_set(group: str, names: Sequence[str], was: object, now: object) -> Iterator[Set]:
    for name in names:
        old, new = getattr(was, name), getattr(now, name)
        if old != new:
            yield Set(f"{group}.{name}", old, new)


def _fields_set(was: Table, now: Table) -> Iterator[Set]:
    for name in TABLE_FIELDS:
        old, new = getattr(was, name), getattr(now, name)
        if old != new:
            yield Set(name, old, new)


def _rules_changed(was: Table, now: Table) -> Iterator[Change]:
    old, new = _by_id(was), _by_id(now)
    yield from (RuleRemoved(rule) for name, rule in old.items() if name not in new)
    yield from (RuleAdded(rule) for name, rule in new.items() if name not in old)
    for name, rule in new.items():
        if name in old and (fields := changed_fields(old[name], rule)):
            yield RuleChanged(old[name], rule, fields)
    stayed = [name for name in old if name in new]
    if [*stayed, *(name for name in new if name not in old)] != list(new):
        yield Reordered(tuple(new), _moved(stayed, [name for name in new if name in old]))


def changed_fields(was: Rule, now: Rule) -> tuple[str, ...]:
    """The fields in which two rules differ; a condition is `when.SIGNAL`."""
    old, new = _flat(was), _flat(now)
    return tuple(name for name in {**old, **new} if old.get(name) != new.get(name))


def _flat(rule: Rule) -> dict[str, object]:
    document = rule_document(rule)
    when = document.pop("when")
    conditions = when if isinstance(when, Mapping) else {}
    return {**{f"when.{signal}": condition for signal, condition in conditions.items()}, **document}


def _moved(was: Sequence[str], now: Sequence[str]) -> tuple[str, ...]:
    """The rules outside of the longest part that kept its order."""
    position = {name: index for index, name in enumerate(was)}
    tails: list[int] = []
    lengths: list[int] = []
    for name in now:
        length = bisect.bisect_left(tails, position[name])
        tails[length : length + 1] = [position[name]]
        lengths.append(length)
    wanted = len(tails) - 1
    kept: set[str] = set()
    for name, length in zip(reversed(now), reversed(lengths), strict=True):
        if length == wanted and all(position[name] < position[other] for other in kept):
            kept.add(name)
            wanted -= 1
    return tuple(name for name in now if name not in kept)


def _fits(table: Table, change: Change, changes: Sequence[Change]) -> bool:
    rules = _by_id(table)
    match change:
        case Set():
            return bool(_standing(table, change.field) == change.was)
        case RuleAdded():
            return change.rule.id not in rules
        case RuleRemoved() | RuleChanged():
            was = change.rule if isinstance(change, RuleRemoved) else change.was
            return was.id in rules and not changed_fields(was, rules[was.id])
        case Reordered():
            removed = {each.rule.id for each in changes if isinstance(each, RuleRemoved)}
            added = {each.rule.id for each in changes if isinstance(each, RuleAdded)}
            return set(change.now) == (rules.keys() - removed) | added


def _standing(table: Table, field: str) -> object:
    group, _, name = field.rpartition(".")
    owner = {"zones": table.lines, "limits": table.limits}.get(group, table)
    return getattr(owner, name)


def _under(group: str, values: Mapping[str, Any]) -> dict[str, Any]:
    begin = f"{group}."
    return {field.removeprefix(begin): now for field, now in values.items() if field.startswith(begin)}


def _rules_after(table: Table, changes: Sequence[Change]) -> list[Rule]:
    rules = _by_id(table)
    order: tuple[str, ...] = ()
    for change in changes:
        match change:
            case RuleRemoved():
                del rules[change.rule.id]
            case RuleAdded():
                rules[change.rule.id] = change.rule
            case RuleChanged():
                rules[change.now.id] = change.now
            case Reordered():
                order = change.now
            case Set():
                continue
    return [rules[name] for name in order or rules]


def _linked(rule: Rule, limits: Limits) -> Rule:
    """The rule with the numbers of these limits where its bounds refer to them."""
    return replace(rule, when=tuple(_condition_linked(condition, limits) for condition in rule.when))


def _condition_linked(condition: Condition, limits: Limits) -> Condition:
    if not isinstance(condition, InRange):
        return condition
    low, high = (_bound_linked(bound, limits) for bound in (condition.low, condition.high))
    return replace(condition, low=low, high=high)


def _bound_linked(bound: Bound | None, limits: Limits) -> Bound | None:
    return replace(bound, value=limits.number(bound.limit)) if bound is not None and bound.limit else bound


def _by_id(table: Table) -> dict[str, Rule]:
    return {rule.id: rule for rule in table.rules}


def _field_of(change: Change) -> str:
    match change:
        case Set():
            return change.field
        case RuleAdded() | RuleRemoved():
            return f"rules.{change.rule.id}"
        case RuleChanged():
            return f"rules.{change.was.id}"
        case Reordered():
            return "rules"


def _value_of(change: Change) -> object:
    return change.was if isinstance(change, Set) else _field_of(change)
