"""What clearing old tool results now would bring, from what token counting says before it is done."""

from dataclasses import dataclass

from sessions_app.kernel.breakeven import CacheRates, Choice, Clearing, clear
from sessions_app.kernel.pricing import Rates


@dataclass(frozen=True, slots=True)
class Preview:
    """Tokens that would go, and the choice in the best and the worst case; `is_exact` where both are one.

    Best: what stays stands before the cut and is read on. Worst: all of it stands behind it and is written anew.
    """

    reclaims: int
    best: Choice
    worst: Choice
    cold: Choice

    @property
    def is_exact(self) -> bool:
        """Whether it was told how much stands behind the cut."""
        return self.best == self.worst


def preview(*, before: int, after: int, suffix: int | None, hourly: bool, rates: Rates) -> Preview:
    """`before` and `after`: tokens of the prompt without and with the clearing; `suffix`: of `after`, behind the cut.

    Raises ValueError where the counts cannot be of one prompt.
    """
    if not 0 <= after <= before or (suffix is not None and not 0 <= suffix <= after):
        raise ValueError("after is at most before, and suffix at most after")
    prices = CacheRates(
        input=rates.input,
        read=rates.cache_read,
        write=rates.cache_write_1h if hourly else rates.cache_write_5m,
        output=rates.output,
    )
    behind = (0, after) if suffix is None else (suffix, suffix)
    best, worst = (clear(Clearing(after - tail, before - after, tail), prices) for tail in behind)
    return Preview(before - after, best, worst, clear(Clearing(after, before - after, 0), prices, is_warm=False))
