"""A share of counts with the interval in which it may lie (Wilson, 95%)."""

from dataclasses import dataclass
from math import ceil, sqrt

#: The normal quantile of 95% in the middle.
Z = 1.959964


@dataclass(frozen=True, slots=True)
class Share:
    """`part` of `whole`, and both ends in thousandths; ends are None where nothing was counted."""

    part: int
    whole: int
    low_permille: int | None
    high_permille: int | None

    @property
    def permille(self) -> int | None:
        """The share itself, cut towards zero."""
        return self.part * 1000 // self.whole if self.whole else None


def share(part: int, whole: int) -> Share:
    """The share of `part` in `whole`; 0 <= part <= whole."""
    if not whole:
        return Share(part, whole, None, None)
    rate, square = part / whole, Z * Z
    middle = (rate + square / (2 * whole)) / (1 + square / whole)
    half = Z * sqrt(rate * (1 - rate) / whole + square / (4 * whole * whole)) / (1 + square / whole)
    return Share(part, whole, max(0, int((middle - half) * 1000)), min(1000, ceil((middle + half) * 1000)))
