"""Faults of the field, each through feed, ingest, database and fold, at the values of `expected.json`."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from sessions_app.models import Call, Compaction, Session, Team
from sessions_app.services import prices
from sessions_app.services.ingest import Receipt
from sessions_app.services.projecting import exact
from tests.support import deliveries as given
from tests.support.deliveries import Delivery
from tests.support.pins import PINS

TRAPS = given.INPUTS / "traps"
EXPECTED: dict[str, dict[str, Any]] = json.loads((TRAPS / "expected.json").read_text())
FEED_OF = {
    "claude_transcript": "claude-code-transcript",
    "hook_payloads": "claude-code-hook",
    "codex_rollout": "codex-transcript",
    "copilot_events": "copilot-transcript",
    "opencode_messages": "opencode-transcript",
    "litellm_callback": "litellm-proxy",
    "otlp_logs": "any-otlp-logs",
    "otlp_metrics": "any-otlp-metrics",
    "otlp_traces": "any-otlp-traces",
}
SUMS = ("uncached_input", "cache_read", "cache_write_5m", "cache_write_1h", "output", "compactions")


def feed_of(trap: dict[str, Any], name: str) -> str | None:
    kind = trap.get("formats", {}).get(name, trap["format"])
    if kind == "mixed":
        kind = "hook_payloads" if ".hooks." in name else "claude_transcript"
    return FEED_OF.get(kind)


CASES = sorted(
    key for key, trap in EXPECTED.items() if trap["files"] and all(feed_of(trap, name) for name in trap["files"])
)


@pytest.fixture
def pinned(db: None) -> None:
    """The prices of conventions.json, not anybody's list."""
    prices.seed(prices=PINS, source="test pins")


def bodies(name: str, feed: str) -> list[bytes]:
    body = (TRAPS / name).read_bytes()
    return body.splitlines() if not feed.endswith("-transcript") and name.endswith(".jsonl") else [body]


def post(trap: dict[str, Any], teams: dict[str, Team]) -> list[Receipt]:
    receipts: list[Receipt] = []
    for name in trap["files"]:
        team = teams[trap["expectation"].get("projects", trap.get("projects", {})).get(name, "A")]
        feed = feed_of(trap, name)
        assert feed is not None
        receipts += given.deliver(team, [Delivery(feed, body) for body in bodies(name, feed)], final=True)
    given.fold_everything()
    return receipts


@pytest.mark.parametrize("key", CASES)
@pytest.mark.usefixtures("pinned")
def test_trap__through_the_whole_path__expected_values(
    key: str, teams: dict[str, Team], record_property: Callable[[str, object], None]
) -> None:
    trap = EXPECTED[key]
    record_property("feed", feed_of(trap, trap["files"][0]))
    record_property("case", "5 traps")
    receipts = post(trap, teams)
    wanted = trap["expectation"]
    sessions = list(Session.objects.all())
    check_sums(sessions, wanted)
    if "errors" in wanted and key != "T10":
        assert sum(len(r.refused) for r in receipts) == wanted["errors"]
    if "warnings" in wanted:
        assert sum(len(s.warnings) for s in sessions) == wanted["warnings"]
    check_context(sessions, wanted)
    check_money(sessions, wanted)
    check_splits(sessions, wanted)


def check_sums(sessions: list[Session], wanted: dict[str, Any]) -> None:
    assert len(sessions) == wanted["sessions"]
    for name in SUMS:
        assert sum(getattr(s, name) for s in sessions) == wanted[name], name
    for name, column in (("turns", "calls"), ("aux_calls", "aux_calls"), ("subagent_turns", "subagent_calls")):
        if wanted.get(name) is not None:
            assert sum(getattr(s, column) for s in sessions) == wanted[name], name


