"""Rollouts of Codex as a feed: nothing of what was said is kept, damage costs the damaged line alone."""

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from sessions_app.feeds import otlp_hosts
from sessions_app.feeds.base import Context
from sessions_app.feeds.codex_transcript import FEED
from sessions_app.feeds.husk import husk
from sessions_app.kernel.readings import CallReading, SessionReading, encode
from tests.feeds_live.test_damage import damaged
from tests.support import codex
from tests.support.codex import count, line, meta, record, used
from tests.support.inputs import NOW_MS, TRAPS

CANARIES = ("the launch is on Tuesday", "/home/ann/plans/launch.md", "sk-ant-api03-canary")
OWNED = Context(NOW_MS, session="s")
#: Every place of a rollout that holds what was said, written or shown.
PLACES = (
    ("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "@"}]}),
    ("response_item", {"type": "function_call", "name": "@", "call_id": "c", "arguments": "@"}),
    ("response_item", {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c", "input": "@"}),
    ("response_item", {"type": "function_call_output", "call_id": "c", "output": {"content": "@"}}),
    ("response_item", {"type": "local_shell_call", "call_id": "c", "action": {"command": ["@"]}}),
    ("event_msg", {"type": "user_message", "message": "@", "images": ["@"]}),
    ("event_msg", {"type": "task_complete", "last_agent_message": "@", "turn_id": "t"}),
    ("event_msg", {"type": "item_completed", "item": {"type": "UserMessage", "content": "@"}}),
    ("event_msg", {"type": "error", "message": "@", "reason": "@"}),
    ("event_msg", {"type": "thread_settings_applied", "thread_settings": {"model": "@", "cwd": "@"}}),
    ("compacted", {"message": "@", "replacement_history": [{"type": "message", "content": "@", "summary": "@"}]}),
    ("turn_context", {"cwd": "/srv/@", "model": "gpt-5", "user_instructions": "@", "summary": "@"}),
    ("session_meta", {"id": "s", "base_instructions": {"text": "@"}, "instructions": "@", "agent_nickname": "@"}),
    ("session_meta", {"id": "s", "source": {"subagent": {"other": "@", "thread_spawn": {"agent_path": "@"}}}}),
    ("token_usage_record", {"response_id": "r", "usage": {"input_tokens": 1, "@": "@"}, "@": "@"}),
    ("world_state", {"state": {"agents_md": {"text": "@"}}}),
)


@pytest.mark.parametrize("canary", CANARIES)
def test_line__content_anywhere__is_not_kept(canary: str) -> None:
    for kind, payload in PLACES:
        text = json.dumps(line(1, kind, **payload)).replace("/srv/@", "/srv/app").replace("@", canary)
        assert canary not in str(FEED.parse(text.encode(), OWNED)), kind


def test_story__nothing_that_was_said__is_kept() -> None:
    parsed = FEED.parse(codex.rollout().body, Context(NOW_MS))
    assert not parsed.refusals
    assert [
        said for said in ("run the checks", "carry on", "done 2", "echo hello", "/home/dev") if said in str(parsed)
    ] == []


def test_story__telemetry__nothing_that_was_said_is_kept() -> None:
    told = "".join(str(otlp_hosts.LOGS.parse(d.body, Context(NOW_MS))) for d in codex.logs())
    assert "conversation.id" in told
    assert [said for said in ("REDACTED", "echo hello", "Wall time", "danger-full-access") if said in told] == []


def samples() -> list[dict[str, Any]]:
    bodies = [codex.rollout().body, *(path.read_bytes() for path in sorted(TRAPS.glob("T5*.jsonl")))]
    return [
        json.loads(text)
        for body in bodies
        for text in body.splitlines()
        if b'"session_meta"' in text or b"token" in text
    ]


@pytest.mark.parametrize("seed", range(400))
def test_line__values_damaged__only_refusals_and_neighbours_count(seed: int) -> None:
    rng = random.Random(seed)
    good = json.dumps(record(5, "resp_good", used(100))).encode()
    bad = json.dumps(damaged(rng.choice(samples()), rng)).encode()
    parsed = FEED.parse(good + b"\n" + bad + b"\n", OWNED)
    assert [r.key for r in parsed.items[0].readings if isinstance(r, CallReading)] == ["resp_good"]
    for item in parsed.items:
        stored = msgspec.json.encode(item.husk, order="sorted")
        assert husk(item.husk) == item.husk
        assert FEED.read(msgspec.json.decode(stored), Context(NOW_MS)) == item.readings
        for reading in item.readings:
            assert "\\u0000" not in encode(reading)
            assert reading.session
    assert all(r.position == 2 and r.code.isidentifier() and r.message for r in parsed.refusals)


def refusals(*payload: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for one in payload:
        yield from ((r.code, r.pointer) for r in FEED.parse(json.dumps(one).encode(), OWNED).refusals)


def test_counts__no_numbers__refused_with_pointer() -> None:
    lines = (
        record(5, "r", {**used(5), "output_tokens": -1}),
        count(5, used(5), {**used(5), "cached_input_tokens": True}),
        count(5, {**used(5), "input_tokens": 1.5}, used(5)),
        line(5, "event_msg", type="token_count", info={"last_token_usage": 7}),
    )
    assert list(refusals(*lines)) == [
        ("negative", "/payload/usage/output_tokens"),
        ("not_an_integer", "/payload/info/last_token_usage/cached_input_tokens"),
        ("not_an_integer", "/payload/info/total_token_usage/input_tokens"),
        ("not_an_object", "/payload/info/last_token_usage"),
    ]


def test_parts_larger_than_the_whole__are_not_part_of_it() -> None:
    usage = {**used(100, 90), "cache_write_input_tokens": 40}
    (item,) = FEED.parse(json.dumps(record(5, "r", usage)).encode(), OWNED).items
    (call,) = [r for r in item.readings if isinstance(r, CallReading)]
    assert (call.uncached_input, call.cache_read, call.write_total) == (100, 90, 40)


@pytest.mark.parametrize(
    ("first", "owner"),
    [
        (meta("t1"), ("t1", "")),
        (meta("t1", session_id="t1"), ("t1", "")),
        (meta("t1", session_id="root"), ("root", "t1")),
        (meta("t1", source={"subagent": {"thread_spawn": {"parent_thread_id": "root"}}}), ("root", "t1")),
        (meta("t1", source={"subagent": "review"}, parent_thread_id="root"), ("root", "t1")),
        (meta("t1", source={"subagent": "review"}), ("t1", "")),
        (meta("t1", forked_from_id="root"), ("t1", "")),
    ],
)
def test_file__first_line__says_whose_it_is(first: dict[str, Any], owner: tuple[str, str]) -> None:
    body = b"\n".join(json.dumps(one).encode() for one in (first, meta("root"), record(5, "r", used(5))))
    readings = [r for item in FEED.parse(body, Context(NOW_MS)).items for r in item.readings]
    calls = [r for r in readings if isinstance(r, CallReading)]
    assert {(r.session, r.thread[1]) for r in calls} == {owner}
    facts = [r for r in readings if isinstance(r, SessionReading) and r.version]
    assert {r.session for r in facts} == {owner[0]}


def test_reread__husks_of_an_agents_file__name_their_owner() -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "root", "depth": 2}}}
    body = b"\n".join(json.dumps(one).encode() for one in (meta("t1", source=spawned), record(5, "r", used(5))))
    for item in FEED.parse(body, Context(NOW_MS)).items:
        assert FEED.read(item.husk, replace(OWNED, session="other")) == item.readings
