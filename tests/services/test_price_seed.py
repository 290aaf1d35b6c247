"""Rows made from the price package give the package's own figures, call by call."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from sessions_app.kernel.facts import Leaves
from sessions_app.kernel.pricing import PriceBook
from sessions_app.services import price_history, price_seed, prices

OFFER = price_seed.offer()
BOOK = PriceBook(OFFER.prices)
AUTUMN = datetime(2026, 11, 29, 12, tzinfo=UTC)
DECEMBER = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("model", "at", "call", "usd"),
    [
        ("claude-opus-5-5", AUTUMN, Leaves(2_000, 90_000, 3_000, 5_000, 1_000), "0.101"),
        ("claude-haiku-5-5", AUTUMN, Leaves(1_000, 120_000, 4_000, 0, 500), "0.01025"),
        ("claude-haiku-5-5", AUTUMN, Leaves(100_000), "0.010"),
        ("claude-haiku-5-5", AUTUMN, Leaves(100_001), "0.0500005"),
        ("gpt-6.1-sol", AUTUMN, Leaves(1_000, 290_000, 9_000, 0, 2_000), "0.137"),
        ("gemini-4-argon", DECEMBER - timedelta(seconds=1), Leaves(4_700, 36_000, output=2_000), "0.033"),
        ("gemini-4-argon", DECEMBER, Leaves(4_700, 36_000, output=2_000), "0.066"),
        ("claude-opus-4-6", datetime(2026, 3, 1, tzinfo=UTC), Leaves(300_000), "3.00"),
        ("claude-opus-4-6", datetime(2026, 4, 1, tzinfo=UTC), Leaves(300_000), "1.50"),
        ("deepseek-flash", datetime(2026, 11, 23, 12, tzinfo=UTC), Leaves(400, 8_600, output=300), "0.0002658"),
        ("deepseek-flash", datetime(2026, 11, 23, 2, tzinfo=UTC), Leaves(400, 8_600, output=300), "0.0005316"),
        ("deepseek-flash", datetime(2026, 11, 28, 2, tzinfo=UTC), Leaves(400, 8_600, output=300), "0.0002658"),
    ],
)
def test_offer__published_vector__costs_the_same(model: str, at: datetime, call: Leaves, usd: str) -> None:
    charge = BOOK.charge(model, at, call)
    assert charge is not None
    assert charge.cost_usd == Decimal(usd)


@pytest.mark.parametrize("model", ["gpt-6.2-sol", "gpt-6.2-astra", "acme-coder-9", "claude", "text-embedding-3-small"])
def test_offer__model_that_nobody_prices__stays_unpriced(model: str) -> None:
    assert BOOK.price(model, AUTUMN) is None


def test_offer__price_by_a_time_of_day_without_a_known_rule__is_left_out_with_its_reason() -> None:
    assert "deepseek-chat: priced by time of day" in OFFER.left_out
    assert BOOK.price("deepseek-chat", AUTUMN) is None


def test_charge__call_over_the_edge_of_dear_hours__counts_by_its_end() -> None:
    """DeepSeek decides by the time of completion (providers.md 1.8)."""
    began, call = datetime(2026, 11, 23, 0, 59, tzinfo=UTC), Leaves(400, 8_600, output=300)
    charges = [BOOK.charge("deepseek-flash", began, call, ended=began + timedelta(seconds=s)) for s in (59, 60)]
    assert [charge.cost_usd for charge in charges if charge] == [Decimal("0.0002658"), Decimal("0.0005316")]


def test_offer__recorded_story__is_priced_call_by_call() -> None:
    """The sum of the story would fall into a tier that no call reached."""
    row = BOOK.price("claude-sonnet-4-5-20250929", AUTUMN)
    assert row is not None
    small, large = row.rates(153_604), row.rates(796_753)
    assert (small.input, small.output, small.cache_read, small.cache_write_5m, small.cache_write_1h) == tuple(
        Decimal(x) for x in ("3", "15", "0.3", "3.75", "6")
    )
    assert large.input == 6


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-sonnet-4-5", 200_000),
        ("claude-sonnet-4.5", 200_000),
        ("claude-opus-4-6", 1_000_000),
        ("claude-haiku-4-5-20251001", 200_000),
        ("claude-opus-4-5", 200_000),
        ("claude-opus-4-1-20250805", 200_000),
        ("claude-opus-4", 200_000),
        ("claude-sonnet-4-20250514", 200_000),
        ("claude-3-5-sonnet-20241022", 200_000),
        ("claude-sonnet-4-5[1m]", 1_000_000),
        ("gpt-6-sol", 922_000),
        ("gemini-2.5-pro", 1_048_576),
    ],
)
def test_offer__window__is_what_a_prompt_can_fill(model: str, tokens: int) -> None:
    assert BOOK.window(model) == tokens


def test_offer__long_writes_of_openai__cost_two_and_a_half_inputs() -> None:
    charge = BOOK.charge("gpt-6.1-sol", AUTUMN, Leaves(cache_write_1h=1_000_000 // 4))
    assert charge is not None
    assert charge.cost_usd == Decimal("1.25")


def test_offer__fast_mode__doubles_where_the_provider_says_so() -> None:
    usual, fast = (BOOK.charge("claude-opus-5-5", AUTUMN, Leaves(1_000_000), fast=f) for f in (False, True))
    assert usual is not None
    assert fast is not None
    assert fast.cost_usd == 2 * usual.cost_usd
    assert BOOK.charge("claude-haiku-4-5", AUTUMN, Leaves(1), fast=True) is None


def test_offer__every_price__fits_the_columns() -> None:
    for row in OFFER.prices:
        prices = [row.input, row.output, row.cache_read, row.cache_write_5m, row.cache_write_1h, row.above_input]
        assert all(p == p.quantize(Decimal("0.000001")) and p >= 0 for p in prices if p is not None)
        assert row.window is None or row.window > 0
        assert len(row.model) <= 120


def test_offer__rows_of_a_model__do_not_overlap() -> None:
    seen: dict[str, datetime | None] = {}
    for row in (row for row in OFFER.prices if not row.hours):
        assert row.model not in seen or seen[row.model] == row.valid_from
        seen[row.model] = row.valid_to


def test_offer__price_changed_in_autumn__the_former_one_counts_before() -> None:
    """Reads of claude-sonnet-5-5 cost twice as much in its first week (providers.md 2.4: a gap of the first source)."""
    book = PriceBook((*OFFER.prices, *OFFER.former))
    read = Leaves(cache_read=1_000_000)
    for day, usd in ((6, "0.2"), (7, "0.1")):
        charge = book.charge("claude-sonnet-5-5", datetime(2026, 10, day, 12, tzinfo=UTC), read)
        assert charge is not None
        assert charge.cost_usd == Decimal(usd)


def test_offer__former_price_that_was_only_a_mistake_of_the_collection__is_not_taken() -> None:
    """Before its launch day the collection held claude-haiku-4-5 at the price of another model."""
    assert "claude-haiku-4-5" not in {row.model for row in OFFER.former}


def test_offer__sources_disagree_by_more_than_half_a_percent__told_and_nothing_is_changed() -> None:
    told = [line for line in OFFER.disagreements if line.startswith("kimi-k2-turbo-preview ")]
    assert told[:2] == [
        f"kimi-k2-turbo-preview from 2020-01-01: input 1.15 per million here, 2.4 in {price_history.SOURCE}",
        f"kimi-k2-turbo-preview from 2020-01-01: output 8 per million here, 10 in {price_history.SOURCE}",
    ]
    assert not [line for line in OFFER.disagreements if line.startswith("claude-sonnet-4-5 ")]


@pytest.mark.parametrize(("theirs", "is_told"), [("3.015", False), ("3.016", True), ("2.985", False), ("2.9", True)])
def test_differs__by_half_a_percent__is_the_limit(theirs: str, is_told: bool) -> None:
    assert price_history.differs(Decimal(3), Decimal(theirs)) is is_told


@pytest.mark.django_db
def test_seed__stored_row_says_otherwise__kept_and_told_with_both_figures() -> None:
    row = next(row for row in OFFER.prices if row.model == "claude-opus-5-5")
    prices.seed(prices=[replace(row, input=row.input * 2)], source="by hand")
    seeded = prices.seed(prices=[row], source=price_seed.SOURCE)
    assert (seeded.added, seeded.unchanged) == (0, 0)
    assert seeded.differing == (f"claude-opus-5-5 from 1970-01-01: input {row.input * 2}, offered {row.input}",)
    assert prices.seed(prices=[replace(row, input=row.input * Decimal("2.009"))], source="by hand").unchanged == 1
