"""The price book in the database."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.kernel.facts import Leaves
from sessions_app.models import PriceRow
from sessions_app.services import prices
from tests.support.pins import PINS

AUTUMN = datetime(2026, 11, 30, tzinfo=UTC)

pytestmark = pytest.mark.django_db


def test_seed__twice__adds_rows_once() -> None:
    assert prices.seed(prices=PINS, source="pins").added == len(PINS)
    again = prices.seed(prices=PINS, source="pins")
    assert (again.added, again.unchanged, again.differing) == (0, len(PINS), ())


def test_seed__other_price_of_a_known_row__is_told_and_not_written() -> None:
    prices.seed(prices=PINS[:1], source="pins")
    other = replace(PINS[0], input=Decimal(99))
    differing = prices.seed(prices=[other], source="pins").differing
    assert differing == ("claude-sonnet-4-5 from 1970-01-01: input 3, offered 99",)
    assert PriceRow.objects.get().input == 3


def test_load_price_book__stored_rows__price_like_the_given_ones_and_name_their_row() -> None:
    prices.seed(prices=PINS, source="pins")
    charge = prices.load_price_book().charge(
        "claude-sonnet-4-5-20250929", AUTUMN, Leaves(53, 472_200, 323_000, 1_500, 4_450)
    )
    assert charge is not None
    assert charge.cost_usd == Decimal("1.428819")
    assert charge.price_id == PriceRow.objects.get(model="claude-sonnet-4-5").pk


def test_load_price_book__nothing_changed__takes_one_query() -> None:
    prices.seed(prices=PINS, source="pins")
    book = prices.load_price_book()
    with CaptureQueriesContext(connection) as queries:
        assert prices.load_price_book() is book
    assert len(queries) == 1


def test_load_price_book__row_added_or_removed__is_read_again() -> None:
    prices.seed(prices=PINS[:2], source="pins")
    before = prices.load_price_book()
    prices.seed(prices=PINS, source="pins")
    assert len(prices.load_price_book()) > len(before)
    PriceRow.objects.all().delete()
    assert len(prices.load_price_book()) == 0


def test_seed_prices__command__fills_the_book_from_the_package() -> None:
    out = StringIO()
    call_command("seed_prices", stdout=out)
    call_command("seed_prices", stdout=out)
    told = [line for line in out.getvalue().splitlines() if not line.startswith("  sources disagree: ")]
    assert told[0].endswith("0 already there (genai-prices 0.2.3)")
    assert [line.partition(",")[0] for line in told[1:]] == ["1 price rows added", *2 * ["0 price rows added"]]
    book = prices.load_price_book()
    calls = (Leaves(3, 0, 28_403, 0, 120), Leaves(3, 28_403, 9_098, 0, 210))
    charges = [book.charge("claude-sonnet-4-5-20250929", AUTUMN, call) for call in calls]
    # 3 x 3 + 28,403 x 3.75 + 120 x 15; 3 x 3 + 28,403 x 0.30 + 9,098 x 3.75 + 210 x 15, per million.
    assert [c.cost_usd for c in charges if c] == [Decimal("0.10832025"), Decimal("0.0457974")]
