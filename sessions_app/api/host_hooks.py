"""Doors of hooks of hosts with a dialect of their own: the same judgement as for Claude Code, said their way."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from sessions_app.api.hooks import delivery_of
from sessions_app.api.ingest import MIB, IngestView, SilentHookView, receipt_line
from sessions_app.feeds import gemini_hooks, opencode_hooks
from sessions_app.feeds.base import Refused
from sessions_app.feeds.husk_strings import kept_id
from sessions_app.feeds.lines import decode
from sessions_app.models import Host
from sessions_app.services import answering, deliveries
from sessions_app.services.deliveries import Entry
from sessions_app.services.ingest import Receipt

#: Moments at which OpenCode's plugin waits for an answer, by the names of hooks that ask the same.
_OPENCODE_ASKS = {"chat.message": "UserPromptSubmit", "tool.execute.after": "PostToolUse"}


class OpenCodeHookView(IngestView):
    """`POST /api/v1/hooks/opencode`: events of the plugin, one or many; the last one may wait for words."""

    feed = opencode_hooks.FEED
    limit = inflated_limit = 8 * MIB

    def take(self, request: Request, body: bytes, now: datetime) -> HttpResponse:
        """Store the events, then answer: `text` for the model, `to_human` for a toast."""
        started = deliveries.started()
        response = super().take(request, body, now)
        session, entry = _opencode_asks(body, now)
        if entry is not None and isinstance(response, Response):
            said = _answer(request, Host.OPENCODE, session, entry, started, now)
            response.data = {"text": to_model(said), "to_human": to_human(said)}
        return response

    def answer(self, receipt: Receipt, *, as_text: bool) -> HttpResponse:
        """Nothing to add."""
        answer = Response({"text": ""})
        answer["X-ECM-Receipt"] = receipt_line(receipt)
        return answer


class GeminiHookView(SilentHookView):
    """`POST /api/v1/hooks/gemini`: the host's own JSON where there is something to say, else nothing."""

    feed = gemini_hooks.FEED
    host: ClassVar[Host] = Host.GEMINI

    def take(self, request: Request, body: bytes, now: datetime) -> HttpResponse:
        """Store the payload, then answer it."""
        started = deliveries.started()
        response = super().take(request, body, now)
        try:
            record, _ = decode(body.strip())
        except Refused:
            return response
        entry = gemini_entry(record, now) if isinstance(record, dict) and "payload" not in record else None
        if entry is not None:
            said = _answer(request, Host.GEMINI, entry.text("session_id"), entry, started, now)
            response.content = in_gemini(said, str(record.get("hook_event_name")))
        return response


def gemini_entry(payload: Mapping[str, Any], now: datetime) -> Entry | None:
    """A payload under the name of the hook that asks the same; None where nothing is asked."""
    name, session = payload.get("hook_event_name"), payload.get("session_id")
    event = gemini_hooks.EVENTS.get(name, "") if isinstance(name, str) else ""
    # What is added after the agent has ended would make it go on.
    if not isinstance(session, str) or event not in ("SessionStart", "UserPromptSubmit"):
        return None
    return Entry({"hook_event_name": event, "session_id": kept_id(session)}, int(now.timestamp() * 1000))


def _answer(request: Request, host: Host, session: str, entry: Entry, started: float, now: datetime) -> dict[str, Any]:
    """What is to be said, in the form of Claude Code; empty where that is nothing."""
    delivery = delivery_of(
        request, host=host, session=session, entries=(entry,), started=started, waits=True, is_host=True
    )
    text = answering.answer(delivery=delivery, now=now).text
    return json.loads(text) if text else {}


def to_model(said: Mapping[str, Any]) -> str:
    """The words for the model."""
    return str(said.get("hookSpecificOutput", {}).get("additionalContext", ""))


def to_human(said: Mapping[str, Any]) -> str:
    """The words for the person."""
    return str(said.get("systemMessage", ""))


def in_gemini(said: Mapping[str, Any], event: str) -> str:
    """Gemini's dialect has the same keys under its own event names."""
    if not said:
        return ""
    if to_model(said):
        said = {**said, "hookSpecificOutput": {"hookEventName": event, "additionalContext": to_model(said)}}
    return json.dumps(said, ensure_ascii=False)


def _opencode_asks(body: bytes, now: datetime) -> tuple[str, Entry | None]:
    """(session, entry) of the last event about which the plugin waits for words; it goes along with others."""
    try:
        records, _ = decode(body.strip())
    except Refused:
        return "", None
    waiting = (
        [r for r in records if isinstance(r, dict) and r.get("waits") is True] if isinstance(records, list) else []
    )
    payload = waiting[-1].get("payload") if waiting else None
    kind = payload.get("type") if isinstance(payload, dict) else None
    event = _OPENCODE_ASKS.get(kind) if isinstance(kind, str) else None
    if event is None or not isinstance(payload, dict):
        return "", None
    head, told = _tree(payload, "session"), _tree(payload, "properties")
    own = told.get("sessionID")
    if not isinstance(own, str) or not own:
        return "", None
    root = head.get("rootID") or head.get("parentID")
    is_agent = isinstance(root, str) and bool(root) and root != own
    asked = {"hook_event_name": event, "session_id": kept_id(own)}
    if is_agent:
        asked.update(agent_id=kept_id(own), agent_type="agent")
    return kept_id(str(root) if is_agent else own), Entry(asked, int(now.timestamp() * 1000))


def _tree(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = holder.get(name)
    return value if isinstance(value, dict) else {}
