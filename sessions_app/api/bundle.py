"""The door of the client: what one hook saw, what the transcript gained since, the freshest gauge, in one delivery."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any, ClassVar

import msgspec
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ecm_site.common.http import read_body
from ecm_site.common.problems import DomainError
from sessions_app.api import shapes
from sessions_app.api.auth import IngestKey, KeyAuthentication, sender_of
from sessions_app.api.hooks import delivery_of
from sessions_app.api.host_hooks import gemini_entry, in_gemini
from sessions_app.api.ingest import MIB, told
from sessions_app.feeds import (
    claude_hooks,
    claude_statusline,
    claude_transcript,
    codex_hooks,
    codex_transcript,
    copilot_hooks,
    copilot_transcript,
    gemini_chat,
    gemini_hooks,
)
from sessions_app.feeds.base import Context, Feed, Refused
from sessions_app.feeds.husk_strings import kept_id
from sessions_app.feeds.lines import decode, encode
from sessions_app.models import Host
from sessions_app.services import answering, arrivals, deliveries, ingest

#: Parts in the order in which they are read: usage first, so that what a hook is told is fresh.
PARTS: Mapping[str, Feed] = {
    "lines": claude_transcript.FEED,
    "status": claude_statusline.FEED,
    "hooks": claude_hooks.FEED,
}
LIMIT = 16 * MIB
#: Confirmations or counts of one bundle: each takes some statements under a lock, and clients send one or two.
MOST_TOLD = 500


class ClaudeBundleView(APIView):
    """`POST /api/v1/bundles/claude-code`: `{"lines": […], "status": […], "hooks": [{"received_at", "payload"}]}`."""

    authentication_classes = [KeyAuthentication]
    permission_classes = [IngestKey]
    parser_classes = []
    host: ClassVar[Host] = Host.CLAUDE_CODE
    parts: ClassVar[Mapping[str, Feed]] = PARTS

    def post(self, request: Request) -> HttpResponse:
        """Take the parts; answer the hook that waits, and tell what is known of the session now."""
        started = deliveries.started()
        bundle = _decoded(read_body(request._request, LIMIT, LIMIT))
        now = timezone.now()
        context = Context(received_ms=int(now.timestamp() * 1000))
        sender = replace(sender_of(request), lost_hook_events=_lost(bundle))
        told_by = {name: records for name in self.parts if isinstance(records := bundle.get(name), list) and records}
        bodies = [(self.parts[name], b"\n".join(map(encode, told_by[name]))) for name in told_by]
        kept = ingest.receive_together(sender=sender, bodies=bodies, context=context, now=now)
        receipts = dict(zip(told_by, map(told, kept), strict=True))
        answer = {"receipts": receipts, **_answered(request, self.host, bundle, started, now)}
        return HttpResponse(msgspec.json.encode(answer), content_type="application/json")


class CodexBundleView(ClaudeBundleView):
    """`POST /api/v1/bundles/codex`: the same of Codex; each line names its session."""

    host = Host.CODEX
    parts = {"lines": codex_transcript.FEED, "hooks": codex_hooks.FEED}


class GeminiBundleView(ClaudeBundleView):
    """`POST /api/v1/bundles/gemini`: the same of Gemini CLI; each line of the chat log names its session."""

    host = Host.GEMINI
    parts = {"lines": gemini_chat.FEED, "hooks": gemini_hooks.FEED}


class CopilotBundleView(ClaudeBundleView):
    """`POST /api/v1/bundles/copilot`: the same of Copilot; each line names its session, each payload its event."""

    host = Host.COPILOT
    parts = {"lines": copilot_transcript.FEED, "hooks": copilot_hooks.FEED}


def _lost(bundle: Mapping[str, Any]) -> int | None:
    """Hooks that the client had no room to keep while the server was away, since it was installed."""
    lost = bundle.get("lost_hook_events")
    return lost if type(lost) is int and 0 <= lost < 1 << 53 else None


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        bundle, _ = decode(body, LIMIT)
    except Refused as refused:
        raise DomainError(refused.code, refused.message, 400, pointer=refused.pointer) from None
    if not isinstance(bundle, dict):
        raise DomainError("not_an_object", "a bundle is an object with lines, status and hooks", 400)
    return bundle


def _answered(request: Request, host: Host, bundle: Mapping[str, Any], started: float, now: datetime) -> dict[str, Any]:
    """The answer to the hook, what is known of its session, and what the client keeps ready."""
    name = bundle.get("session_id")
    if not isinstance(name, str) or not name:
        return {"answer": "", "live": None}
    entries = tuple(deliveries.entries_of(bundle.get("hooks"), int(now.timestamp() * 1000)))
    if host is Host.COPILOT:
        entries = tuple(replace(entry, payload=copilot_hooks.named(dict(entry.payload), "")) for entry in entries)
    asked = tuple(entry for entry in entries if entry.text("session_id") in (name, ""))
    event = asked[-1].event if asked else ""
    if host is Host.GEMINI:
        asked = tuple(e for entry in asked[-1:] if (e := gemini_entry(entry.payload, now)) is not None)
    delivery = delivery_of(
        request,
        host=host,
        session=kept_id(name),
        entries=asked,
        started=started,
        waits=bundle.get("waits") is True,
        is_host=host is Host.GEMINI,
        drill=bundle.get("drill") if isinstance(bundle.get("drill"), dict) else None,
        printed=_objects(bundle.get("printed")),
        survival=tuple((told, None) for told in _objects(bundle.get("survival"))),
    )
    answered = answering.answer(delivery=delivery, now=now)
    if answered.session is None or answered.now is None:
        return {"answer": "", "live": None}
    live = shapes.live(answered.session, answered.now, ())
    if answered.advice:
        live["advice"] = answered.advice
    muted = answered.session.muted_at is not None
    text = in_gemini(json.loads(answered.text), event) if host is Host.GEMINI and answered.text else answered.text
    return {"answer": text, "live": live, "session": {"muted": muted}, "keep": answered.keep}


def _objects(raw: object) -> tuple[Mapping[str, Any], ...]:
    """One object, or several in a list: the newest `MOST_TOLD` of them."""
    told = raw[-MOST_TOLD:] if isinstance(raw, list) else [raw]
    return tuple(each for each in told if isinstance(each, dict))


class ArrivalsView(APIView):
    """`GET /api/v1/arrivals?since=EPOCH_SECONDS`: what the key's own team heard since, by each way in.

    An ingest key may ask: it learns nothing but whether its own deliveries came, and their numbers.
    """

    authentication_classes = [KeyAuthentication]
    permission_classes = [IngestKey]

    def get(self, request: Request) -> Response:
        """The newest arrival of each way."""
        try:
            since = datetime.fromtimestamp(float(request.query_params.get("since", "")), tz=UTC)
        except (ValueError, OverflowError, OSError):
            raise DomainError("bad_since", "since is the number of seconds since the epoch", 400) from None
        found = arrivals.arrivals(team_id=sender_of(request).team_id, since=since)
        return Response({"results": [{**asdict(arrival), "at": arrival.at.isoformat()} for arrival in found]})
