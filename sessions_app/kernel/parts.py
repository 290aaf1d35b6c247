"""The bill of one call in four parts, each by a formula of its own; their sum is the cost, exactly.

    needed       the price of the same prompt, had nothing been lost
    lost         what was sent again, token by token: (paid rate - rate without the loss)
    saved        what the cache saved against sending everything uncached

The extra belongs to one part: expected rebuild, avoidable, or not explained (see `causes`). Saved stands
beside the parts and is never added to them: it contains the misses already.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from sessions_app.kernel.facts import Leaves
from sessions_app.kernel.money import EXACT
from sessions_app.kernel.pricing import PER_MILLION, Price, Rates, cost

ONE = Decimal(1)
WRITES = ("cache_write_5m", "cache_write_1h")


@dataclass(frozen=True, slots=True)
class Shift:
    """Tokens that were billed as one leaf and would have been another without the loss."""

    paid_as: str
    instead: str
    tokens: int


def read_instead(leaves: Leaves, tokens: int) -> tuple[Shift, ...]:
    """`tokens` that should have been read: they came back as writes first, the larger class before the other."""
    shifts: list[Shift] = []
    rest = tokens
    for name in (*sorted(WRITES, key=lambda name: -getattr(leaves, name)), "uncached_input"):
        taken = min(rest, getattr(leaves, name))
        rest -= taken
        if taken:
            shifts.append(Shift(name, "cache_read", taken))
    return tuple(shifts)


def cached_instead(leaves: Leaves, read: int) -> tuple[Shift, ...]:
    """An uncached prompt as a working cache would have billed it: `read` tokens read, the rest written."""
    read = min(read, leaves.uncached_input)
    written = leaves.uncached_input - read
    shifts = (
        Shift("uncached_input", "cache_read", read),
        Shift("uncached_input", "cache_write_5m", written),
    )
    return tuple(shift for shift in shifts if shift.tokens)


def shifted(leaves: Leaves, shifts: Sequence[Shift]) -> Leaves:
    """The leaves without the loss; the prompt stays as large as it was."""
    moved = {name: getattr(leaves, name) for name in ("uncached_input", "cache_read", *WRITES)}
    for shift in shifts:
        moved[shift.paid_as] -= shift.tokens
        moved[shift.instead] += shift.tokens
    unknown = min(leaves.cache_write_unknown_ttl, moved["cache_write_5m"])
    return replace(leaves, **moved, cache_write_unknown_ttl=unknown)


def as_read(leaves: Leaves, tokens: int) -> Leaves:
    """The same prompt with `tokens` read from the cache."""
    return shifted(leaves, read_instead(leaves, tokens))


def needed(
    leaves: Leaves, shifts: Sequence[Shift], price: Price, *, fast: bool = False, web_searches: int = 0
) -> Decimal | None:
    """What the call would have cost without the loss; None where the call itself has no price."""
    return cost(shifted(leaves, shifts), price, fast=fast, web_searches=web_searches)


def lost(leaves: Leaves, shifts: Sequence[Shift], price: Price, *, fast: bool = False) -> Decimal | None:
    """What the loss cost above that, from the rates alone; None where fast mode has no price."""
    if fast and price.fast_multiplier is None:
        return None
    rates = price.rates(leaves.prompt)
    total = Decimal()
    for shift in shifts:
        difference = EXACT.subtract(_rate(rates, shift.paid_as), _rate(rates, shift.instead))
        total = EXACT.fma(Decimal(shift.tokens), difference, total)
    return EXACT.multiply(EXACT.scaleb(total, PER_MILLION), _factor(price, fast))


def saved(leaves: Leaves, price: Price, *, fast: bool = False) -> Decimal | None:
    """Savings against no cache: (1-r)R - (w5-1)W5 - (w1-1)W1 in input prices; may be negative."""
    if fast and price.fast_multiplier is None:
        return None
    rates = price.rates(leaves.prompt)
    total = Decimal()
    for name in ("cache_read", *WRITES):
        difference = EXACT.subtract(rates.input, _rate(rates, name))
        total = EXACT.fma(Decimal(getattr(leaves, name)), difference, total)
    return EXACT.multiply(EXACT.scaleb(total, PER_MILLION), _factor(price, fast))


def _factor(price: Price, fast: bool) -> Decimal:
    return price.fast_multiplier if fast and price.fast_multiplier is not None else ONE


def _rate(rates: Rates, leaf: str) -> Decimal:
    match leaf:
        case "uncached_input":
            return rates.input
        case "cache_read":
            return rates.cache_read
        case "cache_write_5m":
            return rates.cache_write_5m
    return rates.cache_write_1h
