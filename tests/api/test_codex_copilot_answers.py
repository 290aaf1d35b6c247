"""Verdicts and pins in the dialects of Codex and Copilot, through the doors that hosts and client use."""

import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from policy_app.services import inforce, installing
from sessions_app.models import KeyKind, Organisation, Team, Verdict
from sessions_app.services import keys
from tests.support import codex, copilot
from tests.support.codex import count, meta, turn, used
from tests.support.copilot import counts, line, start
from tests.support.deliveries import NOW, deliver

#: All that Codex's schema knows beside what blocks.
CODEX_KEYS = {"hookSpecificOutput", "systemMessage"}


@pytest.fixture
def team(db: None) -> Team:
    organisation = Organisation.objects.create(name="Acme", slug="acme", created_at=NOW)
    inforce.forget(organisation.pk)
    for ensure in (installing.ensure_default, installing.ensure_pins):
        ensure(organisation_id=organisation.pk, four_eyes=False, now=timezone.now())
    inforce.forget(organisation.pk)
    return Team.objects.create(organisation=organisation, slug="a", name="A", created_at=NOW)


def post(team: Team, path: str, body: dict[str, Any]) -> bytes:
    _, key = keys.issue(kind=KeyKind.INGEST, now=NOW, team=team)
    answer = Client().post(
        f"/api/v1/{path}", body, content_type="application/json", headers={"Authorization": f"Bearer {key}"}
    )
    assert answer.status_code == 200
    return answer.content


def full_codex(team: Team) -> None:
    """A session of Codex at 89% of its window."""
    deliver(team, [codex.body(meta("one"), turn(1), count(5, used(230_000), used(230_000)))])


def full_copilot(team: Team) -> None:
    """A session of Copilot at 83% of its window."""
    usage = {**counts(140_000, 0, 139_000, 100), "maxPromptTokens": 168_000, "apiCallId": "m1"}
    deliver(team, [copilot.body(start("one"), line(5, "session.usage_record", usage=usage))])


@pytest.mark.parametrize("door", ["host", "client"])
def test_codex__red_at_a_prompt__model_and_human_in_its_schema(door: str, team: Team) -> None:
    full_codex(team)
    payload = {"session_id": "one", "hook_event_name": "UserPromptSubmit", "turn_id": "t1", "model": "gpt-5"}
    if door == "host":
        told = json.loads(post(team, "hooks/codex", payload))
    else:
        bundle = {"session_id": "one", "hooks": [{"received_at": NOW.timestamp(), "payload": payload}], "waits": True}
        told = json.loads(json.loads(post(team, "bundles/codex", bundle))["answer"])
    assert set(told) == CODEX_KEYS
    assert set(told["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert told["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert "230,000 tokens, 89% of 258,400 (RED" in told["hookSpecificOutput"]["additionalContext"]
    assert told["systemMessage"].startswith("RED 89%.")


def test_codex__before_a_compaction__nothing_that_its_schema_refuses(team: Team) -> None:
    full_codex(team)
    assert post(team, "hooks/codex", {"session_id": "one", "hook_event_name": "PreCompact", "trigger": "auto"}) == b""


def test_codex__after_a_compaction__pins_are_back(team: Team) -> None:
    full_codex(team)
    payload = {"session_id": "one", "hook_event_name": "SessionStart", "source": "compact"}
    told = json.loads(post(team, "hooks/codex", payload))
    assert set(told) <= CODEX_KEYS
    assert told["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert "pins are back" in told["systemMessage"]


def test_copilot__red_after_a_tool__a_text_for_the_model_alone(team: Team) -> None:
    full_copilot(team)
    payload = {"sessionId": "one", "timestamp": 1_793_000_000_000, "toolName": "bash", "toolArgs": {}, "toolResult": {}}
    told = json.loads(post(team, "hooks/copilot", payload))
    assert set(told) == {"additionalContext"}
    assert "140,000 tokens, 83% of 168,000 (RED" in told["additionalContext"]


def test_copilot__through_the_client__the_same(team: Team) -> None:
    full_copilot(team)
    payload = {"sessionId": "one", "hookEventName": "postToolUse", "toolName": "bash", "toolResult": {"~bytes": 9}}
    bundle = {"session_id": "one", "hooks": [{"received_at": NOW.timestamp(), "payload": payload}], "waits": True}
    told = json.loads(json.loads(post(team, "bundles/copilot", bundle))["answer"])
    assert "RED" in told["additionalContext"]


def test_copilot__at_a_prompt__nobody_would_hear_and_nothing_is_spent(team: Team) -> None:
    full_copilot(team)
    assert post(team, "hooks/copilot", {"sessionId": "one", "prompt": "x"}) == b"{}"
    assert not Verdict.objects.spoken().exists()
