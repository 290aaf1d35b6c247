"""What was said or touched is in no husk, no reading and no refusal, wherever a sender puts it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from sessions_app.feeds.base import Context, Parsed, Refused
from sessions_app.feeds.registry import FEEDS
from tests.feeds_live.exports import attributes, log, logs, point, points
from tests.feeds_live.test_canonical import CALL
from tests.feeds_live.test_damage import SAMPLES
from tests.support.inputs import NOW_MS

#: Every form that content takes: a sentence, a path, a key of a provider.
CANARIES = ("the launch is on Tuesday", "/home/ann/plans/launch.md", "sk-ant-api03-canary")
#: What the recorded story says and touches.
SAID = ("run the checks", "keep decisions", "carry on", "done 8", "seq 1", "/home/dev", "xterm")


def outcome(name: str, body: bytes) -> str:
    try:
        parsed: Parsed | str = FEEDS[name].parse(body, Context(NOW_MS))
    except Refused as refused:
        return f"{refused.code} {refused.pointer} {refused.message}"
    return str(parsed)


@pytest.mark.parametrize("name", SAMPLES)
def test_story__nothing_that_was_said__is_kept(name: str) -> None:
    for sample in SAMPLES[name]:
        told = outcome(name, json.dumps(sample).encode())
        assert [canary for canary in SAID if canary in told] == []


#: Ids keep unusual words as a hash, folders their last part; all other names keep content nowhere.
NAMES = (
    "prompt response text message content input output error summary title note description args body command"
    " custom_instructions compact_summary last_assistant_message tool_input tool_response file_path transcript_path"
    " session_name effort agent_type tool_name source reason model permission_mode"
).split()


@pytest.mark.parametrize("canary", CANARIES)
@pytest.mark.parametrize("name", ["claude-code-hook", "claude-code-statusline", "canonical", "codex-hook"])
def test_record__content_under_any_key__is_not_kept(name: str, canary: str) -> None:
    for key in NAMES:
        for value in (canary, [canary], {"text": canary}, [{"text": canary, "type": "text"}], {canary: 1}):
            base: dict[str, Any] = {**CALL} if name == "canonical" else {"session_id": "s", "hook_event_name": "Stop"}
            told = outcome(name, json.dumps({**base, key: value}).encode())
            # A refusal or remark may repeat the name of a field, never its value.
            assert told.count(canary) == 0, key


@pytest.mark.parametrize("canary", CANARIES)
def test_telemetry__content_in_attributes_bodies_and_names__is_not_kept(canary: str) -> None:
    for body in exports(canary):
        for feed in ("claude-code-otlp-logs", "claude-code-otlp-metrics"):
            assert canary not in outcome(feed, body)


def exports(canary: str) -> Iterator[bytes]:
    for name in ("prompt", "tool_input", "error", "agent.name", "tool_name", "query_source", "speed", "model", canary):
        more: dict[str, Any] = {name: canary}
        yield logs(log("user_prompt", **more))
        yield logs(log("tool_result", tool_use_id="t", **more))
        yield logs(log(input_tokens=5, **more))
        yield points(point(5, **more))
    yield logs({**log("user_prompt"), "body": {"stringValue": canary}})
    yield logs({"body": {"stringValue": canary}, "attributes": attributes({"session.id": "s"})})
    yield logs(log(canary, input_tokens=5))
    yield logs(log(input_tokens=canary))
    yield points(point(5), name=canary)
    yield points(point(canary))


@pytest.mark.parametrize("key", ["user.email", "user.id", "user.account_uuid", "user.account_id", "organization.id"])
def test_telemetry__who_a_person_is__only_as_a_digest(key: str) -> None:
    who: dict[str, Any] = {key: "ann@example.org"}
    body = logs(log("user_prompt", **who))
    assert "ann@" not in outcome("claude-code-otlp-logs", body)


@pytest.mark.parametrize("canary", CANARIES)
def test_opencode__content_anywhere_in_a_message__is_not_kept(canary: str) -> None:
    state = {
        "status": "completed",
        "input": {"command": canary, canary: canary},
        "output": canary,
        "title": canary,
        "metadata": {"output": canary, "id": canary, "reason": canary},
        "time": {"start": 1, "end": 2, canary: 3},
    }
    parts = [
        {"type": kind, "id": "prt_1", "text": canary, "snapshot": canary, "tool": "bash", "state": state, canary: 1}
        for kind in ("text", "reasoning", "tool", "patch", "step-finish", "compaction", "file", canary)
    ]
    info = {
        "id": "msg_1",
        "sessionID": "ses_1",
        "role": "assistant",
        "path": {"cwd": canary, "root": canary},
        "error": {"name": "APIError", "data": {"message": canary}},
        "system": [canary],
        "summary": {"title": canary, "diffs": [{"file": canary, "before": canary}]},
        "tokens": {"input": 5, "output": 1, canary: 1},
        "time": {"created": 1_796_077_000_000, "completed": 1_796_077_001_000},
    }
    session = {"id": "ses_1", "title": canary, "slug": canary, "share": {"url": canary}, "permission": [canary]}
    told = outcome(
        "opencode-transcript", json.dumps({"info": session, "messages": [{"info": info, "parts": parts}]}).encode()
    )
    assert "prt_1" in told
    assert canary not in told
    for part in parts:
        event = {"type": "message.part.updated", "session": session, "properties": {"sessionID": "ses_1", "part": part}}
        assert canary not in outcome("opencode-hook", json.dumps(event).encode())
    for kind in ("message.updated", "session.created", "session.error", "chat.params", "chat.message", canary):
        given = {"sessionID": "ses_1", "info": info, "model": {"id": "m", "name": canary}, "error": {"data": canary}}
        assert canary not in outcome("opencode-hook", json.dumps({"type": kind, "properties": given}).encode())


@pytest.mark.parametrize("canary", CANARIES)
def test_gemini__content_anywhere__is_not_kept(canary: str) -> None:
    tool = {"id": "t1", "name": "read", "args": {"path": canary}, "result": [{"text": canary}], "description": canary}
    message = {
        "id": "m1",
        "timestamp": "2026-11-30T23:24:25.461Z",
        "type": "gemini",
        "content": [{"text": canary}],
        "thoughts": [{"subject": canary, "description": canary}],
        "tokens": {"input": 5, "output": 1, canary: 2},
        "toolCalls": [{**tool, "status": "success", "resultDisplay": canary}],
        canary: canary,
    }
    head = {"sessionId": "s", "projectHash": canary, "startTime": "2026-11-30T23:24:25.400Z", "summary": canary}
    lines = [head, {"$set": {"messages": [message], "summary": canary}}, message, {"type": canary, "id": "m2"}]
    for body in (json.dumps({**head, "messages": [message]}), "\n".join(json.dumps(line) for line in lines)):
        told = outcome("gemini-transcript", body.encode())
        assert "m1" in told
        assert canary not in told
    payload = {
        "session_id": "s",
        "hook_event_name": "AfterModel",
        "prompt": canary,
        "llm_request": {"messages": [{"content": canary}], "model": canary},
        "llm_response": {"text": canary, "candidates": [canary]},
        "tool_name": canary,
        canary: canary,
    }
    for event in ("SessionStart", "BeforeAgent", "AfterAgent", "AfterModel", "PreCompress", canary):
        assert canary not in outcome("gemini-hook", json.dumps({**payload, "hook_event_name": event}).encode())


@pytest.mark.parametrize("canary", CANARIES)
def test_cursor_and_sdk__content_anywhere__is_not_kept(canary: str) -> None:
    names = "prompt text task summary command file_path tool_output tool_input user_email error_message status reason"
    payload = {"conversation_id": "c", "generation_id": "g", canary: canary, "edits": [{"old_string": canary}]}
    for event in ("stop", "preCompact", "beforeSubmitPrompt", "afterFileEdit", "postToolUse", canary):
        told = {**payload, **dict.fromkeys(names.split(), canary), "hook_event_name": event, "attachments": [canary]}
        assert canary not in outcome("cursor-hook", json.dumps(told).encode())
    said = {"id": "m1", "content": [{"type": "text", "text": canary}], "usage": {"input_tokens": 5}}
    for line in (
        {"type": "assistant", "session_id": "s", "message": said},
        {"type": "result", "session_id": "s", "result": canary, "modelUsage": {canary: {"contextWindow": 5}}},
        {"type": "system", "subtype": "init", "session_id": "s", "tools": [canary], "claude_code_version": canary},
    ):
        assert canary not in outcome("claude-sdk-transcript", json.dumps(line).encode())
