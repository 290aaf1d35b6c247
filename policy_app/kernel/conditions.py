"""Typed conditions on one signal: a range, a set, a flag, or only the special values.

A condition never takes *unknown* or *unset* unless it says so. Bounds are decimals or integers and are compared
as fractions; whether an end belongs to the range is part of the bound.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from policy_app.kernel.errors import Duplicate, EmptyCondition, OutOfRange, WrongType
from policy_app.kernel.names import ModelPattern, twice
from policy_app.kernel.numbers import decimal_of, exact
from policy_app.kernel.signals import Kind, Signal, Special, Value, signal_of

#: Members that one set may name.
MOST_MEMBERS = 50


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a range. `limit` names the table's limit that the number comes from, else it is empty."""

    value: Decimal
    inclusive: bool = True
    limit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", decimal_of("bound", self.value))


@dataclass(frozen=True, slots=True)
class InRange:
    """A number between two ends; None is open. `accepts` are the special values that it takes as well."""

    signal: str
    low: Bound | None = None
    high: Bound | None = None
    accepts: frozenset[Special] = frozenset()

    def __post_init__(self) -> None:
        signal = _rule_signal(self.signal, Kind.SHARE, Kind.WHOLE)
        _accepted(signal, self.accepts)
        for bound in bounds_of(self):
            _within(signal, bound)
        self._open_at_the_ends(signal)
        if not self._holds_any(signal):
            raise EmptyCondition(self.signal, self.spoken(), "must be met by some number")

    def _open_at_the_ends(self, signal: Signal) -> None:
        """One spelling for "from the least value on" and "up to the greatest": no bound."""
        low, high = self.low, self.high
        if low is not None and low.inclusive and not low.limit and low.value == 0:
            object.__setattr__(self, "low", None)
        if high is not None and high.inclusive and not high.limit and high.value == signal.high:
            object.__setattr__(self, "high", None)

    def _holds_any(self, signal: Signal) -> bool:
        low, high = self.low, self.high
        if high is None and signal.high is not None:
            high = Bound(Decimal(signal.high))
        if high is None:
            return True
        if low is None:
            return high.inclusive or high.value > 0
        if signal.kind is Kind.WHOLE:
            return low.value + (not low.inclusive) <= high.value - (not high.inclusive)
        return low.value < high.value or (low.value == high.value and low.inclusive and high.inclusive)

    def matches(self, value: Value) -> bool:
        """Whether the value lies in the range, or is an accepted special."""
        if isinstance(value, Special):
            return value in self.accepts
        if not isinstance(value, int | Fraction):
            return False
        return _above(value, self.low) and _below(value, self.high)

    def spoken(self) -> str:
        """The range in the notation of intervals, as in `[0.5, 0.75)`."""
        low = "[0" if self.low is None else f"{'[' if self.low.inclusive else '('}{self.low.value}"
        high = "∞)" if self.high is None else f"{self.high.value}{']' if self.high.inclusive else ')'}"
        return f"{low}, {high}"


@dataclass(frozen=True, slots=True)
class OneOf:
    """A name out of a set; for models each member may end in a star."""

    signal: str
    members: tuple[str, ...]
    accepts: frozenset[Special] = frozenset()

    def __post_init__(self) -> None:
        signal = _rule_signal(self.signal, Kind.CHOICE, Kind.NAME)
        _accepted(signal, self.accepts)
        if not self.members:
            raise EmptyCondition(self.signal, (), "must name at least one value")
        if len(self.members) > MOST_MEMBERS:
            raise OutOfRange(self.signal, len(self.members), f"must name at most {MOST_MEMBERS} values")
        cleaned = _members(signal, self.members)
        repeated = twice(cleaned)
        if repeated is not None:
            raise Duplicate(self.signal, repeated, "must name each value once")
        object.__setattr__(self, "members", cleaned)

    def matches(self, value: Value) -> bool:
        """Whether the value is a member, or an accepted special."""
        if isinstance(value, Special):
            return value in self.accepts
        if self.signal == "model" and isinstance(value, str):
            return any(ModelPattern(member).matches(value) for member in self.members)
        return value in self.members


