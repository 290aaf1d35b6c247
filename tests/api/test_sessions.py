"""`/api/v1/sessions`: the contract that scripts rely on."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Session
from tests.api.conftest import Caller
from tests.support.world import NOW, World, call_in, compaction_in, session_in

SESSIONS = "/api/v1/sessions"


def test_sessions__one_session__has_every_agreed_field(world: World, ask: Caller) -> None:
    session = session_in(
        world.one,
        "story",
        calls=9,
        aux_calls=1,
        uncached_input=53,
        cache_read=472_200,
        cache_write_5m=323_000,
        cache_write_1h=1_500,
        cache_write_unknown_ttl=700,
        output=4_450,
        cost_usd="1.428819",
        compactions=1,
        last_occupancy=28_505,
        window=200_000,
        window_origin="assumed",
        zone="GREEN",
    )
    call_in(session, number=2, at=NOW, zone="AMBER")
    call_in(session, number=3, at=NOW, zone="", thread="agent-1", occupancy=12_208, model="claude-haiku-4-5")
    call_in(session, number=4, at=NOW, zone="", purpose="compaction", occupancy=None)
    compaction_in(session, number=1, at=NOW, before_tokens=153_824, after_tokens=24_005)
    found = ask("read_key", SESSIONS, host="claude-code", host_session_id="story", team="one").json()
    assert found["next"] is None
    (told,) = found["results"]
    expected = {
        "id": session.pk,
        "host": "claude-code",
        "host_session_id": "story",
        "team": "one",
        "project": "github.com/acme/api",
        "calls": 9,
        "aux_calls": 1,
        "uncached_input": 53,
        "cache_read": 472_200,
        "cache_write_5m": 323_000,
        "cache_write_1h": 1_500,
        "cache_write_unknown_ttl": 700,
        "output": 4_450,
        "cost_usd": "1.428819",
        "cost_complete": True,
        "compactions": 1,
        "threads": 1,
        "zones": ["GREEN", "AMBER"],
        "last_occupancy": 28_505,
        "window": 200_000,
        "window_origin": "assumed",
        "zone": "GREEN",
        "warnings": [],
        "lower_bound": [],
        "models": ["claude-haiku-4-5", "claude-sonnet-4-5"],
        "first_at": "2026-11-30T12:00:00Z",
        "duration_s": 60,
        "dirty": False,
    }
    assert {name: told[name] for name in expected} == expected
    assert told["compaction_entries"][0]["before_tokens"] == 153_824
    assert told["thread_entries"][0]["thread"] == ""


def test_session__own_address__adds_the_calls_in_order(world: World, ask: Caller) -> None:
    session = session_in(world.one, "a")
    call_in(session, number=2, at=NOW, cost_usd=None)
    told = ask("read_key", f"{SESSIONS}/{session.pk}").json()
    assert [(c["number"], c["cost_usd"]) for c in told["call_entries"]] == [(1, "0.01"), (2, None)]


def test_sessions__unpriced_session__says_null_and_incomplete(world: World, ask: Caller) -> None:
    session_in(world.one, "a", cost_usd=None, unpriced_calls=1)
    (told,) = ask("read_key", SESSIONS).json()["results"]
    assert (told["cost_usd"], told["cost_complete"]) == (None, False)


def test_sessions__sums_from_metrics_alone__are_not_called_completely_priced(world: World, ask: Caller) -> None:
    session_in(world.one, "a", calls=0, cost_usd=None, unpriced_calls=0)
    (told,) = ask("read_key", SESSIONS).json()["results"]
    assert (told["cost_usd"], told["cost_complete"]) == (None, False)


def test_sessions__session_with_a_gauge_only__shows_the_points_of_the_gauge(world: World, ask: Caller) -> None:
    current = {"points": ["RED", "GREEN"], "zone": "GREEN"}
    Session.objects.create(
        team=world.one, host="claude-code", host_session_id="g", created_at=NOW, received_at=NOW, current=current
    )
    (told,) = ask("read_key", SESSIONS).json()["results"]
    assert told["zones"] == ["RED", "GREEN"]
    assert told["cost_complete"] is True


def test_sessions__cursor__gives_every_session_once_in_order(world: World, ask: Caller) -> None:
    for number in range(5):
        session_in(world.one, str(number), at=NOW - timedelta(days=number % 2))
    Session.objects.create(
        team=world.one, host="codex", host_session_id="unfolded", created_at=NOW - timedelta(days=9), received_at=NOW
    )
    seen: list[str] = []
    address: str | None = f"{SESSIONS}?limit=2"
    while address:
        answer = ask("read_key", address).json()
        seen += [row["host_session_id"] for row in answer["results"]]
        address = answer["next"]
    assert seen == ["4", "2", "0", "3", "1", "unfolded"]


@pytest.mark.parametrize(
    ("parameters", "code", "pointer"),
    [
        ({"host": "emacs"}, "bad_host", "host"),
        ({"team": "nobody"}, "bad_team", "team"),
        ({"limit": "0"}, "bad_limit", "limit"),
        ({"limit": "many"}, "bad_limit", "limit"),
        ({"cursor": "x"}, "bad_cursor", "cursor"),
        ({"cursor": "WzEsIDJd"}, "bad_cursor", "cursor"),
        ({"cursor": "WyJ4IiwgMl0"}, "bad_cursor", "cursor"),
        ({"host_session_id": "a\0b"}, "bad_host_session_id", "host_session_id"),
    ],
)
def test_sessions__parameter_that_means_nothing__is_refused_by_name(
    world: World, ask: Caller, parameters: dict[str, str], code: str, pointer: str
) -> None:
    answer = ask("read_key", SESSIONS, **parameters)
    assert answer.status_code == 400
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert (answer.json()["code"], answer.json()["pointer"]) == (code, pointer)


@pytest.mark.parametrize("number", ["0", "9999999999999999999999"])
def test_session__number_of_none__is_not_found(world: World, ask: Caller, number: str) -> None:
    answer = ask("read_key", f"{SESSIONS}/{number}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_sessions__more_sessions__take_no_more_queries(world: World, ask: Caller) -> None:
    counts = []
    for size in (1, 6):
        for number in range(size):
            session = session_in(world.one, f"{size}-{number}")
            compaction_in(session, number=1, at=NOW)
        ask("read_key", SESSIONS)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert len(ask("read_key", SESSIONS, team="one").json()["results"]) >= size
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 7
