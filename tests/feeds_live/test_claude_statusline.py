"""The status line: four samples of the recorded story, and what older and odd hosts send."""

import json
from typing import Any

import pytest

from sessions_app.feeds.base import Context
from sessions_app.feeds.claude_statusline import FEED
from sessions_app.feeds.husk import husk
from sessions_app.kernel.readings import MeterReading, SessionReading
from tests.feeds_live.exports import only, read, refused
from tests.support.inputs import INPUTS, NOW_MS, joined, parsed

STORY = (INPUTS / "hosts" / "claude-code-2.1.197-statusline" / "statusline.jsonl").read_bytes()
USAGE = {
    "input_tokens": 12,
    "output_tokens": 900,
    "cache_creation_input_tokens": 3_188,
    "cache_read_input_tokens": 138_000,
}


def sample(**fields: Any) -> bytes:
    base = {
        "session_id": "s",
        "version": "2.1.240",
        "cwd": "/srv/app/sub",
        "workspace": {"current_dir": "/srv/app/sub", "project_dir": "/srv/app"},
        "model": {"id": "claude-sonnet-5", "display_name": "Sonnet 5"},
        "cost": {"total_cost_usd": 1.42, "total_duration_ms": 910_000},
        "context_window": {"context_window_size": 1_000_000, "total_input_tokens": 141_200, "current_usage": USAGE},
    }
    return json.dumps({**base, **fields}).encode()


def test_story__four_samples__null_usage_zero_usage() -> None:
    meters = sorted(read(FEED, STORY, MeterReading), key=lambda m: m.uptime_ms or 0)
    assert [(m.occupancy, m.window, m.uptime_ms, m.host_cost_nanousd) for m in meters] == [
        (None, 200_000, 363, 0),
        (153_604, 200_000, 6_883, 1_271_997_000),
        (0, 200_000, 47_229, 1_356_729_000),
        (28_505, 200_000, 52_343, 1_428_819_000),
    ]
    last = meters[-1]
    assert (last.uncached_input, last.cache_read, last.write_total, last.output) == (5, 24_000, 4_500, 90)
    assert last.model == (52_343, "claude-sonnet-4-5")


def test_story__line_by_line_backwards_and_again__same_readings() -> None:
    lines = STORY.splitlines()
    outcomes = [FEED.parse(b, Context(NOW_MS + n)) for n, b in enumerate([*reversed(lines), *lines])]
    once = [FEED.parse(b, Context(NOW_MS + 3 - n)) for n, b in enumerate(lines)]

    def held(parts: list[Any]) -> Any:
        return joined(r for o in parts for i in o.items for r in i.readings)

    assert held(outcomes) == held(once)


def test_gauge__that_stands_still__one_reading_first_received_and_longest_up() -> None:
    bodies = [sample(cost={"total_cost_usd": 1.42, "total_duration_ms": ms}) for ms in (1_000, 2_000, 3_000)]
    held = joined(r for n, b in enumerate(bodies) for i in FEED.parse(b, Context(NOW_MS + n)).items for r in i.readings)
    (meter,) = [r for r in held.values() if isinstance(r, MeterReading)]
    assert (meter.received_ms, meter.uptime_ms) == (NOW_MS, 3_000)


def test_usage__of_a_host_that_sums_the_session_elsewhere__current_usage_counts() -> None:
    window = {"context_window_size": 200_000, "total_input_tokens": 9_876_543, "current_usage": USAGE}
    assert only(FEED, sample(version="2.1.80", context_window=window), MeterReading).occupancy == 141_200
    del window["current_usage"]
    assert only(FEED, sample(version="2.1.40", context_window=window), MeterReading).occupancy is None


@pytest.mark.parametrize(
    ("workspace", "name", "is_strong"),
    [
        ({"project_dir": "/srv/app"}, "app", False),
        ({"repo": {"host": "git.example.org", "owner": "team", "name": "app"}}, "git.example.org/team/app", True),
        ({"project_dir": "/srv/app", "repo": {"host": "git.example.org", "owner": "team"}}, "app", False),
        ({"project_dir": "/srv/app", "repo": {"host": "../etc", "owner": "a b", "name": "\x00"}}, "app", False),
        ({}, "sub", False),
        (7, "sub", False),
    ],
)
def test_project__repository_over_folder(workspace: Any, name: str, is_strong: bool) -> None:
    project = only(FEED, sample(workspace=workspace), SessionReading).project
    assert project is not None
    assert (project[1], project[0] >= 1 << 46) == (name, is_strong)


def test_rate_limits__in_permille_where_they_are_told() -> None:
    limits = {"five_hour": {"used_percentage": 22.5, "resets_at": 1_796_050_000}, "seven_day": {"used_percentage": "x"}}
    meter = only(FEED, sample(rate_limits=limits), MeterReading)
    assert (meter.five_hour_permille, meter.seven_day_permille) == (225, None)


@pytest.mark.parametrize(
    ("fields", "pointer", "code"),
    [
        ({"session_id": 5}, "/session_id", "missing_session"),
        (
            {"context_window": {"current_usage": {"input_tokens": -1}}},
            "/context_window/current_usage/input_tokens",
            "negative",
        ),
        ({"context_window": {"context_window_size": "big"}}, "/context_window/context_window_size", "not_an_integer"),
        ({"cost": {"total_cost_usd": "free"}}, "/cost/total_cost_usd", "not_a_number"),
    ],
)
def test_sample__with_a_bad_value__refused_by_pointer(fields: dict[str, Any], pointer: str, code: str) -> None:
    assert refused(parsed(FEED, sample(**fields))) == [(1, pointer, code)]
    wrapped = json.dumps({"received_at": 1_796_077_195.6, "payload": json.loads(sample(**fields))}).encode()
    assert refused(parsed(FEED, wrapped)) == [(1, f"/payload{pointer}", code)]


def test_sample__in_the_envelope_of_a_spool__received_when_it_says() -> None:
    wrapped = json.dumps({"received_at": 1_796_077_195.602, "payload": json.loads(sample())}).encode()
    assert only(FEED, wrapped, MeterReading).received_ms == 1_796_077_195_602


def test_husk__of_a_sample__is_its_own_and_holds_no_path() -> None:
    repo = {"host": "git.example.org", "owner": "team", "name": "app"}
    body = sample(workspace={"project_dir": "/srv/app", "repo": repo}, session_name="Rescue the launch")
    (item,) = parsed(FEED, body).items
    assert husk(item.husk) == item.husk
    assert FEED.read(json.loads(json.dumps(item.husk)), Context(NOW_MS)) == item.readings
    assert not [word for word in ("/srv", "Rescue", "Sonnet 5") if word in str(item)]