@dataclass(frozen=True, slots=True)
class Is:
    """A flag that must be true, or must be false."""

    signal: str
    value: bool
    accepts: frozenset[Special] = frozenset()

    def __post_init__(self) -> None:
        _accepted(_rule_signal(self.signal, Kind.FLAG), self.accepts)
        if not isinstance(self.value, bool):
            raise WrongType(self.signal, self.value, "must be true or false")

    def matches(self, value: Value) -> bool:
        """Whether the flag stands as wanted, or is an accepted special."""
        return value in self.accepts if isinstance(value, Special) else value is self.value


@dataclass(frozen=True, slots=True)
class Only:
    """No value at all: unknown, unset, or either."""

    signal: str
    accepts: frozenset[Special]

    def __post_init__(self) -> None:
        _accepted(_rule_signal(self.signal, *Kind), self.accepts)
        if not self.accepts:
            raise EmptyCondition(self.signal, (), "must take unknown or unset")

    def matches(self, value: Value) -> bool:
        """Whether the value is one of the special ones."""
        return isinstance(value, Special) and value in self.accepts


type Condition = InRange | OneOf | Is | Only


def at_least(signal: str, value: int | str | Decimal, *, limit: str = "") -> InRange:
    """The range from `value` on, it included."""
    return InRange(signal, low=Bound(decimal_of(signal, value), limit=limit))


def below(signal: str, value: int | str | Decimal, *, limit: str = "") -> InRange:
    """The range up to `value`, it excluded."""
    return InRange(signal, high=Bound(decimal_of(signal, value), inclusive=False, limit=limit))


def bounds_of(condition: Condition) -> tuple[Bound, ...]:
    """The ends of a range that are not open; nothing for other conditions."""
    if not isinstance(condition, InRange):
        return ()
    return tuple(bound for bound in (condition.low, condition.high) if bound is not None)


def _rule_signal(name: str, *kinds: Kind) -> Signal:
    signal = signal_of(name)
    if not signal.in_rules:
        raise WrongType(name, name, "is an input, not a signal that rules test")
    if signal.kind not in kinds:
        raise WrongType(name, " or ".join(kinds), f"needs a condition for a {signal.kind}")
    return signal


def _accepted(signal: Signal, accepts: Iterable[Special]) -> None:
    for special in accepts:
        if special not in signal.specials:
            raise OutOfRange(signal.name, special.value, f"is never {special.value}")


def _within(signal: Signal, bound: Bound) -> None:
    if bound.value < 0 or (signal.high is not None and bound.value > signal.high):
        span = "must not be negative" if signal.high is None else f"must be from 0 to {signal.high}"
        raise OutOfRange(signal.name, str(bound.value), span)
    if signal.kind is Kind.WHOLE and bound.value != bound.value.to_integral_value():
        raise WrongType(signal.name, str(bound.value), "must be a whole number")


def _members(signal: Signal, members: Iterable[str]) -> tuple[str, ...]:
    if signal.kind is Kind.NAME:
        return tuple(sorted(ModelPattern(member).text for member in members))
    taken = [str(signal.take(member)) for member in members]
    if any(member not in signal.options for member in taken):
        raise WrongType(signal.name, members, "takes unknown and unset apart from its members")
    return tuple(sorted(taken, key=signal.options.index))


def _above(value: int | Fraction, low: Bound | None) -> bool:
    if low is None:
        return True
    end = exact(low.value)
    return value > end or (low.inclusive and value == end)


def _below(value: int | Fraction, high: Bound | None) -> bool:
    if high is None:
        return True
    end = exact(high.value)
    return value < end or (high.inclusive and value == end)
