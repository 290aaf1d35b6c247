"""Hooks: what they tell of the recorded story, how they are named, and what is no agent and no attempt."""

import json
from typing import Any

import pytest

from sessions_app.feeds.base import Context
from sessions_app.feeds.claude_hooks import FEED, reduce
from sessions_app.feeds.husk import husk
from sessions_app.kernel.readings import (
    CompactionReading,
    Mark,
    MarkReading,
    Reading,
    SessionReading,
    Signal,
    StepsReading,
    ToolSize,
)
from tests.feeds_live.exports import read, refused
from tests.support.inputs import NOW_MS, STORY, TRAPS, joined, parsed, readings_of

SPOOL = (STORY / "hooks.jsonl").read_bytes()
PAYLOADS = [json.loads(line)["payload"] for line in SPOOL.splitlines()]
SESSION = "eb347c87-64e2-4c4e-bfb1-f72eb54605cc"


def payload(event: str, **fields: Any) -> bytes:
    return json.dumps({"session_id": "s", "cwd": "/srv/app", "hook_event_name": event, **fields}).encode()


def story() -> list[Reading]:
    return list(readings_of(FEED, [SPOOL]).values())


def marks(readings: list[Reading]) -> list[tuple[Mark, str]]:
    found = [r for r in readings if isinstance(r, MarkReading)]
    ordered = sorted(found, key=lambda r: (r.received_ms or 0, r.key))
    return [(r.mark, r.detail[1] if r.detail else "") for r in ordered]


def test_story__marks__in_order_and_without_the_summariser() -> None:
    assert marks(story()) == [
        (Mark.START, "startup"),
        (Mark.PROMPT, ""),
        (Mark.AGENT_START, ""),
        (Mark.AGENT_STOP, ""),
        (Mark.STOP, ""),
        (Mark.END, "other"),
        # The second resume equals the first and has no id of its own: one mark.
        (Mark.START, "resume"),
        (Mark.START, "compact"),
        (Mark.END, "other"),
        (Mark.PROMPT, ""),
        (Mark.STOP, ""),
        (Mark.END, "other"),
    ]


def test_story__compaction__three_signals_with_one_prompt() -> None:
    found = [r for r in story() if isinstance(r, CompactionReading)]
    assert {r.signal for r in found} == {Signal.PRE_HOOK, Signal.START_HOOK, Signal.POST_HOOK}
    assert {r.prompt_id for r in found} == {(0, "a0d512ed-0d1a-4e26-9ff2-913dedb421cc")}
    assert {r.trigger for r in found if r.signal is not Signal.START_HOOK} == {(0, "manual")}
    assert {r.thread for r in found} == {(0, "")}
    assert all(r.at_ms is None and r.received_ms for r in found)


def test_story__session__folder_model_and_agent_but_no_clock() -> None:
    (fact,) = [r for r in story() if isinstance(r, SessionReading)]
    assert fact.project is not None
    assert (fact.project[1], fact.model) == ("acme-api", (0, "claude-sonnet-4-5"))
    assert fact.agents == {"a0d10d8256c788f5f": "general-purpose"}
    assert (fact.first_ms, fact.last_ms, fact.received_ms) == (None, None, 1_796_077_195_602)


def test_story__tools__every_result_once_with_its_size() -> None:
    sizes: dict[str, ToolSize] = {}
    for reading in story():
        if isinstance(reading, StepsReading):
            sizes |= reading.tools
    used = {p["tool_use_id"]: p for p in PAYLOADS if p["hook_event_name"] == "PostToolUse"}
    assert set(sizes) == set(used)
    for use, size in sizes.items():
        assert size.result_bytes == len(json.dumps(used[use]["tool_response"], separators=(",", ":")))
        assert (size.name, size.failed, size.thread) == (used[use]["tool_name"], 0, "")


def test_story__posted_again_later__nothing_changes() -> None:
    bodies = [json.dumps(p).encode() for p in PAYLOADS]
    first = [FEED.parse(b, Context(NOW_MS + n)) for n, b in enumerate(bodies)]
    again = [FEED.parse(b, Context(NOW_MS + 600_000 + n)) for n, b in enumerate(bodies)]

    def held(*outcomes: Any) -> Any:
        found = joined(r for o in outcomes for i in o.items for r in i.readings)
        # A tool result stands in the minute of its receipt; there it is the same tool use.
        return {name: reading for name, reading in found.items() if name[0] != "steps"}

    assert held(*first, *again) == held(*first)


def test_payload__husked_by_a_client__same_readings() -> None:
    for body in PAYLOADS:
        own = FEED.parse(json.dumps(body).encode(), Context(NOW_MS))
        sent = FEED.parse(json.dumps(reduce(body)).encode(), Context(NOW_MS))
        assert [i.readings for i in sent.items] == [i.readings for i in own.items]
        assert husk(own.items[0].husk) == own.items[0].husk


@pytest.mark.parametrize("shape", ["lines", "list", "one each"])
def test_t80__three_equal_intentions_without_prompt__three_attempts(shape: str) -> None:
    lines = (TRAPS / "T80.jsonl").read_bytes().splitlines()
    bodies = {"lines": [b"\n".join(lines)], "list": [b"[" + b",".join(lines) + b"]"], "one each": lines}[shape]
    outcomes = [FEED.parse(b, Context(NOW_MS + n)) for n, b in enumerate(bodies)]
    items = [i for o in outcomes for i in o.items]
    held = joined(r for i in items for r in i.readings)
    attempts = [r for r in held.values() if isinstance(r, CompactionReading)]
    assert [a.signal for a in attempts] == [Signal.PRE_HOOK] * 3
    again = [r for i in items for r in FEED.read(i.husk, Context(NOW_MS))]
    if shape != "one each":
        assert joined(again) == held


