"""Answers in each host's own form: OpenCode's plugin and Gemini CLI hear what Claude Code would."""

import json
from typing import Any

import pytest
from django.test import Client

from policy_app.services import inforce, installing
from sessions_app.models import Session, Verdict
from sessions_app.services import prices
from tests.support.deliveries import NOW, fold_everything
from tests.support.pins import PINS
from tests.support.world import World, build

AT = 1_796_077_000_000


@pytest.fixture
def world(db: None) -> World:
    made = build()
    installing.ensure_default(organisation_id=made.mine.pk, four_eyes=False, now=NOW)
    inforce.forget(made.mine.pk)
    return made


def post(world: World, address: str, body: Any) -> Any:
    headers = {"Authorization": f"Bearer {world.secrets['ingest_key']}"}
    return Client().post(address, json.dumps(body), "application/json", headers=headers)


def event(kind: str, **properties: Any) -> dict[str, Any]:
    told = {"type": kind, "id": f"e-{kind}-{len(properties)}", "session": {"id": "ses_1", "directory": "acme-api"}}
    return {"received_at": AT / 1000, "payload": {**told, "properties": {"sessionID": "ses_1", **properties}}}


def answered(tokens: int) -> dict[str, Any]:
    counts = {"total": tokens + 10, "input": tokens, "output": 10, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    info = {"id": f"msg_{tokens}", "sessionID": "ses_1", "role": "assistant", "modelID": "gpt-local", "tokens": counts}
    return event("message.updated", info={**info, "time": {"created": AT + tokens, "completed": AT + tokens + 9}})


WINDOW = {"id": "gpt-local", "limit": {"context": 200_000}}


def test_opencode__full_context__words_at_the_prompt_and_none_elsewhere(world: World) -> None:
    begun = event("chat.params", agent="build", model=WINDOW)
    first = post(world, "/api/v1/hooks/opencode", [begun, answered(120_000)])
    assert first.json() == {"text": ""}
    fold_everything()
    told = post(
        world, "/api/v1/hooks/opencode", [{**event("chat.message", messageID="msg_u"), "waits": True}, answered(5)]
    ).json()
    assert "120,000 tokens, 60% of 200,000 (AMBER" in told["text"]
    verdict = Verdict.objects.get()
    assert (verdict.session.host, verdict.said_to) == ("opencode", ["model"])
    # Said once in a zone; a tool boundary only raises.
    again = post(world, "/api/v1/hooks/opencode", [{**event("tool.execute.after", tool="bash"), "waits": True}]).json()
    assert again["text"] == ""


def test_gemini__full_context__its_own_event_names(world: World) -> None:
    prices.seed(prices=PINS, source="test pins")
    tokens = {"input": 120_000, "cached": 0, "output": 10, "thoughts": 0, "tool": 0}
    message = {"id": "m", "timestamp": "2026-11-30T10:00:00Z", "type": "gemini", "model": "claude-sonnet-4-5"}
    document = {"sessionId": "g1", "projectHash": "h", "startTime": "2026-11-30T09:59:00Z"}
    post(world, "/api/v1/transcripts/gemini", {**document, "messages": [{**message, "tokens": tokens}]})
    fold_everything()
    asking = {"session_id": "g1", "hook_event_name": "BeforeAgent", "timestamp": "2026-11-30T10:01:00Z", "prompt": "x"}
    told = post(world, "/api/v1/hooks/gemini", asking).json()["hookSpecificOutput"]
    assert told["hookEventName"] == "BeforeAgent"
    assert "120,000 tokens" in told["additionalContext"]
    bundle = {"session_id": "g1", "waits": True, "hooks": [{"received_at": AT / 1000, "payload": asking}]}
    assert post(world, "/api/v1/bundles/gemini", bundle).status_code == 200
    ended = {**asking, "hook_event_name": "AfterAgent"}
    assert post(world, "/api/v1/hooks/gemini", ended).content == b""


@pytest.mark.parametrize(
    "body",
    [
        [],
        [5],
        [[]],
        {"payload": {"type": []}},
        [{"waits": True}],
        [{"waits": True, "payload": {"type": "chat.message"}}],
    ],
)
def test_opencode__strange_bodies__no_fault(body: Any, world: World) -> None:
    assert post(world, "/api/v1/hooks/opencode", body).status_code == 200
    assert not Session.objects.exists()
