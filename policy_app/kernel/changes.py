"""Changes between two tables as sentences, one change each."""

from collections.abc import Iterable, Iterator
from decimal import Decimal

from policy_app.kernel.diff import Change, Reordered, RuleAdded, RuleChanged, RuleRemoved, Set
from policy_app.kernel.numbers import plain
from policy_app.kernel.sentences import (
    OPERATION_WORDS,
    condition_words,
    listed,
    parameters_words,
    rule_sentence,
)
from policy_app.kernel.table import Rule, Table
from policy_app.kernel.zones import WorkingWindow

_LABELS = {
    "hit_policy": "Hit policy",
    "working_windows": "Working windows",
    "remap": "What a subagent does instead",
    "arguments": "Arguments for numbers",
}


def change_sentence(change: Change) -> str:
    """The change in words, as in `RED from 75% to 65%.`"""
    match change:
        case Set():
            return _set_sentence(change)
        case RuleAdded():
            return f"{change.rule.id} is new: {rule_sentence(change.rule)}"
        case RuleRemoved():
            return f"{change.rule.id} is gone: {rule_sentence(change.rule)}"
        case RuleChanged():
            return f"{change.now.id}: {'; '.join(_rule_parts(change))}."
        case Reordered():
            if not change.moved:
                return f"The order of the rules is {', '.join(change.now)}."
            return f"{listed(change.moved, 'and')} moved; the order is {', '.join(change.now)}."


def touched_rules(was: Table, now: Table, changes: Iterable[Change]) -> tuple[str, ...]:
    """Rules of `now` that another line or limit, or a change of their own, touches; in order."""
    given = list(changes)
    zones = {zone for change in given if isinstance(change, Set) for zone in _zones_beside(change.field)}
    limits = {change.field.removeprefix("limits.") for change in given if isinstance(change, Set)}
    changed = {change.now.id for change in given if isinstance(change, RuleChanged)}
    changed |= {change.rule.id for change in given if isinstance(change, RuleAdded)}
    before = {rule.id for rule in was.rules}
    return tuple(
        rule.id
        for rule in now.rules
        if rule.id in changed or rule.id not in before or _looks_at(rule, zones) or _refers_to(rule, limits)
    )


def _zones_beside(field: str) -> tuple[str, ...]:
    return {
        "zones.amber": ("GREEN", "AMBER"),
        "zones.red": ("AMBER", "RED"),
        "zones.critical": ("RED", "CRITICAL"),
    }.get(field, ())


def _looks_at(rule: Rule, zones: set[str]) -> bool:
    condition = rule.on("zone")
    return bool(zones.intersection(getattr(condition, "members", ())))


def _refers_to(rule: Rule, limits: set[str]) -> bool:
    ends = [end for each in rule.when for end in (getattr(each, "low", None), getattr(each, "high", None))]
    return any(end is not None and end.limit in limits for end in ends if end)


def _set_sentence(change: Set) -> str:
    group, _, name = change.field.rpartition(".")
    if group == "zones":
        return f"{name.upper()} from {_percent(change.was)} to {_percent(change.now)}."
    if group == "limits":
        return f"Limit {name} from {plain(change.was)} to {plain(change.now)}."
    if change.field == "hit_policy":
        return f"Hit policy from {change.was} to {change.now}."
    if change.field == "working_windows":
        return f"Working windows from {_windows(change.was)} to {_windows(change.now)}."
    return f"{_LABELS[change.field]} changed."


def _percent(share: Decimal) -> str:
    return f"{plain(share * 100)}%"


def _windows(windows: tuple[WorkingWindow, ...]) -> str:
    return ", ".join(f"{each.pattern.text} {each.tokens:,}" for each in windows) or "none"


def _rule_parts(change: RuleChanged) -> Iterator[str]:
    was, now = change.was, change.now
    for field in change.fields:
        if field.startswith("when."):
            yield _condition_part(was, now, field.removeprefix("when."))
        elif field == "operation":
            yield f"{OPERATION_WORDS[was.operation]} becomes {OPERATION_WORDS[now.operation]}"
        elif field == "parameters":
            yield f"{parameters_words(was.takes) or 'nothing'} becomes {parameters_words(now.takes) or 'nothing'}"
        elif field == "enabled":
            yield "switched on" if now.enabled else "switched off"
        elif field == "evidence":
            yield f"evidence {listed(was.evidence, 'and') or 'none'} becomes {listed(now.evidence, 'and') or 'none'}"
        else:
            yield f"another {field}"


def _condition_part(was: Rule, now: Rule, signal: str) -> str:
    old, new = was.on(signal), now.on(signal)
    if old is None:
        return f"only where {condition_words(new)}" if new else ""
    return (
        f"{condition_words(old)} becomes {condition_words(new)}"
        if new
        else f"no longer only where {condition_words(old)}"
    )
