"""Copilot's events, hooks and store rows as feeds: nothing of what was said is kept, damage costs its line alone."""

import json
import random
from typing import Any

import msgspec
import pytest

from sessions_app.feeds import copilot_hooks, copilot_store, copilot_transcript
from sessions_app.feeds.base import Context, Feed
from sessions_app.feeds.husk import husk
from sessions_app.kernel.readings import CallReading, CompactionReading, MarkReading, encode
from tests.feeds_live.test_damage import damaged
from tests.support import copilot
from tests.support.copilot import counts, line
from tests.support.inputs import NOW_MS

CANARIES = ("the launch is on Tuesday", "/home/ann/plans/launch.md", "sk-ant-api03-canary")
OWNED = Context(NOW_MS, session="s")
#: Every place of the events that holds what was said, written or shown.
EVENTS = (
    ("user.message", {"content": "@", "transformedContent": "@", "attachments": ["@"]}),
    ("assistant.message", {"messageId": "m", "content": "@", "reasoningText": "@", "toolRequests": [{"name": "@"}]}),
    ("tool.execution_start", {"toolCallId": "t", "toolName": "@", "arguments": {"command": "@", "@": 1}}),
    ("tool.execution_complete", {"toolCallId": "t", "result": {"content": "@", "detailedContent": "@"}}),
    ("tool.execution_complete", {"toolCallId": "t", "error": {"message": "@"}}),
    ("session.start", {"sessionId": "s", "context": {"cwd": "/srv/app", "gitRoot": "@", "repository": "@"}}),
    ("session.compaction_complete", {"success": True, "summaryContent": "@", "checkpointPath": "@", "error": "@"}),
    ("session.shutdown", {"codeChanges": {"filesModified": ["@"]}, "modelMetrics": {"@": {"requests": 1}}}),
    ("session.usage_record", {"usage": {"model": "@", "inputTokens": 1, "apiEndpoint": "@", "toolCounts": {"@": 1}}}),
    ("session.error", {"message": "@", "stack": "@"}),
    ("subagent.started", {"toolCallId": "t", "agentName": "@", "agentDescription": "@"}),
    ("hook.start", {"input": {"prompt": "@"}}),
    ("system.message", {"content": "@"}),
)


@pytest.mark.parametrize("canary", CANARIES)
def test_events__content_anywhere__is_not_kept(canary: str) -> None:
    for kind, data in EVENTS:
        text = json.dumps(line(1, kind, **data)).replace("@", canary)
        assert canary not in str(copilot_transcript.FEED.parse(text.encode(), OWNED)), kind


@pytest.mark.parametrize("canary", CANARIES)
def test_store_rows__content_in_any_column__is_not_kept(canary: str) -> None:
    row = {"id": 1, "session_id": "s", "summary": canary, "repository": canary, "branch": canary, "initiator": canary}
    for table in copilot_store.TABLES:
        text = json.dumps({"table": table, "row": {**row, "model": canary}}).encode()
        assert canary not in str(copilot_store.FEED.parse(text, OWNED))


def test_story__nothing_that_was_said__is_kept() -> None:
    said = ("run the checks", "seq 1", "done 4", "look around", "/home/dev", "Delegating")
    told = str(copilot_transcript.FEED.parse(copilot.events().body, OWNED))
    told += "".join(str(copilot_hooks.FEED.parse(d.body, OWNED)) for d in copilot.hooks())
    assert [words for words in said if words in told] == []


SAMPLES: tuple[tuple[Feed, list[Any]], ...] = (
    (copilot_transcript.FEED, [json.loads(text) for text in copilot.events().body.splitlines()]),
    (copilot_transcript.FEED, [line(1, kind, **data) for kind, data in EVENTS]),
    (copilot_store.FEED, [json.loads(text) for text in copilot.store().body.splitlines()]),
    (copilot_hooks.FEED, [json.loads(d.body) for d in copilot.hooks()]),
)


