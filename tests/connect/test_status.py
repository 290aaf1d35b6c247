"""The status line: theirs first, ours behind it, never late, and nothing old shown as current."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.connect.client import Home, closed_port, ok, server, timed
from tests.connect.test_hook import payload, samples, wait_until


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def live(seconds: float, price: str | None = "0.358") -> bytes:
    """An answer that says how long the cache lives."""
    expires = (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
    cache = {"expires_at": expires, "cold_costs_usd": price}
    return ok(json.dumps({"answer": "", "live": {"cache": cache}}).encode())


def shown_after(home: Home, answer: bytes, number: int = 1) -> str:
    """What the line says of a recorded sample once a hook has brought the live state."""
    sample = json.loads(samples()[number])
    with server(answer) as border:
        home.configure(border.url)
        home.run("hook", "claude-code", given=payload(home, session_id=sample["session_id"]))
        return home.run("status", given=json.dumps(sample)).stdout


def test_status__cache_warm__the_time_left_and_its_price(home: Home) -> None:
    assert re.search(r"cache warm 3:\d\d, cold costs \$0\.36", shown_after(home, live(230)))


def test_status__less_than_a_minute__said_as_going_cold(home: Home) -> None:
    assert re.search(r"cache cold in 0:\d\d, cold costs", shown_after(home, live(40)))


def test_status__cache_gone__cold(home: Home) -> None:
    assert "│ cache cold │" in shown_after(home, live(-5))


def test_status__no_price_known__no_price_said(home: Home) -> None:
    assert "cold costs" not in shown_after(home, live(230, None))


def test_status__right_after_a_compaction__neither_occupancy_nor_cache(home: Home) -> None:
    said = shown_after(home, live(230), number=2)
    assert "● ? until the next call" in said
    assert "cache" not in said
    assert "%" not in said


@pytest.mark.parametrize("cache", [None, [], {"expires_at": 5}, {"expires_at": "soon"}, {"expires_at": "2026"}])
def test_status__live_state_of_another_kind__the_rest_is_shown(cache: Any, home: Home) -> None:
    said = shown_after(home, ok(json.dumps({"live": {"cache": cache}}).encode()))
    assert "153.6k · 76% of 200k RED" in said


def test_status__their_command_hangs__ours_comes_all_the_same(home: Home) -> None:
    outcome, seconds = timed(lambda: home.run("status", "--", "sleep 60 & sleep 60; echo late", given=samples()[1]))
    assert "RED" in outcome.stdout
    assert "late" not in outcome.stdout
    assert seconds < 10


def test_status__their_command__gets_the_same_input_and_keeps_its_colours(home: Home) -> None:
    outcome = home.run("status", "--", r"printf '\033[31m'; cat | wc -c; exit 7", given=samples()[1])
    assert outcome.stdout.startswith(f"\x1b[31m{len(samples()[1])}\x1b[0m │ ●")
    assert outcome.returncode == 0


def test_status__words_instead_of_a_line__run_as_they_are(home: Home) -> None:
    assert home.run("status", "--", "printf", "%s|", "a b", given=samples()[1]).stdout.startswith("a b| │ ●")


def test_status__no_line_of_theirs__folder_and_branch_in_front(home: Home) -> None:
    project = home.folder / "acme-api"
    (project / ".git").mkdir(parents=True)
    (project / ".git" / "HEAD").write_text("ref: refs/heads/feat/login\n")
    sample = {**json.loads(samples()[1]), "workspace": {"project_dir": str(project)}}
    assert home.run("status", given=json.dumps(sample)).stdout.startswith("acme-api feat/login │ ●")


def test_status__server_away__the_sample_goes_with_the_next_hook_and_its_own_time(home: Home) -> None:
    sample = json.loads(samples()[1])
    home.configure(closed_port())
    home.run("status", given=json.dumps(sample))
    before = datetime.now(UTC).timestamp()
    with server() as border:
        home.configure(border.url)
        home.run("hook", "claude-code", given=payload(home, session_id=sample["session_id"]))
        wait_until(lambda: border.bodies)
        (kept,) = border.bundles[0]["status"]
    assert kept["received_at"] <= before
    assert kept["payload"]["context_window"]["current_usage"]["cache_creation_input_tokens"] == 153_600
