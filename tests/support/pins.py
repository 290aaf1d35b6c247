"""Prices that tests pin; nobody's price list, so that no figure changes with a package."""

from datetime import UTC, datetime
from decimal import Decimal

from sessions_app.kernel.pricing import Price, PriceBook

ALWAYS = datetime(1970, 1, 1, tzinfo=UTC)
CHANGE = datetime(2026, 11, 10, tzinfo=UTC)
SEARCH = Decimal("0.01")


def _usd(text: str) -> Decimal | None:
    return None if text == "-" else Decimal(text)


#: model: input, output, read, write 5m, write 1h, window, fast multiplier.
_TABLE = """
claude-sonnet-4-5  3     15  0.30   3.75   6   200000   -
claude-opus-4      15    75  1.50   18.75  30  200000   -
claude-opus-4-6    5     25  0.50   6.25   10  1000000  6
claude-haiku-4-5   1     5   0.10   1.25   2   200000   -
claude-fable-5-1   10    50  1      12.5   20  1000000  -
gpt-5              1.25  10  0.125  -      -   258400   -
gpt-5.4            2.5   15  0.25   -      -   258400   -
gpt-5.4-mini       0.25  2   0.025  -      -   258400   -
demo-nocache-1     0.5   2   -      -      -   128000   -
"""

TIERED = Price(
    model="demo-tiered-1",
    valid_from=ALWAYS,
    input=Decimal(3),
    output=Decimal(15),
    cache_read=Decimal("0.30"),
    cache_write_5m=Decimal("3.75"),
    cache_write_1h=Decimal(6),
    above_tokens=200_000,
    above_input=Decimal(6),
    above_output=Decimal("22.5"),
    above_cache_read=Decimal("0.60"),
    above_cache_write_5m=Decimal("7.5"),
    above_cache_write_1h=Decimal(12),
    web_search_usd=SEARCH,
    window=1_000_000,
)


def _row(line: str) -> Price:
    model, given, out, read, short, long, window, fast = line.split()
    return Price(
        model=model,
        valid_from=ALWAYS,
        input=Decimal(given),
        output=Decimal(out),
        cache_read=_usd(read),
        cache_write_5m=_usd(short),
        cache_write_1h=_usd(long),
        fast_multiplier=_usd(fast),
        web_search_usd=SEARCH,
        window=int(window),
    )


def _dated(since: datetime, until: datetime | None, given: int, out: int) -> Price:
    return Price(
        model="demo-dated-1",
        valid_from=since,
        valid_to=until,
        input=Decimal(given),
        output=Decimal(out),
        web_search_usd=SEARCH,
        window=200_000,
    )


PINS = (
    *(_row(line) for line in _TABLE.strip().splitlines()),
    TIERED,
    _dated(ALWAYS, CHANGE, 5, 30),
    _dated(CHANGE, None, 4, 20),
)
BOOK = PriceBook(PINS)
PINNED = {price.model: price for price in PINS}
