"""An axis of the analysis: the values of one signal, cut into the cells that no condition tells apart.

Every condition on the signal is then a set of cells, held as the bits of an integer; each cell has a value that
stands for it. Specials are cells of their own. Nothing is sampled: between two cuts all values are alike.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from policy_app.kernel.conditions import Bound, Condition, InRange, OneOf, Only
from policy_app.kernel.names import ModelPattern
from policy_app.kernel.numbers import exact
from policy_app.kernel.signals import UNSET, Kind, Signal, Special, Value, signal_of

#: A place between values: (number, 0) lies just below the number, (number, 1) just above it.
type Cut = tuple[Fraction, int]


@dataclass(frozen=True, slots=True)
class Span:
    """The numbers between two cuts; `high` None has no end."""

    low: Cut
    high: Cut | None


@dataclass(frozen=True, slots=True)
class Axis:
    """One signal's cells: `spans` for a number or `values` for anything else, then its specials, low bits first.

    `starts` finds the span that begins at a cut.
    """

    signal: Signal
    spans: tuple[Span, ...]
    values: tuple[Value, ...]
    starts: Mapping[Cut, int]

    @property
    def size(self) -> int:
        """How many cells it has."""
        return len(self.spans or self.values) + len(self.signal.specials)

    @property
    def full(self) -> int:
        """All cells."""
        return (1 << self.size) - 1

    def cells_of(self, condition: Condition) -> int:
        """The cells that the condition takes."""
        first_special = len(self.spans or self.values)
        mask = 0
        for index, special in enumerate(self.signal.specials):
            if special in condition.accepts:
                mask |= 1 << (first_special + index)
        if isinstance(condition, InRange):
            return mask | self._cells_between(condition)
        if isinstance(condition, Only):
            return mask
        for index, value in enumerate(self.values):
            if condition.matches(value):
                mask |= 1 << index
        return mask

    def _cells_between(self, condition: InRange) -> int:
        first = self.starts[_low_cut(condition.low, self.signal)]
        end = len(self.spans)
        if condition.high is not None:
            end = self.starts.get(_high_cut(condition.high, self.signal), end)
        return (1 << end) - (1 << first)

    def value_in(self, mask: int) -> Value:
        """A value of the lowest cell of `mask`; known values come first, but *unset* where that is the usual one."""
        if self.signal.absent is UNSET and UNSET in self.specials_in(mask):
            return UNSET
        index = (mask & -mask).bit_length() - 1
        numbers = len(self.spans or self.values)
        if index >= numbers:
            return self.signal.specials[index - numbers]
        if self.spans:
            return _number_in(self.spans[index], self.signal)
        return self.values[index]

    def span_in(self, mask: int) -> Span | None:
        """The lowest span among the cells; None where a name or a special value comes first."""
        index = (mask & -mask).bit_length() - 1
        return self.spans[index] if index < len(self.spans) else None

    def specials_in(self, mask: int) -> frozenset[Special]:
        """The special values among the cells."""
        first = len(self.spans or self.values)
        return frozenset(each for index, each in enumerate(self.signal.specials) if mask >> (first + index) & 1)

    def runs_in(self, mask: int) -> Iterator[Span]:
        """The numbers among the cells, neighbours joined."""
        inside = ((mask >> index) & 1 for index in range(len(self.spans)))
        for taken, run in itertools.groupby(zip(inside, self.spans, strict=True), key=lambda pair: pair[0]):
            spans = [span for _, span in run]
            if taken:
                yield Span(spans[0].low, spans[-1].high)

    def names_in(self, mask: int) -> tuple[Value, ...]:
        """The values among the cells of an axis without numbers."""
        return tuple(value for index, value in enumerate(self.values) if mask >> index & 1)


def axis_of(name: str, conditions: Iterable[Condition]) -> Axis:
    """The axis of a signal, cut where these conditions (all on it) need it."""
    signal = signal_of(name)
    own = [condition for condition in conditions if condition.signal == name]
    if signal.is_number:
        spans = _spans(signal, own)
        return Axis(signal, spans, (), {span.low: index for index, span in enumerate(spans)})
    if signal.kind is Kind.NAME:
        return Axis(signal, (), _names(own), {})
    return Axis(signal, (), (False, True) if signal.kind is Kind.FLAG else tuple(signal.options), {})


def is_inclusive_from(span: Span) -> bool:
    """Whether the number below which the span begins belongs to it."""
    return span.low[1] == 0


def is_inclusive_to(span: Span) -> bool:
    """Whether the number at which the span ends belongs to it; False for no end."""
    return span.high is not None and span.high[1] == 1


def _spans(signal: Signal, conditions: Sequence[Condition]) -> tuple[Span, ...]:
    cuts: set[Cut] = {(Fraction(0), 0)}
    for condition in conditions:
        if isinstance(condition, InRange):
            if condition.low is not None:
                cuts.add(_low_cut(condition.low, signal))
            if condition.high is not None:
                cuts.add(_high_cut(condition.high, signal))
    end = None if signal.high is None else _cut(Fraction(signal.high), 1, signal)
    ordered = sorted(cut for cut in cuts if end is None or cut < end)
    return tuple(Span(low, high) for low, high in itertools.pairwise([*ordered, end]) if low is not None)


def _low_cut(bound: Bound | None, signal: Signal) -> Cut:
    if bound is None:
        return Fraction(0), 0
    return _cut(exact(bound.value), 0 if bound.inclusive else 1, signal)


def _high_cut(bound: Bound, signal: Signal) -> Cut:
    return _cut(exact(bound.value), 1 if bound.inclusive else 0, signal)


def _cut(number: Fraction, side: int, signal: Signal) -> Cut:
    """Between whole numbers there is nothing: just above 2 is just below 3."""
    return (number + 1, 0) if signal.kind is Kind.WHOLE and side else (number, side)


def _number_in(span: Span, signal: Signal) -> Value:
    low, side = span.low
    if signal.kind is Kind.WHOLE:
        return int(low)
    if side == 0:
        return low
    return low + 1 if span.high is None else _between(low, span.high[0])


def _between(low: Fraction, high: Fraction) -> Fraction:
    """The number of fewest decimal places strictly between the two."""
    for places in itertools.count():
        scaled = Fraction(int(low * 10**places) + 1, 10**places)
        if scaled < high:
            return scaled
    raise AssertionError


def _names(conditions: Sequence[Condition]) -> tuple[Value, ...]:
    """One name for each class of names that no pattern tells apart."""
    members = {member for condition in conditions if isinstance(condition, OneOf) for member in condition.members}
    patterns = [ModelPattern(member) for member in sorted(members)]
    exact_names: list[Value] = [pattern.text for pattern in patterns if not pattern.is_prefix]
    stems = sorted({"", *(pattern.stem for pattern in patterns if pattern.is_prefix)})
    return (*exact_names, *(_name_under(stem, patterns) for stem in stems))


def _name_under(stem: str, patterns: Sequence[ModelPattern]) -> str:
    """A name that begins with `stem` and meets only the patterns that every such name meets."""
    for length in itertools.count(1):
        for letters in itertools.product("xyzabcdefghijklmnopqrstuvw0123456789", repeat=length):
            name = stem + "".join(letters)
            if all(pattern.matches(stem + "*") for pattern in patterns if pattern.matches(name)):
                return name
    raise AssertionError
