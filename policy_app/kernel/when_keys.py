"""The `when` of a rule in ECM files, as conditions and back.

The file knows two budget flags, the zone, the number of compactions and the share of tool results. In it a number
that is a limit is written a second time; here a bound that equals its limit follows it.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import ClassVar

from policy_app.kernel.conditions import Bound, Condition, InRange, OneOf, Only, at_least, bounds_of
from policy_app.kernel.errors import EmptyCondition, Refused, WrongType
from policy_app.kernel.fields import object_of
from policy_app.kernel.numbers import decimal_of, plain
from policy_app.kernel.signals import UNKNOWN, UNSET
from policy_app.kernel.table import LIMIT_OF_SIGNAL, Limits, Rule

WHEN_KEYS = (
    "budget_ceiling_set",
    "budget_spent_gte_ceiling",
    "zone",
    "compaction_count_lt",
    "compaction_count_gte",
    "tool_result_share_gte",
)
_RATIO = "budget_spent_ratio"
_SPENT = at_least(_RATIO, 1)
_LEFT = Bound(Decimal(1), inclusive=False)

#: (ceiling set, spent >= ceiling) -> condition; None where the file says nothing of it. What is not known to be
#: spent is not spent, and without a ceiling nothing is.
_BUDGET: Mapping[tuple[bool | None, bool | None], Condition] = {
    (True, True): _SPENT,
    (True, False): InRange(_RATIO, high=_LEFT, accepts=frozenset({UNKNOWN})),
    (True, None): InRange(_RATIO, accepts=frozenset({UNKNOWN})),
    (False, None): Only(_RATIO, frozenset({UNSET})),
    (False, False): Only(_RATIO, frozenset({UNSET})),
    (None, True): _SPENT,
    (None, False): InRange(_RATIO, high=_LEFT, accepts=frozenset({UNKNOWN, UNSET})),
}


class NotExpressible(Refused):
    """A condition for which ECM files have no words."""

    code: ClassVar[str] = "not_expressible"


def flag_of(field: str, raw: object) -> bool:
    """`true` or `false`, as a boolean or as the plain word of a file."""
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, str) and raw.lower() in ("true", "false"):
        return raw.lower() == "true"
    raise WrongType(field, raw, "must be true or false")


def conditions_of(raw: object, limits: Limits, *, field: str) -> tuple[Condition, ...]:
    """The conditions that a `when` means; an unknown key is refused, for leaving it out would widen the rule."""
    when = object_of(field, raw, WHEN_KEYS)
    made = (
        _budget_of(when, field),
        _zone_of(when, field),
        _depth_of(when, limits, field),
        _share_of(when, limits, field),
    )
    return tuple(condition for condition in made if condition is not None)


def _budget_of(when: Mapping[str, object], field: str) -> Condition | None:
    keys = ("budget_ceiling_set", "budget_spent_gte_ceiling")
    ceiling_set, spent = (flag_of(f"{field}.{key}", when[key]) if key in when else None for key in keys)
    if ceiling_set is None and spent is None:
        return None
    if (ceiling_set, spent) not in _BUDGET:
        raise EmptyCondition(f"{field}.{keys[1]}", "true", "cannot be while no ceiling is set")
    return _BUDGET[ceiling_set, spent]


def _zone_of(when: Mapping[str, object], field: str) -> Condition | None:
    if "zone" not in when:
        return None
    raw = when["zone"]
    names = [raw] if isinstance(raw, str) else raw
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise WrongType(f"{field}.zone", raw, "must be a zone or a list of zones")
    known = tuple(name for name in names if name.lower() != "unknown")
    accepts = frozenset({UNKNOWN}) if len(known) < len(names) else frozenset()
    return OneOf("zone", known, accepts) if known or not accepts else Only("zone", accepts)


def _depth_of(when: Mapping[str, object], limits: Limits, field: str) -> Condition | None:
    low = _bound(when, "compaction_count_gte", "depth", limits, field)
    high = _bound(when, "compaction_count_lt", "depth", limits, field)
    return InRange("depth", low, high) if low or high else None


def _share_of(when: Mapping[str, object], limits: Limits, field: str) -> Condition | None:
    low = _bound(when, "tool_result_share_gte", "tool_result_share", limits, field)
    return InRange("tool_result_share", low) if low else None


def _bound(when: Mapping[str, object], key: str, signal: str, limits: Limits, field: str) -> Bound | None:
    if key not in when:
        return None
    number, limit = decimal_of(f"{field}.{key}", when[key]), LIMIT_OF_SIGNAL[signal]
    return Bound(number, not key.endswith("_lt"), limit if number == limits.number(limit) else "")


def when_of(rule: Rule) -> dict[str, object]:
    """The `when` of a rule for a file; decimals as they are. Raises `NotExpressible`."""
    when: dict[str, object] = {}
    for condition in rule.when:
        written = _WRITERS.get(condition.signal, _unwritable)(condition)
        if written is None:
            raise NotExpressible(f"rules.{rule.id}.when.{condition.signal}", "it", "has no words in this format")
        when |= written
    return {key: when[key] for key in WHEN_KEYS if key in when}


def _unwritable(_condition: Condition) -> dict[str, object] | None:
    return None


def _budget_keys(condition: Condition) -> dict[str, object] | None:
    for flags, meant in _BUDGET.items():
        if meant == condition:
            pairs = zip(("budget_ceiling_set", "budget_spent_gte_ceiling"), flags, strict=True)
            return {key: flag for key, flag in pairs if flag is not None}
    return None


def _zone_keys(condition: Condition) -> dict[str, object] | None:
    names = [member.lower() for member in condition.members] if isinstance(condition, OneOf) else []
    names += ["unknown"] if UNKNOWN in condition.accepts else []
    return {"zone": names[0] if len(names) == 1 else names}


def _depth_keys(condition: Condition) -> dict[str, object] | None:
    if not isinstance(condition, InRange):
        return None
    keys: dict[str, object] = {}
    if condition.high is not None:
        keys["compaction_count_lt"] = int(condition.high.value) + condition.high.inclusive
    if condition.low is not None:
        keys["compaction_count_gte"] = int(condition.low.value) + (not condition.low.inclusive)
    return keys


def _share_keys(condition: Condition) -> dict[str, object] | None:
    if not isinstance(condition, InRange) or condition.accepts or condition.high is not None or condition.low is None:
        return None
    return {"tool_result_share_gte": condition.low.value} if condition.low.inclusive else None


_WRITERS: Mapping[str, Callable[[Condition], dict[str, object] | None]] = {
    _RATIO: _budget_keys,
    "zone": _zone_keys,
    "depth": _depth_keys,
    "tool_result_share": _share_keys,
}


def second_numbers(rule: Rule, limits: Limits) -> tuple[str, ...]:
    """In words: where a rule's number should be a limit's, and is another."""
    bounds = [
        (LIMIT_OF_SIGNAL[condition.signal], bound)
        for condition in rule.when
        if condition.signal in LIMIT_OF_SIGNAL
        for bound in bounds_of(condition)
    ]
    return tuple(
        f"{rule.id} says {plain(bound.value)} where {name} says {plain(limits.number(name))}: one number in two "
        "places. The rule keeps its own."
        for name, bound in bounds
        if not bound.limit
    )
