"""`/api/v1/totals`: sums by group, days by one declared zone, refusals by name."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Caller
from tests.support.world import NOW, World, compaction_in, session_in, slot_in

TOTALS = "/api/v1/totals"


def by_key(answer: Any, *names: str) -> dict[Any, Any]:
    return {row["key"]: [row[name] for name in names] for row in answer.json()["results"]}


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def test_totals__without_group__is_one_row(world: World, ask: Caller) -> None:
    session = session_in(world.one, "a")
    slot_in(
        session, NOW + timedelta(hours=1), cost_usd=Decimal("0.000001"), cache_write_5m=7, cache_write_unknown_ttl=7
    )
    compaction_in(session, number=1, at=NOW)
    compaction_in(session, number=2, at=NOW, state="attempt")
    (row,) = ask("read_key", TOTALS).json()["results"]
    expected = {
        "key": None,
        "calls": 2,
        "uncached_input": 2_000,
        "cache_write_5m": 7,
        "cache_write_unknown_ttl": 7,
        "output": 200,
        "cost_usd": "0.010001",
        "cost_complete": True,
        "sessions": 1,
        "compactions": 1,
        "zone_calls": {"GREEN": 2, "AMBER": 0, "RED": 0, "CRITICAL": 0, "UNKNOWN": 0},
    }
    assert {name: row[name] for name in expected} == expected


def test_totals__nothing_at_all__is_one_row_of_zeros_without_a_price(world: World, ask: Caller) -> None:
    (row,) = ask("read_key", TOTALS).json()["results"]
    assert (row["calls"], row["cost_usd"], row["cost_complete"]) == (0, None, True)
    assert ask("read_key", TOTALS, group_by="day").json()["results"] == []


def test_totals__evening_of_los_angeles__is_booked_on_its_own_day(world: World, ask: Caller) -> None:
    session = session_in(world.one, "a", at=at("2026-03-02T07:30:00+00:00"))
    session.slots.update(uncached_input=100, output=10)
    slot_in(session, at("2026-03-02T08:30:00+00:00"), uncached_input=200, output=20)
    utc = ask("read_key", TOTALS, group_by="day")
    west = ask("read_key", TOTALS, group_by="day", tz="America/Los_Angeles")
    assert by_key(utc, "uncached_input", "output") == {"2026-03-02": [300, 30]}
    assert by_key(west, "uncached_input", "output") == {"2026-03-01": [100, 10], "2026-03-02": [200, 20]}


def test_totals__day_of_25_hours__holds_both_of_its_doubled_hours(world: World, ask: Caller) -> None:
    session = session_in(world.one, "a", at=at("2026-11-01T05:30:00+00:00"))
    session.slots.update(uncached_input=1, output=10)
    slot_in(session, at("2026-11-01T06:30:00+00:00"), uncached_input=2, output=20)
    slot_in(session, at("2026-11-02T04:59:00+00:00"), uncached_input=4, output=40)
    east = ask("read_key", TOTALS, group_by="day", tz="America/New_York")
    assert by_key(east, "uncached_input", "output") == {"2026-11-01": [7, 70]}
    utc = ask("read_key", TOTALS, group_by="day")
    assert by_key(utc, "uncached_input", "output") == {"2026-11-01": [3, 30], "2026-11-02": [4, 40]}
    only = ask("read_key", TOTALS, since="2026-11-01", until="2026-11-01", tz="America/New_York").json()
    assert only["results"][0]["uncached_input"] == 7
    assert (only["since"], only["until"]) == ("2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z")


def test_totals__zone_off_by_three_quarters__is_still_exact(world: World, ask: Caller) -> None:
    session = session_in(world.one, "a", at=at("2026-11-01T18:10:00+00:00"))
    slot_in(session, at("2026-11-01T18:20:00+00:00"))
    found = ask("read_key", TOTALS, group_by="day", tz="Asia/Kathmandu")
    assert by_key(found, "calls") == {"2026-11-01": [1], "2026-11-02": [1]}


def test_totals__bounds__take_since_and_leave_until(world: World, ask: Caller) -> None:
    session = session_in(world.one, "a", at=at("2026-11-01T10:00:00+00:00"))
    slot_in(session, at("2026-11-01T11:00:00+00:00"))
    found = ask("read_key", TOTALS, since="2026-11-01T10:00:00Z", until="2026-11-01T11:00:00Z").json()
    assert found["results"][0]["calls"] == 1
    found = ask("read_key", TOTALS, since="2026-11-01T10:07:00+00:00", until="2026-11-01T10:59:59Z").json()
    assert (found["since"], found["until"]) == ("2026-11-01T10:00:00Z", "2026-11-01T11:00:00Z")
    found = ask("read_key", TOTALS, since="2026-11-01T05:00", tz="America/New_York").json()
    assert found["since"] == "2026-11-01T10:00:00Z"


def test_totals__other_groups__name_their_rows(world: World, ask: Caller) -> None:
    first = session_in(world.one, "a")
    slot_in(first, NOW, model="us.anthropic.claude-sonnet-4-5-20250929-v1:0")
    slot_in(first, NOW, model="acme-coder-9", cost_usd=None, unpriced_calls=1, uncached_input=1)
    second = session_in(world.two, "b", host="codex")
    assert by_key(ask("admin_key", TOTALS, group_by="host"), "calls") == {"claude-code": [3], "codex": [1]}
    assert by_key(ask("admin_key", TOTALS, group_by="team"), "calls") == {"one": [3], "two": [1]}
    assert by_key(ask("admin_key", TOTALS, group_by="session"), "host_session_id", "team") == {
        first.pk: ["a", "one"],
        second.pk: ["b", "two"],
    }
    models = by_key(ask("admin_key", TOTALS, group_by="model"), "calls", "cost_usd", "cost_complete", "compactions")
    assert models == {
        "claude-sonnet-4-5": [3, "0.03", True, None],
        "acme-coder-9": [1, None, False, None],
    }
    projects = ask("admin_key", TOTALS, group_by="project").json()["results"]
    assert [(p["project"], p["team"], p["calls"]) for p in projects] == [
        ("github.com/acme/api", "one", 3),
        ("github.com/acme/api", "two", 1),
    ]


def test_totals__sums_without_a_price__are_incomplete(world: World, ask: Caller) -> None:
    session = session_in(world.one, "a")
    session.slots.update(calls=0, cost_usd=None, unpriced_calls=0)
    (row,) = ask("read_key", TOTALS).json()["results"]
    assert (row["cost_usd"], row["cost_complete"]) == (None, False)


def test_totals__demo_team__is_never_summed_with_real_ones(world: World, ask: Caller) -> None:
    session_in(world.one, "a")
    session_in(world.demo, "d")
    assert by_key(ask("admin_key", TOTALS, group_by="team"), "calls") == {"one": [1]}
    assert by_key(ask("admin_key", TOTALS, group_by="team", team="demo"), "calls") == {"demo": [1]}


def test_totals__cursor__gives_every_group_once(world: World, ask: Caller) -> None:
    session = session_in(world.one, "a")
    for day in range(1, 5):
        slot_in(session, NOW - timedelta(days=day))
    seen: list[str] = []
    address: str | None = f"{TOTALS}?group_by=day&limit=2"
    while address:
        answer = ask("read_key", address).json()
        seen += [row["day"] for row in answer["results"]]
        address = answer["next"]
    assert seen == [f"2026-11-{day}" for day in range(26, 31)]


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"tz": "Mars/Olympus"}, "bad_tz"),
        ({"tz": "/etc/localtime"}, "bad_tz"),
        ({"group_by": "week"}, "bad_group_by"),
        ({"since": "yesterday"}, "bad_since"),
        ({"until": "2026-13-01"}, "bad_until"),
        ({"until": "9999-12-31"}, "bad_until"),
        ({"since": "0001-01-01T00:00:00+14:00"}, "bad_since"),
        ({"since": "2026-11-02", "until": "2026-10-31"}, "bad_until"),
        ({"team": "elsewhere"}, "bad_team"),
        ({"cursor": "WyJ4Il0"}, "bad_cursor"),
    ],
)
def test_totals__parameter_that_means_nothing__is_refused_by_name(
    world: World, ask: Caller, parameters: dict[str, str], code: str
) -> None:
    answer = ask("read_key", TOTALS, **parameters)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert answer.json()["pointer"] == code.removeprefix("bad_")
    assert len(answer.json()["detail"]) > 20


def test_totals__more_rows__take_no_more_queries(world: World, ask: Caller) -> None:
    counts = []
    for size in (1, 8):
        for number in range(size):
            session_in(world.one, f"{size}-{number}", at=NOW - timedelta(days=number))
        ask("read_key", TOTALS)
        with CaptureQueriesContext(connection) as queries:
            ask("read_key", TOTALS, group_by="session", team="one")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 3
