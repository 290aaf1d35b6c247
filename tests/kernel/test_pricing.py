"""Costs are exact, dated, by whole-request tier, and absent where a price is."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.kernel.facts import Leaves
from sessions_app.kernel.pricing import Price, PriceBook, cost, no_cache_cost
from tests.support.pins import ALWAYS, BOOK, CHANGE, PINNED, TIERED

SONNET = PINNED["claude-sonnet-4-5"]
NOON = datetime(2026, 11, 2, 9, tzinfo=UTC)

#: Below the cap of sums, so that a sum of a few calls is the sum of their counts.
tokens = st.integers(min_value=0, max_value=2**58)
leaves = st.builds(Leaves, tokens, tokens, tokens, tokens, tokens)
money = st.decimals(min_value=0, max_value=10**6, places=6, allow_nan=False, allow_infinity=False)
prices = st.builds(
    Price,
    model=st.just("m"),
    valid_from=st.just(ALWAYS),
    input=money,
    output=money,
    cache_read=st.none() | money,
    cache_write_5m=st.none() | money,
    cache_write_1h=st.none() | money,
    above_tokens=st.none() | st.integers(0, 2**40),
    above_input=st.none() | money,
    above_output=st.none() | money,
    above_cache_read=st.none() | money,
)


def total(model: str, at: datetime, calls: Sequence[Leaves], searches: int = 0) -> Decimal | None:
    charges = [BOOK.charge(model, at, call, web_searches=searches) for call in calls]
    known = [charge.cost_usd for charge in charges if charge is not None]
    return sum(known, Decimal()) if known else None


def test_cost__recorded_story__is_the_hosts_own_total() -> None:
    """Served usage of ten calls: 53 / 472,200 / 323,000 / 1,500 / 4,450 at 3 / 15 / 0.30 / 3.75 / 6."""
    assert cost(Leaves(53, 472_200, 323_000, 1_500, 4_450), SONNET) == Decimal("1.428819")


def test_charge__model_without_row__is_unpriced() -> None:
    assert BOOK.charge("acme-coder-9", NOON, Leaves(1_000_000, output=100_000)) is None


def test_charge__four_spellings__find_three_rows() -> None:
    spellings = (
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "claude-haiku-4-5@20251001",
        "claude-opus-4-6[1m]",
        "anthropic/claude-sonnet-4-5",
    )
    charges = [BOOK.charge(name, NOON, Leaves(1_000, output=1_000)) for name in spellings]
    assert [charge and charge.cost_usd for charge in charges] == [
        Decimal("0.018"),
        Decimal("0.006"),
        Decimal("0.030"),
        Decimal("0.018"),
    ]


def test_cost__hour_writes__are_dearer_than_short_ones() -> None:
    assert cost(Leaves(0, 0, 700_000, 300_000, 1_000), SONNET) == Decimal("4.440")


def test_cost__tiered_row__reprices_whole_requests_strictly_above() -> None:
    calls = [
        Leaves(250_000, output=10_000),
        *[Leaves(100_000, output=1_000)] * 3,
        Leaves(1_000, 205_000, output=1_000),
        Leaves(200_000, output=1_000),
    ]
    costs = [cost(call, TIERED) for call in calls]
    assert costs == [Decimal(x) for x in ("1.725", "0.315", "0.315", "0.315", "0.1515", "0.615")]
    assert total("demo-tiered-1", NOON, calls) == Decimal("3.4365")


def test_cost__web_searches__add_their_fee() -> None:
    assert total("claude-sonnet-4-5", NOON, [Leaves(1_000, output=1_000)], searches=3) == Decimal("0.048")


def test_charge__web_search_without_known_fee__is_unpriced() -> None:
    book = PriceBook([Price(model="m", valid_from=ALWAYS, input=Decimal(1), output=Decimal(1))])
    assert book.charge("m", NOON, Leaves(10), web_searches=1) is None


def test_charge__price_change__boundary_instant_takes_the_new_row() -> None:
    call = Leaves(1_000_000, output=100_000)
    before = BOOK.charge("demo-dated-1", CHANGE - timedelta(seconds=1), call)
    after = BOOK.charge("demo-dated-1", CHANGE, call)
    assert before is not None
    assert after is not None
    assert (before.cost_usd, after.cost_usd) == (Decimal(8), Decimal(6))


def test_price__later_row_of_an_admin__wins_from_its_instant_on() -> None:
    old = Price(model="m", valid_from=ALWAYS, input=Decimal(1), output=Decimal(1), id=1)
    new = Price(model="m", valid_from=CHANGE, input=Decimal(2), output=Decimal(2), id=2, provider="own")
    same_day = Price(model="m", valid_from=CHANGE, input=Decimal(3), output=Decimal(3), id=3)
    book = PriceBook([same_day, new, old])
    assert book.price("m", CHANGE - timedelta(microseconds=1)) == old
    assert book.price("m", CHANGE) == same_day


def test_price__outside_of_every_interval__is_unpriced() -> None:
    row = Price(model="m", valid_from=NOON, valid_to=CHANGE, input=Decimal(1), output=Decimal(1))
    book = PriceBook([row])
    assert book.price("m", NOON - timedelta(microseconds=1)) is None
    assert book.price("m", NOON) == row
    assert book.price("m", CHANGE) is None


def test_cost__no_cache_prices__takes_the_input_price() -> None:
    assert cost(Leaves(1, 1, 1, 1), PINNED["demo-nocache-1"]) == Decimal("0.000002")


def test_charge__fast_mode__multiplies_or_is_unpriced() -> None:
    opus = BOOK.charge("claude-opus-4-6", NOON, Leaves(1_000_000), fast=True)
    assert opus is not None
    assert opus.cost_usd == Decimal(30)
    assert BOOK.charge("claude-sonnet-4-5", NOON, Leaves(1_000_000), fast=True) is None


def test_window__mark_in_the_name__selects_the_large_one() -> None:
    assert BOOK.window("claude-sonnet-4.5") == 200_000
    assert BOOK.window("claude-sonnet-4-5[1m]") == 1_000_000
    assert BOOK.window("acme-coder-9") is None


def test_charge__dated_name_with_own_row__does_not_take_the_plain_one() -> None:
    plain = Price(model="gpt-4o", valid_from=ALWAYS, input=Decimal("2.5"), output=Decimal(10))
    dated = Price(model="gpt-4o-2024-05-13", valid_from=ALWAYS, input=Decimal(5), output=Decimal(15))
    book = PriceBook([plain, dated])
    assert book.price("openai/gpt-4o-2024-05-13", NOON) == dated
    assert book.price("gpt-4o-2024-08-06", NOON) == plain


@given(leaves, prices)
def test_cost__any_counts_and_prices__equals_the_rational_sum(call: Leaves, price: Price) -> None:
    rates = price.rates(call.prompt)
    parts = [
        (call.uncached_input, rates.input),
        (call.cache_read, rates.cache_read),
        (call.cache_write_5m, rates.cache_write_5m),
        (call.cache_write_1h, rates.cache_write_1h),
        (call.output, rates.output),
    ]
    exact = sum((Fraction(count) * Fraction(rate) for count, rate in parts), Fraction()) / 10**6
    paid = cost(call, price)
    assert paid is not None
    assert Fraction(paid) == exact


@given(leaves, leaves, prices)
def test_cost__untiered_row__is_additive(a: Leaves, b: Leaves, price: Price) -> None:
    flat = Price(model="m", valid_from=ALWAYS, input=price.input, output=price.output, cache_read=price.cache_read)
    alone = [cost(call, flat) for call in (a, b)]
    together = cost(a + b, flat)
    assert together is not None
    assert Fraction(together) == sum(Fraction(part) for part in alone if part is not None)


@given(leaves, prices)
def test_no_cache_cost__same_prompt_without_cache__is_the_cost_of_plain_input(call: Leaves, price: Price) -> None:
    assert no_cache_cost(call, price) == cost(Leaves(call.prompt, output=call.output), price)


@given(st.permutations(list(PINNED.values())), st.datetimes(timezones=st.just(UTC)))
def test_price__any_order_of_rows__finds_the_same(rows: list[Price], at: datetime) -> None:
    ordered = PriceBook(PINNED.values())
    assert all(PriceBook(rows).price(model, at) == ordered.price(model, at) for model in PINNED)