def check_context(sessions: list[Session], wanted: dict[str, Any]) -> None:
    zones = list(Call.objects.exclude(zone="").order_by("session_id", "number").values_list("zone", flat=True))
    if "zones" in wanted:
        assert zones == wanted["zones"]
    if "window" in wanted:
        assert [s.window for s in sessions] == [wanted["window"]]
    if "last_occupancy" in wanted:
        assert [s.last_occupancy for s in sessions] == [wanted["last_occupancy"]]
    if "current_zone_allowed" in wanted:
        assert sessions[0].zone in wanted["current_zone_allowed"]
    if "microcompactions" in wanted:
        assert Compaction.objects.filter(kind="micro").count() == wanted["microcompactions"]
    for name, state in (
        ("compaction_attempts", "attempt"),
        ("incomplete_compactions", "attempt"),
        ("inferred_compactions", "inferred"),
    ):
        if name in wanted:
            assert Compaction.objects.filter(state=state).count() == wanted[name], name
    if "pre_tokens" in wanted:
        assert [c.before_by_telemetry for c in Compaction.objects.all()] == wanted["pre_tokens"]
    for trigger, count in wanted.get("by_trigger", {}).items():
        assert Compaction.objects.filter(trigger=trigger, state="completed").count() == count


def check_money(sessions: list[Session], wanted: dict[str, Any]) -> None:
    if "cost_usd" in wanted:
        assert [exact(s.cost_usd) for s in sessions] == [wanted["cost_usd"]]
    if "cost_complete" in wanted:
        assert [s.cost_complete for s in sessions] == [wanted["cost_complete"]]
    if "unpriced_turns" in wanted:
        assert sum(s.unpriced_calls for s in sessions) == wanted["unpriced_turns"]


def check_splits(sessions: list[Session], wanted: dict[str, Any]) -> None:
    for name, expected in wanted.get("by_session", {}).items():
        session = next(s for s in sessions if s.host_session_id == name)
        assert (session.calls, session.output) == (expected["turns"], expected["output"])
    for name, expected in wanted.get("by_model", {}).items():
        calls = [c for c in Call.objects.all() if c.model == name]
        assert {key: sum(getattr(c, key) for c in calls) for key in expected} == expected
    for zone, days in wanted.get("by_day", {}).items():
        found: dict[str, list[int]] = {}
        for call in Call.objects.all():
            day = found.setdefault(f"{call.started_at.astimezone(ZoneInfo(zone)):%Y-%m-%d}", [0, 0])
            day[0] += call.uncached_input
            day[1] += call.output
        assert found == days
    if "subagent_threads" in wanted:
        assert sum(s.threads - 1 for s in sessions) == wanted["subagent_threads"]
    for slug, expected in wanted.get("by_project", {}).items():
        team = [s for s in sessions if s.team.slug == slug.lower()]
        assert (len(team), sum(s.uncached_input for s in team), sum(s.output for s in team)) == (
            expected["sessions"],
            expected["uncached_input"],
            expected["output"],
        )
    if "models" in wanted:
        assert {normal(c.model) for c in Call.objects.all()} == set(wanted["models"])


def normal(model: str) -> str:
    """The name by which a model is priced."""
    from sessions_app.kernel.names import normalise

    return normalise(model)


@pytest.mark.usefixtures("pinned")
def test_trap__t10_half_a_line__pending_and_no_error(teams: dict[str, Team]) -> None:
    part = (TRAPS / "T10.part1.jsonl").read_bytes()
    (receipt,) = given.deliver(teams["A"], [Delivery("claude-code-transcript", part)])
    given.fold_everything()
    session = Session.objects.get()
    wanted = EXPECTED["T10"]["expectation"]["after_part1"]
    assert (session.calls, len(receipt.refused), session.output) == (
        wanted["turns"],
        wanted["errors"],
        wanted["output"],
    )
    assert receipt.pending_bytes > 0


@pytest.mark.usefixtures("pinned")
def test_trap__t35_dated_prices__each_call_by_the_row_of_its_time(teams: dict[str, Team]) -> None:
    post(EXPECTED["T35"], teams)
    assert list(Call.objects.order_by("cost_usd").values_list("cost_usd", flat=True)) == [Decimal(6), Decimal(8)]
