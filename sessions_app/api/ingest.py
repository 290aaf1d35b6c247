"""The doors of ingest. Each reads the raw body itself, within limits, and answers with a receipt."""

import re
from dataclasses import asdict
from datetime import datetime
from typing import Any, ClassVar

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ecm_site.common.http import read_body
from ecm_site.common.problems import DomainError
from sessions_app.api.auth import IngestKey, KeyAuthentication, sender_of
from sessions_app.feeds import (
    canonical,
    claude_sdk,
    claude_statusline,
    claude_transcript,
    codex_transcript,
    copilot_transcript,
    cursor_hooks,
    gemini_chat,
    opencode_transcript,
)
from sessions_app.feeds.base import Context, Feed, Refusal, Refused
from sessions_app.feeds.husk_strings import clean, kept_id
from sessions_app.services import ingest
from sessions_app.services.ingest import Receipt

MIB = 1 << 20


class IngestView(APIView):
    """One feed's door: limits, key, feed, store, receipt."""

    authentication_classes = [KeyAuthentication]
    permission_classes = [IngestKey]
    parser_classes = []
    feed: ClassVar[Feed]
    #: Bytes on the wire and after inflation.
    limit: ClassVar[int] = 16 * MIB
    inflated_limit: ClassVar[int] = 16 * MIB
    status: ClassVar[int] = 200

    def post(self, request: Request) -> HttpResponse:
        """Take one delivery."""
        return self.take(request, read_body(request._request, self.limit, self.inflated_limit), timezone.now())

    def take(self, request: Request, body: bytes, now: datetime) -> HttpResponse:
        """Store a body that was read, and answer."""
        context = Context(
            received_ms=int(now.timestamp() * 1000),
            event=_event(request.query_params.get("event", "")),
            final=request.query_params.get("final") == "1",
            session=kept_id(request.query_params.get("session", "")),
            protobuf=self.is_protobuf(request),
        )
        sender = sender_of(request)
        try:
            receipt = ingest.receive(sender=sender, feed=self.feed, body=body, context=context, now=now)
        except Refused as refused:
            # No record can be told apart in such a body, so there is nothing to take of it.
            if refused.code == canonical.TOO_MANY:
                raise DomainError(refused.code, refused.message, 413, limit="items") from refused
            raise DomainError(refused.code, refused.message, 400, pointer=refused.pointer) from refused
        return self.answer(receipt, as_text=request.query_params.get("as") == "text")

    def is_protobuf(self, request: Request) -> bool:
        """Whether the body is protobuf."""
        return False

    def answer(self, receipt: Receipt, *, as_text: bool) -> HttpResponse:
        """The product's own receipt."""
        return Response(told(receipt), status=self.status)


#: The name of a hook as snippets put it into the address.
_EVENT = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}")


def _event(text: str) -> str:
    """The event that the address names; anything else is no name and may be what was said."""
    return text if _EVENT.fullmatch(text) else ""


def told(receipt: Receipt) -> dict[str, Any]:
    """A receipt as callers see it (docs/schemas/receipt.schema.json)."""
    return {
        "accepted": receipt.accepted,
        "duplicate": receipt.duplicate,
        "ignored": receipt.ignored,
        "refused": [_told_one(refusal) for refusal in receipt.refused],
        "warnings": [_told_one(warning) for warning in receipt.warnings],
        "pending_bytes": receipt.pending_bytes,
    }


def receipt_line(receipt: Receipt) -> str:
    """A receipt in a header, where the body is the host's."""
    return f"accepted={receipt.accepted} duplicate={receipt.duplicate} refused={receipt.refused_total}"


def _told_one(refusal: Refusal) -> dict[str, Any]:
    """A refusal or remark; a pointer may hold a name as it was sent, half a surrogate in it."""
    return {**asdict(refusal), "pointer": clean(refusal.pointer), "message": clean(refusal.message)}


class CanonicalView(IngestView):
    """`POST /api/v1/ingest`: own format, JSON or NDJSON, proxy records among it."""

    feed = canonical.FEED
    status = 202


class ClaudeTranscriptView(IngestView):
    """`POST /api/v1/transcripts/claude-code`: lines of a transcript, whole or in pieces."""

    feed = claude_transcript.FEED
    limit = inflated_limit = 64 * MIB
    status = 202


class CodexTranscriptView(ClaudeTranscriptView):
    """`POST /api/v1/transcripts/codex[?session=ID]`: lines of a rollout, its first line with each piece."""

    feed = codex_transcript.FEED


class CopilotTranscriptView(ClaudeTranscriptView):
    """`POST /api/v1/transcripts/copilot[?session=ID]`: lines of `events.jsonl`, its first line with each piece."""

    feed = copilot_transcript.FEED


class ClaudeStatuslineView(IngestView):
    """`POST /api/v1/statusline/claude-code`: what the status line command got on its standard input."""

    feed = claude_statusline.FEED
    limit = inflated_limit = 1 * MIB


class SilentHookView(IngestView):
    """Takes hooks of a host that may misread whatever it is told."""

    limit = inflated_limit = 8 * MIB

    def answer(self, receipt: Receipt, *, as_text: bool) -> HttpResponse:
        """Nothing that the host could misread."""
        kind = "text/plain" if as_text else "application/json"
        answer = HttpResponse(b"", content_type=kind)
        answer["X-ECM-Receipt"] = receipt_line(receipt)
        return answer


class GeminiTranscriptView(IngestView):
    """`POST /api/v1/transcripts/gemini[?session=ID]`: a chat log, whole or in pieces."""

    feed = gemini_chat.FEED
    limit = inflated_limit = 64 * MIB
    status = 202


class CursorHookView(SilentHookView):
    """`POST /api/v1/hooks/cursor`: the answer is empty; nothing is asked of the host."""

    feed = cursor_hooks.FEED


class ClaudeSdkView(IngestView):
    """`POST /api/v1/transcripts/claude-sdk`: lines of a stream-json output."""

    feed = claude_sdk.FEED
    limit = inflated_limit = 64 * MIB
    status = 202


class OpenCodeTranscriptView(IngestView):
    """`POST /api/v1/transcripts/opencode`: an export, or messages with their sessions."""

    feed = opencode_transcript.FEED
    limit = inflated_limit = 64 * MIB
    status = 202
