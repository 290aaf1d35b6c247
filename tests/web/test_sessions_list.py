"""The sessions list."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Session
from tests.support.world import NOW, World, build, session_in
from tests.web.pages import client_of, page, words

MOST_QUERIES = 12
ALL = "/sessions/?period=all"


@pytest.fixture
def world(db: None) -> World:
    """Two organisations with teams and users."""
    return build()


def names(markup: str) -> list[str]:
    """Host session ids of the lines, in order."""
    return [part.split('"')[0] for part in markup.split('class="id" title="')[1:]]


def test_sessions_list__other_teams__are_not_in_it(world: World) -> None:
    session_in(world.one, "mine")
    session_in(world.two, "other")
    session_in(world.foreign, "foreign")
    assert names(page(world.users["viewer"], ALL)) == ["mine"]


def test_sessions_list__all_teams__leaves_the_demo_out(world: World) -> None:
    session_in(world.one, "one")
    session_in(world.two, "two")
    session_in(world.demo, "made-up")
    assert set(names(page(world.users["organisation_admin"], ALL))) == {"one", "two"}
    assert names(page(world.users["organisation_admin"], ALL + "&team=demo")) == ["made-up"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("host=codex", ["c"]),
        ("zone=RED", ["b"]),
        ("zone=HIGH", ["b", "c"]),
        ("text=B", ["b"]),
        ("mark=compacted", ["c"]),
        ("mark=unpriced", ["b"]),
        ("mark=parked", ["a"]),
        ("mark=lower", ["a"]),
        ("sort=cost", ["c", "a", "b"]),
        ("sort=peak", ["b", "c", "a"]),
        ("host=nothing&zone=x&mark=y&sort=z&project=w&page=-1", ["a", "b", "c"]),
        ("text=%00", ["a", "b", "c"]),
        ("project=999999999", []),
    ],
)
def test_sessions_list__a_filter__lets_through_what_it_says(world: World, query: str, found: list[str]) -> None:
    bound = [{"code": "compaction_call_unseen", "count": 1}]
    session_in(world.one, "a", lower_bound=bound, fold_error="ValueError", peak_occupancy=10, cost_usd=Decimal(1))
    session_in(world.one, "b", peak_zone="RED", cost_usd=None, unpriced_calls=1, peak_occupancy=30)
    session_in(
        world.one, "c", host="codex", peak_zone="CRITICAL", compactions=2, cost_usd=Decimal(2), peak_occupancy=20
    )
    listed = names(page(world.users["viewer"], f"{ALL}&{query}"))
    assert listed == found if "sort=" in query and "sort=z" not in query else sorted(listed) == found


def test_sessions_list__blind__is_unlike_zero(world: World) -> None:
    session_in(world.one, "a", calls=0, cost_usd=None, no_cache_cost_usd=None, model="", peak_zone="UNKNOWN")
    markup = page(world.users["viewer"], ALL)
    row = markup.split("<tbody")[1].split("</tbody>")[0]
    assert row.count('class="unknown"') == 4
    assert "$0" not in row


def test_sessions_list__an_assumed_window__marks_its_percentage(world: World) -> None:
    session_in(world.one, "a", window=200_000, window_origin="assumed", peak_occupancy=149_995, peak_zone="AMBER")
    session_in(world.one, "b", window=200_000, window_origin="stated", peak_occupancy=100_000, peak_zone="AMBER")
    text = words(page(world.users["viewer"], ALL))
    assert "AMBER ~74.9%" in text
    assert "AMBER 50.0%" in text


def test_sessions_list__many__are_paged_and_htmx_gets_the_results_alone(world: World) -> None:
    for number in range(53):
        session_in(world.one, f"s{number:02}", at=NOW - timedelta(hours=number))
    second = page(world.users["viewer"], ALL + "&page=2")
    part = page(world.users["viewer"], ALL + "&page=2", **{"HX-Request": "true"})
    beyond = page(world.users["viewer"], ALL + "&page=99")
    assert "51 to 53 of 53 sessions" in words(second)
    assert names(second) == names(part) == names(beyond) == ["s50", "s51", "s52"]
    assert "<html" not in part
    assert 'href="/sessions/?period=all"' in second


def test_sessions_list__whole_and_part__are_not_mixed_up_by_caches(world: World) -> None:
    response = client_of(world.users["viewer"]).get(ALL)
    assert {"HX-Request", "Cookie"} <= {name.strip() for name in response.headers["Vary"].split(",")}
    assert "private" in response.headers["Cache-Control"]


def test_sessions_list__fifty_times_the_sessions__asks_as_many_queries(world: World) -> None:
    client = client_of(world.users["viewer"])
    counts = []
    for start, end in ((0, 1), (1, 50)):
        for number in range(start, end):
            session_in(world.one, f"s{number}")
        with CaptureQueriesContext(connection) as queries:
            client.get(ALL)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= MOST_QUERIES


def test_sessions_list__nothing_yet__says_what_to_do(world: World) -> None:
    text = words(page(world.users["viewer"], "/sessions/"))
    assert "No session has arrived yet." in text
    assert "make import" in text


def test_sessions_list__nothing_in_the_period__offers_all_time(world: World) -> None:
    session_in(world.one, "old", at=NOW - timedelta(days=4000))
    text = words(page(world.users["viewer"], "/sessions/"))
    assert "No session was seen in the last 7 days." in text
    assert "Look at all time" in text
    assert Session.objects.count() == 1
