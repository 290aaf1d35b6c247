"""What a working window ties together: tokens, and the share of a window of at most so many tokens that they are.

Where a table works with 200,000 tokens for a model, 150,000 tokens of context are never GREEN: the window that
counts is a whole number of tokens up to the working window, and the share is tokens / window.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from policy_app.kernel.cells import Span

#: The signals of which one says something about the others once the model has a working window.
TIED = frozenset({"zone", "utilization", "context_tokens", "model"})


@dataclass(frozen=True, slots=True)
class Reading:
    """Tokens, and the window that they are a share of."""

    tokens: int
    window: int

    @property
    def share(self) -> Fraction:
        """Tokens / window."""
        return Fraction(self.tokens, self.window)


def is_tied(tested: frozenset[str] | set[str]) -> bool:
    """Whether rules that test these signals can contradict a working window."""
    return {"model", "context_tokens"} <= tested and bool({"zone", "utilization"} & tested)


def reading_in(tokens: Span, share: Span, working: int) -> Reading | None:
    """A reading whose tokens and share lie in the spans, with a window of 1 to `working`; None where there is none.

    Exact: there is a reading if and only if one is returned. `tokens` is a span of whole numbers.
    """
    low = int(tokens.low[0])
    high = None if tokens.high is None else int(tokens.high[0]) - 1
    for point in _ends_inside(share):
        found = _at(point, low, high, working)
        if found is not None:
            return found
    if share.high is None:
        return _above(share.low[0], max(low, 1), high, working)
    return _between(share.low[0], share.high[0], max(low, 1), high, working)


def _ends_inside(share: Span) -> list[Fraction]:
    low = [share.low[0]] if share.low[1] == 0 else []
    return low + ([share.high[0]] if share.high is not None and share.high[1] == 1 else [])


def _at(share: Fraction, low: int, high: int | None, working: int) -> Reading | None:
    """Tokens and window are the same multiple of the share's numerator and denominator."""
    if share == 0:
        return Reading(0, working) if low == 0 else None
    times = max(1, -(-low // share.numerator))
    tokens, window = times * share.numerator, times * share.denominator
    return Reading(tokens, window) if window <= working and _up_to(tokens, high) else None


def _above(share: Fraction, low: int, high: int | None, working: int) -> Reading | None:
    for window in (working, 1):
        tokens = max(low, floor(share * window) + 1)
        if _up_to(tokens, high):
            return Reading(tokens, window)
    return None


def _between(above: Fraction, below: Fraction, low: int, high: int | None, working: int) -> Reading | None:
    """Strictly between the two shares: by the least or the most tokens, else by a window between theirs."""
    if above >= below or not _up_to(low, high):
        return None
    for tokens in (low, max(low, floor(above * working) + 1), high):
        if tokens is None or not _up_to(tokens, high):
            continue
        for window in (working, floor(tokens / below) + 1):
            if window <= working and above < Fraction(tokens, window) < below:
                return Reading(tokens, window)
    if above == 0:
        return None
    first = ceil(low / above)
    last = working if high is None else min(working, floor(high / below))
    return _with_window(above, below, first, last)


def _with_window(above: Fraction, below: Fraction, first: int, last: int) -> Reading | None:
    """The first window from `first` to `last` that has a whole number of tokens strictly between its two shares."""
    if first > last or not _count(above, below, first, last):
        return None
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if _count(above, below, first, middle):
            high = middle
        else:
            low = middle + 1
    return Reading(floor(above * low) + 1, low)


def _count(above: Fraction, below: Fraction, first: int, last: int) -> int:
    """How many pairs of a window and tokens strictly between the two shares of it there are."""
    windows = last - first + 1
    up_to_below = _floor_sum(windows, below.denominator, below.numerator, below.numerator * first - 1)
    up_to_above = _floor_sum(windows, above.denominator, above.numerator, above.numerator * first)
    return up_to_below - up_to_above


def _floor_sum(count: int, divisor: int, slope: int, start: int) -> int:
    """The sum of floor((slope * i + start) / divisor) for i from 0 to count - 1, as by Euclid's algorithm."""
    total = 0
    while count > 0:
        steps, slope = divmod(slope, divisor)
        whole, start = divmod(start, divisor)
        total += steps * count * (count - 1) // 2 + whole * count
        top = slope * count + start
        if top < divisor:
            break
        count, start = divmod(top, divisor)
        divisor, slope = slope, divisor
    return total


def _up_to(tokens: int, high: int | None) -> bool:
    return high is None or tokens <= high