@pytest.mark.parametrize("seed", range(400))
def test_records__values_damaged__only_refusals(seed: int) -> None:
    rng = random.Random(seed)
    feed, samples = rng.choice(SAMPLES)
    parsed = feed.parse(json.dumps(damaged(rng.choice(samples), rng)).encode(), OWNED)
    for item in parsed.items:
        stored = msgspec.json.encode(item.husk, order="sorted")
        assert husk(item.husk) == item.husk
        assert feed.read(msgspec.json.decode(stored), Context(NOW_MS)) == item.readings
        assert all("\\u0000" not in encode(reading) and reading.session for reading in item.readings)
    assert all(r.code.isidentifier() and r.message for r in parsed.refusals)


def test_counts__no_numbers__refused_with_pointer() -> None:
    def refused(feed: Feed, record: Any) -> list[tuple[str, str]]:
        return [(r.code, r.pointer) for r in feed.parse(json.dumps(record).encode(), OWNED).refusals]

    bad = {**counts(5, 0, 0, 1), "outputTokens": -1}
    assert refused(copilot_transcript.FEED, line(1, "session.usage_record", usage=bad)) == [
        ("negative", "/data/usage/outputTokens")
    ]
    assert refused(copilot_transcript.FEED, line(1, "assistant.message", outputTokens="many")) == [
        ("not_an_integer", "/data/outputTokens")
    ]
    assert refused(copilot_store.FEED, {"table": "turns", "row": {"id": 1}}) == [("unknown_table", "/table")]
    assert refused(copilot_hooks.FEED, {"prompt": "x"}) == [("missing_session", "/sessionId")]


@pytest.mark.parametrize(
    ("payload", "event"),
    [
        ({"source": "new", "initialPrompt": "x"}, "sessionStart"),
        ({"source": "resume"}, "sessionStart"),
        ({"prompt": "x"}, "userPromptSubmitted"),
        ({"toolName": "bash", "toolArgs": {}}, "preToolUse"),
        ({"toolName": "bash", "toolArgs": {}, "toolResult": {}}, "postToolUse"),
        ({"toolName": "bash", "toolArgs": {}, "error": "x"}, "postToolUseFailure"),
        ({"transcriptPath": "/x", "stopReason": "end_turn"}, "agentStop"),
        ({"agentName": "explore", "stopReason": "end_turn"}, "subagentStop"),
        ({"agentName": "explore"}, "subagentStart"),
        ({"trigger": "auto", "customInstructions": ""}, "preCompact"),
        ({"reason": "complete"}, "sessionEnd"),
        ({"error": {"message": "x"}}, "errorOccurred"),
        ({"message": "x"}, ""),
    ],
)
def test_hook__without_a_name__told_by_its_keys(payload: dict[str, Any], event: str) -> None:
    assert copilot_hooks.inferred(payload) == event


def readings(payload: dict[str, Any], event: str = "") -> list[Any]:
    context = Context(NOW_MS, event=event)
    (item,) = copilot_hooks.FEED.parse(json.dumps(payload).encode(), context).items
    return list(item.readings)


def test_hook__named_by_the_address__wins_over_its_keys() -> None:
    payload = {"sessionId": "s", "timestamp": NOW_MS - 5, "reason": "complete", "trigger": "manual"}
    (compaction,) = [r for r in readings(payload, "preCompact") if isinstance(r, CompactionReading)]
    assert (compaction.trigger, compaction.received_ms) == ((0, "manual"), NOW_MS - 5)
    (mark,) = [r for r in readings(payload, "sessionEnd") if isinstance(r, MarkReading)]
    assert mark.mark == "end"


def test_hook__in_vs_codes_form__read_as_such() -> None:
    payload = {
        "session_id": "s",
        "hook_event_name": "PreCompact",
        "trigger": "auto",
        "timestamp": "2026-11-30T09:00:00Z",
    }
    (compaction,) = [r for r in readings(payload) if isinstance(r, CompactionReading)]
    assert compaction.received_ms == 1_796_029_200_000


def test_usage__parts_larger_than_the_whole__are_not_part_of_it() -> None:
    record = line(1, "session.usage_record", usage=counts(100, 90, 40, 1))
    (item,) = copilot_transcript.FEED.parse(json.dumps(record).encode(), OWNED).items
    (call,) = [r for r in item.readings if isinstance(r, CallReading)]
    assert (call.uncached_input, call.cache_read, call.write_total) == (100, 90, 40)