def test_t82__hooks_without_a_compaction__none_is_made_up() -> None:
    held = list(readings_of(FEED, [(TRAPS / "T82.hooks.jsonl").read_bytes()]).values())
    assert [r for r in held if isinstance(r, CompactionReading)] == []
    assert sorted(m for m, _ in marks(held)) == [Mark.PROMPT, Mark.START, Mark.STOP]


def test_precompact__twice_within_one_prompt__one_attempt() -> None:
    body = payload("PreCompact", trigger="auto", prompt_id="p")
    held = joined(
        r for at in (NOW_MS, NOW_MS + 5) for i in FEED.parse(body, Context(at)).items for r in i.readings
    ).values()
    assert len([r for r in held if isinstance(r, CompactionReading)]) == 1


@pytest.mark.parametrize("event", ["SubagentStart", "SubagentStop"])
def test_agent__without_a_type__is_the_summariser_and_no_agent(event: str) -> None:
    body = payload(event, agent_id="a1", agent_type="", prompt_id="p")
    assert read(FEED, body, MarkReading) == []
    (fact,) = read(FEED, body, SessionReading)
    assert fact.agents == {}


def test_tool__failed__size_of_the_error_and_thread_of_the_agent() -> None:
    fields = {"tool_use_id": "t1", "tool_name": "Bash", "tool_input": {"command": "x"}, "error": "no such file"}
    (steps,) = read(FEED, payload("PostToolUseFailure", agent_id="a1", **fields), StepsReading)
    size = steps.tools["t1"]
    assert (size.failed, size.result_bytes, size.thread, size.at_ms) == (1, 12, "a1", NOW_MS)
    assert steps.key == str(NOW_MS // 60_000)


@pytest.mark.parametrize(
    ("tool", "given", "externalizes"),
    [
        ("memory", {"command": "create", "path": "/memories/x", "file_text": "t"}, True),
        ("memory", {"command": "view", "path": "/memories"}, False),
        ("mcp__crystalium__commit", {"text": "t"}, True),
        ("Write", {"file_path": "/srv/app/a"}, False),
    ],
)
def test_tool__that_writes_to_memory__externalizes(tool: str, given: dict[str, str], externalizes: bool) -> None:
    body = payload("PostToolUse", tool_use_id="t1", tool_name=tool, tool_input=given, tool_response={"ok": True})
    found = [m.key for m in read(FEED, body, MarkReading) if m.mark is Mark.EXTERNALIZE]
    assert found == (["t1"] if externalizes else [])


def test_stop_failure__names_the_failure_but_not_what_was_said() -> None:
    (mark,) = read(FEED, payload("StopFailure", error="rate_limit", error_details="d"), MarkReading)
    assert (mark.mark, mark.detail) == (Mark.API_ERROR, (0, "rate_limit"))
    (mark,) = read(FEED, payload("StopFailure", error="Secret-Plan"), MarkReading)
    assert mark.detail is None
    assert "Secret" not in str(parsed(FEED, payload("StopFailure", error="Secret-Plan")).items)


@pytest.mark.parametrize("event", ["FileChanged", "NeverHeardOf", ""])
def test_event__unknown__only_the_session_is_noted(event: str) -> None:
    (item,) = parsed(FEED, payload(event)).items
    assert [r.kind for r in item.readings] == ["session"]


def test_event__named_by_the_address__when_the_payload_does_not() -> None:
    body = json.dumps({"session_id": "s", "trigger": "auto"}).encode()
    (item,) = FEED.parse(body, Context(NOW_MS, event="PreCompact")).items
    assert [r.kind for r in item.readings] == ["compaction", "session"]


@pytest.mark.parametrize("session", [None, "", 5, ["s"], {"a": 1}, True])
def test_session__missing_or_no_text__refused_by_pointer(session: Any) -> None:
    body = json.dumps({"session_id": session, "hook_event_name": "Stop"}).encode()
    assert refused(parsed(FEED, body)) == [(1, "/session_id", "missing_session")]
    wrapped = json.dumps({"received_at": 1_796_077_195.6, "payload": json.loads(body)}).encode()
    assert refused(parsed(FEED, wrapped)) == [(1, "/payload/session_id", "missing_session")]


def test_body__a_bad_line_among_good_ones__costs_itself_alone() -> None:
    body = b"\n".join([payload("Stop"), b"{torn", payload("SessionEnd"), b"7"])
    outcome = parsed(FEED, body, final=False)
    assert refused(outcome) == [(2, "", "not_json"), (4, "", "not_an_object")]
    assert [i.position for i in outcome.items] == [1, 3]


def test_body__one_payload_over_several_lines__is_one() -> None:
    assert len(parsed(FEED, json.dumps(json.loads(payload("Stop")), indent=2).encode()).items) == 1


@pytest.mark.parametrize("size", [{"~bytes": 9}, {"session_id": "s", "~bytes": 9}])
def test_hook__that_claims_to_be_reduced_already__no_exception(size: dict[str, Any]) -> None:
    payload = {"session_id": "s", "hook_event_name": "PostToolUse", "tool_input": {"a": 1}, **size}
    for record in (payload, {"received_at": 1, "payload": payload, **size}):
        parsed(FEED, json.dumps(record).encode())
