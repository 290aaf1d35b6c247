"""What a call costs at list price: dated rows, exact decimals, and "unpriced" as a state of its own.

Prices are USD per million tokens. The row in force at the call's start is taken; the boundary instant
belongs to the new row. A prompt strictly above the row's limit puts the whole request into the upper
tier (that is how providers bill; the limit is tested on all prompt tokens, cached ones included).
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sessions_app.kernel import hours, names
from sessions_app.kernel.charges import Charge
from sessions_app.kernel.facts import Leaves
from sessions_app.kernel.money import EXACT

PER_MILLION = -6


@dataclass(frozen=True, slots=True)
class Rates:
    """USD per million tokens of each leaf."""

    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write_5m: Decimal
    cache_write_1h: Decimal


@dataclass(frozen=True, slots=True)
class Price:
    """One dated row. A price of None means no such charge class: the input price holds."""

    model: str
    valid_from: datetime
    input: Decimal
    output: Decimal
    provider: str = ""
    valid_to: datetime | None = None
    cache_read: Decimal | None = None
    cache_write_5m: Decimal | None = None
    cache_write_1h: Decimal | None = None
    above_tokens: int | None = None
    above_input: Decimal | None = None
    above_output: Decimal | None = None
    above_cache_read: Decimal | None = None
    above_cache_write_5m: Decimal | None = None
    above_cache_write_1h: Decimal | None = None
    fast_multiplier: Decimal | None = None
    web_search_usd: Decimal | None = None
    window: int | None = None
    #: The smallest prompt that is cached at all, in tokens; None where it is not known.
    min_prefix: int | None = None
    #: Hours of the week at which it holds instead of the row without hours (kernel/hours.py); empty: at all hours.
    hours: str = ""
    id: int | None = None

    def rates(self, prompt_tokens: int) -> Rates:
        """The rates of a request whose whole prompt has `prompt_tokens` tokens."""
        base = self._base()
        if self.above_tokens is None or prompt_tokens <= self.above_tokens:
            return base
        above_input = _first(self.above_input, base.input)
        return Rates(
            input=above_input,
            output=_first(self.above_output, base.output),
            cache_read=_first(self.above_cache_read, self.cache_read, above_input),
            cache_write_5m=_first(self.above_cache_write_5m, self.cache_write_5m, above_input),
            cache_write_1h=_first(self.above_cache_write_1h, self.cache_write_1h, above_input),
        )

    def _base(self) -> Rates:
        return Rates(
            input=self.input,
            output=self.output,
            cache_read=_first(self.cache_read, self.input),
            cache_write_5m=_first(self.cache_write_5m, self.input),
            cache_write_1h=_first(self.cache_write_1h, self.input),
        )


def _first(*values: Decimal | None) -> Decimal:
    return next(value for value in values if value is not None)


def cost(leaves: Leaves, price: Price, *, fast: bool = False, web_searches: int = 0) -> Decimal | None:
    """The exact cost in USD; None when the row lacks the fast multiplier or the search fee that applies."""
    rates = price.rates(leaves.prompt)
    parts = (
        (leaves.uncached_input, rates.input),
        (leaves.cache_read, rates.cache_read),
        (leaves.cache_write_5m, rates.cache_write_5m),
        (leaves.cache_write_1h, rates.cache_write_1h),
        (leaves.output, rates.output),
    )
    return _total(parts, price, fast, web_searches)


def no_cache_cost(leaves: Leaves, price: Price, *, fast: bool = False, web_searches: int = 0) -> Decimal | None:
    """The cost if every prompt token had been sent uncached, in the same tier."""
    rates = price.rates(leaves.prompt)
    return _total(((leaves.prompt, rates.input), (leaves.output, rates.output)), price, fast, web_searches)


def _total(parts: Iterable[tuple[int, Decimal]], price: Price, fast: bool, web_searches: int) -> Decimal | None:
    if (fast and price.fast_multiplier is None) or (web_searches and price.web_search_usd is None):
        return None
    total = Decimal()
    for tokens, rate in parts:
        total = EXACT.fma(Decimal(tokens), rate, total)
    total = EXACT.scaleb(total, PER_MILLION)
    if fast and price.fast_multiplier is not None:
        total = EXACT.multiply(total, price.fast_multiplier)
    if web_searches and price.web_search_usd is not None:
        total = EXACT.fma(Decimal(web_searches), price.web_search_usd, total)
    return total


class PriceBook:
    """Rows by normalised model and instant; the fold's `Prices`.

    Rows are only ever added: of the rows that have begun, the latest counts (ties by the larger id).
    """

    def __init__(self, prices: Iterable[Price]) -> None:
        rows: dict[str, list[Price]] = defaultdict(list)
        for price in prices:
            rows[price.model].append(price)
        self._rows = {
            model: sorted(group, key=lambda p: (p.valid_from, p.id or 0, p.provider)) for model, group in rows.items()
        }
        self._by_id = {p.id: p for group in self._rows.values() for p in group}
        self._plain = {model: [p for p in group if not p.hours] for model, group in self._rows.items()}
        self._timed = {model: [p for p in group if p.hours] for model, group in self._rows.items()}
        self._starts = {model: [p.valid_from for p in group] for model, group in self._plain.items()}

    def __len__(self) -> int:
        return sum(map(len, self._rows.values()))

    def price(self, model: str, at: datetime, ended: datetime | None = None) -> Price | None:
        """The row in force at `at`; None when the model is unpriced then.

        Where the hour decides, it is the one at which the call ended (DeepSeek: by completion time).
        """
        for name in names.spellings(model):
            if name in self._rows:
                return self._at_the_hour(name, ended or at) or self._in_force(name, at)
        return None

    def _at_the_hour(self, name: str, at: datetime) -> Price | None:
        begun = (p for p in reversed(self._timed[name]) if p.valid_from <= at and (not p.valid_to or at < p.valid_to))
        return next((price for price in begun if hours.parsed(price.hours).hold(at)), None)

    def row(self, row_id: int | None) -> Price | None:
        """The row of this id."""
        return self._by_id.get(row_id) if row_id is not None else None

    def _in_force(self, name: str, at: datetime) -> Price | None:
        begun = bisect_right(self._starts[name], at)
        if not begun:
            return None
        price = self._plain[name][begun - 1]
        return None if price.valid_to is not None and at >= price.valid_to else price

    def window(self, model: str) -> int | None:
        """The window the model is known for, in tokens; a mark in the name selects the large one."""
        if names.has_window_mark(model):
            return names.MARKED_WINDOW
        for name in names.spellings(model):
            for price in reversed(self._rows.get(name, ())):
                if price.window is not None:
                    return price.window
        return None

    def charge(
        self,
        model: str,
        at: datetime,
        leaves: Leaves,
        *,
        ended: datetime | None = None,
        fast: bool = False,
        web_searches: int = 0,
    ) -> Charge | None:
        """Cost and uncached cost of one call with the id of the row; None when unpriced."""
        price = self.price(model, at, ended)
        if price is None:
            return None
        paid = cost(leaves, price, fast=fast, web_searches=web_searches)
        uncached = no_cache_cost(leaves, price, fast=fast, web_searches=web_searches)
        if paid is None or uncached is None:
            return None
        return Charge(paid, uncached, price.id)
