"""What stands beside the sums of the overview: the period before, compactions’ worth, what is live, what changed."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.dashboard.overview import OverviewPage, overview
from sessions_app.dashboard.scope import scope_of
from sessions_app.models import Session
from sessions_app.services import marking, prices
from tests.support.live import live_in
from tests.support.pins import PINS
from tests.support.replay import Player, moments
from tests.support.story import priced, recorded
from tests.support.world import NOW, World, build, compaction_in, missed_in, session_in, slot_in
from tests.web.pages import client_of, page, words

WEEK = timedelta(days=7)


@pytest.fixture
def world(db: None) -> World:
    """Two organisations with teams and users."""
    return build()


def seen(world: World, now: datetime, **parameters: str) -> OverviewPage:
    viewer = world.users["viewer"]
    return overview(viewer, scope_of(viewer, parameters), now)


def test_before__every_main_sum__has_its_counterpart(world: World) -> None:
    session = session_in(world.one, "a", at=NOW)
    slot = slot_in(session, NOW - WEEK, cost_usd=Decimal(4), no_cache_cost_usd=Decimal(9), needed_usd=Decimal(3), red=3)
    missed_in(session, slot.slot_at, cause="ttl_expired_5m", tokens=900, cost_usd=Decimal(1))
    compaction_in(session, number=1, at=NOW - WEEK, summary_usd=1, rewrite_usd=1, saved_usd=5)
    before = seen(world, NOW).before
    assert before is not None
    assert (before.calls, before.cost_usd, before.saved_usd) == (1, Decimal(4), Decimal(5))
    assert before.ledger is not None
    assert before.ledger.parts == (Decimal(3), Decimal(0), Decimal(1), Decimal(0))
    assert before.zones["RED"] == "75.0%"
    assert (before.compactions.completed, before.compactions.back) == (1, 1)
    now = seen(world, NOW)
    assert now.ledger is not None
    assert not now.ledger.entries
    assert now.compactions.completed == 0


def test_before__nothing_recorded__is_said_and_is_no_zero(world: World) -> None:
    now = datetime.now(UTC)
    session_in(world.one, "a", at=now)
    text = words(page(world.users["viewer"], "/"))
    assert "Nothing was recorded in the time before" in text
    assert "before $" not in text


def test_compactions__the_recorded_story__is_not_paid_back_as_its_own_page_says(world: World) -> None:
    recorded(world.one)
    found = seen(world, NOW, period="all").compactions
    assert (found.completed, found.back, found.not_paid_back, found.not_known) == (1, 0, 1, 0)


def test_compactions__by_the_host__say_how_full_the_window_was_in_the_middle_half(world: World) -> None:
    session = session_in(world.one, "a", window=100_000)
    for number, tokens in enumerate((70_000, 80_000, 84_000, 88_000, 99_000)):
        compaction_in(session, number=number, at=NOW, trigger="auto", before_tokens=tokens)
    assert seen(world, NOW, period="all").compactions.middle_half == "80 to 88%"


def test_live__a_warm_session__says_when_it_goes_cold_and_what_that_costs(world: World) -> None:
    priced()
    now = datetime.now(UTC).replace(microsecond=0)
    live_in(world.one, "warm", now, ago=timedelta(minutes=4))
    line = seen(world, now).live.lines[0]
    assert (line.zone, line.percent, line.cache) == ("AMBER", "50.0%", "cold in 1:00")
    # 100,000 tokens, written again at 3.75 a million instead of read at 0.30.
    assert line.cold_costs_usd == Decimal("0.345")
    assert not line.is_ttl_assumed
    text = words(page(world.users["viewer"], "/"))
    assert "Now 1 session in the last 30 minutes" in text
    assert "of 200,000" in text
    assert "if it goes cold" in text


def test_live__a_cold_full_session__is_a_good_moment_to_compact(world: World) -> None:
    priced()
    now = datetime.now(UTC)
    live_in(world.one, "cold", now, ago=timedelta(minutes=17), ttl=None)
    line = seen(world, now).live.lines[0]
    assert line.cache == "cold since 12 min"
    assert line.is_ttl_assumed
    assert line.advice == "a good moment to compact: nothing is left to lose"


def test_live__what_was_advised_and_stands__is_told_with_its_verdict_until_it_is_followed(world: World) -> None:
    prices.seed(prices=PINS, source="test pins")
    now = datetime.now(UTC)
    player = Player(world.one)
    advised: list[tuple[str, str]] = []
    for moment in moments():
        player.play(moment, fold=True)
        Session.objects.filter(pk=player.row.pk).update(last_at=now, ended_at=None)
        (line,) = seen(world, now).live.lines
        if line.advice_href and (not advised or advised[-1][0] != line.advice):
            advised.append((line.advice, line.advice_href))
    assert [advice for advice, _ in advised] == ["write a checkpoint (P6)", "compact (P3)"]
    (line,) = seen(world, now).live.lines
    assert not line.advice_href
    client = client_of(world.users["viewer"])
    assert all(client.get(href).status_code == 200 for _, href in advised)


def test_live__ended_old_or_of_others__is_not_live(world: World) -> None:
    now = datetime.now(UTC)
    live_in(world.one, "old", now, ago=timedelta(minutes=31))
    Session.objects.filter(pk=live_in(world.one, "ended", now, ago=timedelta(minutes=1)).pk).update(ended_at=now)
    session_in(world.two, "other", at=now)
    assert seen(world, now).live.count == 0
    assert "No session said anything in the last 30 minutes." in words(page(world.users["viewer"], "/"))


def test_live__without_a_reading__is_unknown_and_not_zero(world: World) -> None:
    now = datetime.now(UTC)
    session_in(world.one, "blind", at=now)
    line = seen(world, now).live.lines[0]
    assert (line.zone, line.occupancy, line.cold_costs_usd) == ("UNKNOWN", None, None)


def test_live__asked_for_alone__is_a_part_that_the_whole_page_holds(world: World) -> None:
    priced()
    live_in(world.one, "warm", datetime.now(UTC), ago=timedelta(minutes=1))
    part = page(world.users["viewer"], "/", **{"HX-Target": "now"})
    assert part.lstrip().startswith("<section")
    assert "<h1" not in part
    assert "warm" in words(part)


def test_changes__in_the_period__are_compared_as_on_the_page_of_the_cache(world: World) -> None:
    for number in range(10):
        session = session_in(world.one, f"before{number}", at=NOW - timedelta(days=3))
        slot_in(session, NOW - timedelta(days=2), cache_read=9_000)
        session = session_in(world.one, f"after{number}", at=NOW - timedelta(hours=20))
        slot_in(session, NOW - timedelta(hours=18), cache_read=1_000)
    given: dict[str, Any] = {"team": world.one, "project": None, "by": "jo", "now": NOW}
    at = NOW - timedelta(days=1)
    marker, _ = marking.mark(**given, at=at, kind="note", title="playwright connected")
    marking.mark(**given, at=NOW - timedelta(days=40), kind="note", title="long ago")
    (change,) = seen(world, NOW).changes
    assert change.title == "playwright connected"
    assert change.sentence == "read from the cache 81.8% → 33.3%: less is read"
    (found,) = marking.newest(team_ids=[world.one.pk], since=at, limit=3)
    assert found.comparison == marking.before_after(marker)


def test_changes__with_too_few_sessions__say_so(world: World) -> None:
    session_in(world.one, "a", at=NOW)
    marking.mark(team=world.one, at=NOW, kind="note", title="v2", project=None, by="", now=NOW)
    (change,) = seen(world, NOW).changes
    assert change.sentence.startswith("too few sessions to compare: 0 in the week before")


def test_overview__with_everything_on_it__asks_at_most_twelve_queries(world: World) -> None:
    priced()
    now = datetime.now(UTC)
    for number in range(12):
        live_in(world.one, f"s{number}", now, ago=timedelta(minutes=number))
        marking.mark(team=world.one, at=now, kind="note", title=f"v{number}", project=None, by="", now=now)
    client = client_of(world.users["viewer"])
    # The price book is read once by each process.
    client.get("/")
    with CaptureQueriesContext(connection) as queries:
        text = words(client.get("/").content.decode())
    assert len(queries) <= 12
    assert "4 more" in text
