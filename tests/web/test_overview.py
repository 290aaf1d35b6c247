"""The overview."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from sessions_app.dashboard.overview import overview
from sessions_app.dashboard.scope import scope_of
from sessions_app.models import UsageSlot
from tests.support.story import recorded
from tests.support.world import NOW, World, build, changed_in, compaction_in, missed_in, session_in, slot_in
from tests.web.pages import client_of, page, words

MOST_QUERIES = 12
ALL = "/?period=all"


@pytest.fixture
def world(db: None) -> World:
    """Two organisations with teams and users."""
    return build()


def test_overview__the_recorded_story__shows_its_sums(world: World) -> None:
    recorded(world.one)
    text = words(page(world.users["viewer"], ALL))
    for expected in (
        "36.8% of what 1 session cost was sent again without a known cause: $0.53.",
        "25.0% of calls were made in RED or CRITICAL.",
        "List prices. If you have a subscription, this is not your bill.",
        "Without cache $2.46 the cache saved $1.03",
        "GREEN 50.0% 4",
        "AMBER 25.0% 2",
        "RED 25.0% 2",
        "by hand 1 by the host 0 Paid back 0 Not paid back 1 Left",
        "Nothing is known to be missing from these sums.",
    ):
        assert expected in text


def test_overview__real_and_demo__are_never_summed(world: World) -> None:
    session_in(world.one, "a")
    session_in(world.two, "b")
    session_in(world.demo, "c")
    admin = world.users["organisation_admin"]
    assert "2 sessions cost $0.02." in words(page(admin, ALL))
    demo = page(admin, ALL + "&team=demo")
    assert "1 session costs $0.01." in words(demo)
    assert "This is the demo team." in demo
    assert "make demo-drop" in demo


def test_overview__other_teams__are_neither_counted_nor_offered(world: World) -> None:
    session_in(world.two, "b")
    session_in(world.foreign, "c")
    markup = page(world.users["viewer"], ALL + "&team=two")
    assert "No session has arrived yet." in words(markup)
    assert 'href="?team=two' not in markup


def test_overview__nothing_yet__says_what_to_type(world: World) -> None:
    text = words(page(world.users["viewer"], "/"))
    for command in ("make import", "make connect", "make demo"):
        assert command in text
    assert "$" not in text


def test_overview__a_member_of_no_team__is_told_so(world: World) -> None:
    assert "You are a member of no team yet." in words(page(world.users["nobody"], "/"))


def test_overview__nothing_in_the_period__points_to_a_longer_one(world: World) -> None:
    session_in(world.one, "old", at=datetime(2015, 12, 18, 12, tzinfo=UTC))
    text = words(page(world.users["viewer"], "/?period=7d"))
    assert "Nothing happened in the last 7 days." in text
    assert "Seen before: 1 session, the newest of 18 Dec 2015" in text
    assert "Show 30 days Show all" in text


def test_overview__only_old_sessions_and_no_period_chosen__shows_them(world: World, client: Client) -> None:
    session_in(world.one, "old", at=datetime(2015, 12, 18, 12, tzinfo=UTC))
    client.force_login(world.users["viewer"])
    assert client.get("/").headers["Location"] == "/?period=all"
    assert client.get("/?period=all").status_code == 200


def test_overview__lower_bounds__say_why_and_how_often(world: World) -> None:
    session_in(world.one, "a", lower_bound=[{"code": "compaction_call_unseen", "count": 2}])
    session_in(world.one, "b", lower_bound=[{"code": "compaction_call_unseen", "count": 1}])
    text = words(page(world.users["viewer"], ALL))
    assert "cost at least $0.02" in text
    assert "3 compactions whose own calls are in no record that arrived" in text
    assert "in 2 sessions." in text


def test_overview__unpriced_calls__make_the_sum_a_bound(world: World) -> None:
    changed_in(session_in(world.one, "a", unpriced_calls=1), unpriced_calls=1)
    assert "1 call without a known price" in words(page(world.users["viewer"], ALL))


def test_overview__nothing_priced__has_no_dollars(world: World) -> None:
    session = session_in(world.one, "a", cost_usd=None, no_cache_cost_usd=None, unpriced_calls=1)
    changed_in(session, cost_usd=None, no_cache_cost_usd=None, unpriced_calls=1)
    text = words(page(world.users["viewer"], ALL))
    assert "1 session without a known price." in text
    assert "$" not in text


def test_overview__compactions__by_trigger_and_end(world: World) -> None:
    session = session_in(world.one, "a")
    compaction_in(session, number=1, at=NOW, before_tokens=150_000, after_tokens=24_000)
    compaction_in(session, number=2, at=NOW, trigger="auto", before_tokens=150_000, after_tokens=160_000)
    compaction_in(session, number=3, at=NOW, state="failed")
    compaction_in(session, number=4, at=NOW, kind="micro")
    text = words(page(world.users["viewer"], ALL))
    assert "Completed 2 by hand 1 by the host 1 Paid back 0 Not paid back 0 Not known 2" in text
    assert "Left the context larger 1 of 2 with both figures" in text
    assert "Not completed 1" in text
    assert "Clearings 1" in text


def test_overview__a_period__counts_its_days_and_compares_with_the_ones_before(world: World) -> None:
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    session = session_in(world.one, "a", at=now)
    slot_in(session, now - timedelta(days=6), cost_usd=Decimal(3))
    slot_in(session, now - timedelta(days=7), cost_usd=Decimal(2))
    slot_in(session, now - timedelta(days=14), cost_usd=Decimal(99))
    found = overview(world.users["viewer"], scope_of(world.users["viewer"], {}), now)
    assert found.totals.cost_usd == Decimal("3.01")
    assert found.change == "50% more than in the 7 days before ($2.00)"
    assert found.before is not None
    assert (found.before.cost_usd, found.before.calls) == (Decimal(2), 1)
    assert len(found.days) == 7
    assert found.days[0].cost_usd == Decimal(3)


def test_overview__a_long_time__shares_columns(world: World) -> None:
    session = session_in(world.one, "a", at=NOW)
    slot_in(session, NOW - timedelta(days=400))
    viewer = world.users["viewer"]
    found = overview(viewer, scope_of(viewer, {"period": "all"}), NOW)
    assert len(found.days) <= 92
    assert sum(day.cost_usd for day in found.days if day.cost_usd) == found.totals.cost_usd


def test_overview__parts_of_the_bill__sum_to_it(world: World) -> None:
    session = session_in(world.one, "a")
    changed_in(session, needed_usd=Decimal("0.006"))
    slot = UsageSlot.objects.get(session=session)
    missed_in(session, slot.slot_at, cause="ttl_expired_5m", tokens=900, cost_usd=Decimal("0.004"))
    viewer = world.users["viewer"]
    found = overview(viewer, scope_of(viewer, {"period": "all"}), NOW).ledger
    assert found is not None
    assert found.avoidable.usd == Decimal("0.004")
    assert sum(found.parts) == found.billed_usd == Decimal("0.01")


def test_overview__more_of_everything__asks_as_many_queries(world: World) -> None:
    client = client_of(world.users["viewer"])
    counts = []
    for start, end in ((0, 1), (1, 40)):
        for number in range(start, end):
            session_in(world.one, f"s{number}", lower_bound=[{"code": f"c{number}", "count": 1}])
        with CaptureQueriesContext(connection) as queries:
            client.get(ALL)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= MOST_QUERIES
