"""The page of one session."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Call, Project, Session
from tests.support.story import recorded
from tests.support.world import NOW, World, build, call_in, compaction_in, session_in
from tests.web.pages import client_of, page, words

MOST_QUERIES = 12


@pytest.fixture
def world(db: None) -> World:
    """Two organisations with teams and users."""
    return build()


def test_session_page__the_recorded_story__says_what_its_truth_says(world: World) -> None:
    text = words(page(world.users["viewer"], f"/sessions/{recorded(world.one).pk}/"))
    for expected in (
        "10 calls, $1.43 at list price. It reached RED at call 6 and then lost its whole cache once, for $0.53 extra.",
        "It was compacted once, by hand, at 76.9%.",
        "In % of 200,000 tokens, the window assumed from the model.",
        "needed $0.783462",
        "rebuilds $0.118542",
        "not explained $0.526815",
        "billed $1.428819",
        "The host says $1.428819 equal",
        "Without cache $2.457009 saved $1.028190",
        "written, 5 min 323,000 (of these 700 of unknown lifetime, priced as 5 min)",
        "Expected to read 152,700 from the cache, read 0, wrote 153,600.",
        "not proved: the prefix changed, or the provider dropped it",
        "a pause (0.2 s since the last read; the limit is 5 min)",
        "by hand · depth 1",
        "readings, 10 calls",
        "readings, 9 calls (lacks call 8)",
    ):
        assert expected in text


def test_session_page__three_figures_of_before__say_which_one_counts(world: World) -> None:
    text = words(page(world.users["viewer"], f"/sessions/{recorded(world.one).pk}/"))
    assert "153,824 the transcript counts" in text
    assert "153,604 the last call before billed" in text
    assert "10,923 telemetry does not count" in text
    assert "24,005 the next call counts" in text
    assert "651 the host does not count: its summary alone" in text
    assert "$0.084732 + writing 9,800 tokens again in call 9 $0.033810 = $0.118542" in text


def test_session_page__each_call__has_an_anchor_and_its_zone(world: World) -> None:
    markup = page(world.users["viewer"], f"/sessions/{recorded(world.one).pk}/")
    rows = [markup.split(f'id="c{n}"')[1].split("</tr>")[0] for n in range(1, 11)]
    zones = [next((z for z in ("GREEN", "AMBER", "RED") if z in row), "") for row in rows]
    assert zones == ["GREEN", "GREEN", "AMBER", "", "AMBER", "RED", "RED", "", "GREEN", "GREEN"]


def test_session_page__a_bounded_window__shows_both_percentages(world: World) -> None:
    session = session_in(world.one, "a", window=200_000, window_origin="bounded", peak_zone="RED")
    Call.objects.filter(session=session).update(
        occupancy=160_000, window=200_000, window_origin="bounded", zone="RED", known_window=1_000_000
    )
    text = words(page(world.users["viewer"], f"/sessions/{session.pk}/"))
    assert "the window bounded by an automatic compaction. The model itself is known for 1,000,000" in text
    assert "160,000 ~80.0% ~16.0% RED" in text


def test_session_page__after_the_last_compaction__the_context_is_unknown(world: World) -> None:
    session = session_in(world.one, "a", window=200_000, compactions=1, zone="UNKNOWN", peak_zone="GREEN")
    Call.objects.filter(session=session).update(window=200_000)
    compaction_in(session, number=1, at=NOW + timedelta(minutes=5), before_tokens=1_000, before_origin="transcript")
    markup = page(world.users["viewer"], f"/sessions/{session.pk}/")
    assert "The context is unknown since the last one, until the next call." in words(markup)
    assert "UNKNOWN: no usage between the compaction and the next call" in markup
    assert "no call after it was seen: unknown until there is one" in words(markup)


def test_session_page__without_prices_and_window__is_unknown_and_never_zero(world: World) -> None:
    session = session_in(world.one, "a", cost_usd=None, no_cache_cost_usd=None, unpriced_calls=1)
    Call.objects.filter(session=session).update(cost_usd=None, window=None, zone="UNKNOWN")
    text = words(page(world.users["viewer"], f"/sessions/{session.pk}/"))
    assert "1 call; no price is known for any of them. How full it was is not known." in text
    assert "In tokens: no window is known, so there are no zones." in text
    assert "$0.00" not in text


def test_session_page__a_meter_alone__tells_the_context_and_leaves_the_rest_unknown(world: World) -> None:
    session = session_in(
        world.one,
        "a",
        calls=0,
        uncached_input=0,
        output=0,
        cost_usd=None,
        no_cache_cost_usd=None,
        window=200_000,
        window_origin="stated",
        zone="UNKNOWN",
        peak_zone="RED",
        current={"why": "the host says zero, as it does right after a compaction", "points": ["GREEN", "RED"]},
    )
    Call.objects.all().delete()
    markup = page(world.users["viewer"], f"/sessions/{session.pk}/")
    text = words(markup)
    assert "No call of this session has been seen, so its cost is not known." in text
    assert "meter is silent now (the host says zero, as it does right after a compaction); RED at its fullest." in text
    assert "the window stated by the host. Zones of its readings, in order: GREEN RED" in text
    assert "no source told them" in text
    assert "$0" not in text


def test_session_page__a_parked_fold__says_so_first(world: World) -> None:
    session = session_in(world.one, "a", fold_error="ValueError at 2026-11-30 12:00", fold_failures=3)
    text = words(page(world.users["viewer"], f"/sessions/{session.pk}/"))
    assert "The last attempt to work out this session failed (ValueError at 2026-11-30 12:00)" in text


def test_session_page__more_than_a_hundred_calls__pages_and_finds_the_asked_call(world: World) -> None:
    session = session_in(world.one, "a", calls=250)
    for number in range(2, 251):
        call_in(session, number=number, at=NOW + timedelta(seconds=number))
    address = f"/sessions/{session.pk}/"
    first = page(world.users["viewer"], address)
    third = page(world.users["viewer"], address + "?at=217")
    part = page(world.users["viewer"], address + "?calls=2", **{"HX-Request": "true", "HX-Target": "calls"})
    assert 'id="c100"' in first
    assert 'id="c101"' not in first
    assert "?at=217#c217" in third
    assert 'id="c217"' in third
    assert 'id="c101"' in part
    assert "<html" not in part


def test_session_page__ten_times_the_calls__asks_as_many_queries(world: World) -> None:
    client = client_of(world.users["viewer"])
    counts = []
    for name, calls in (("a", 1), ("b", 40)):
        session = session_in(world.one, name)
        for number in range(2, calls + 1):
            call_in(session, number=number, at=NOW + timedelta(seconds=number))
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/sessions/{session.pk}/")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= MOST_QUERIES


def test_session_page__of_the_demo_team__says_that_it_is_made_up(world: World) -> None:
    session = session_in(world.demo, "a")
    markup = page(world.users["organisation_admin"], f"/sessions/{session.pk}/")
    assert "This is the demo team." in markup
    assert f'href="/sessions/?team={world.demo.slug}"' in markup


def test_short_address__any_session__leads_to_its_page(world: World) -> None:
    session = session_in(world.one, "a")
    response = client_of(world.users["viewer"]).get(f"/s/{session.pk}?at=3")
    assert response.headers["Location"] == f"/sessions/{session.pk}/?at=3"


@pytest.mark.parametrize(
    "text", ["</script><script>alert(4)</script>", '"><img src=x onerror=alert(1)>', "{{ 7|add:7 }}"]
)
def test_session_page__hostile_names__are_inert(world: World, text: str) -> None:
    session = session_in(world.one, f"id-{text}", branch=text, model=text[:120], version=text[:60])
    Session.objects.filter(pk=session.pk).update(warnings=[{"code": "x", "message": text}], sources={text: 1})
    Project.objects.update(name=text)
    Call.objects.filter(session=session).update(model=text[:120], cost_usd=Decimal("0.01"))
    for address in (f"/sessions/{session.pk}/", "/sessions/?period=all", "/?period=all"):
        markup = page(world.users["viewer"], address)
        assert "<script>alert" not in markup
        assert "<img src=x" not in markup
        assert "alert" not in text or "alert" in markup


def test_session_page__pauses__are_told_against_the_life_of_the_cache(world: World) -> None:
    session = session_in(world.one, "a", calls=3)
    call_in(session, number=2, at=NOW + timedelta(minutes=4))
    call_in(session, number=3, at=NOW + timedelta(minutes=14))
    markup = page(world.users["viewer"], f"/sessions/{session.pk}/")
    assert "without a call before call 3: longer than the 5 minutes that the cache lives" in markup
    assert "before call 2:" not in markup
    Call.objects.filter(session=session, number=2).update(cache_write_1h=500)
    markup = page(world.users["viewer"], f"/sessions/{session.pk}/")
    assert "before call 3: within the 60 minutes that the cache lives" in markup
