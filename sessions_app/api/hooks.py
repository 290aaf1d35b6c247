"""The door of hooks without a client: the host posts a payload and reads the answer itself."""

from datetime import datetime
from typing import Any, ClassVar

from django.http import HttpResponse
from django.urls import reverse
from rest_framework.request import Request

from sessions_app.api.auth import holder_of, sender_of
from sessions_app.api.ingest import SilentHookView
from sessions_app.feeds import claude_hooks, codex_hooks, copilot_hooks
from sessions_app.feeds.base import Refused
from sessions_app.feeds.lines import decode
from sessions_app.models import Host
from sessions_app.services import answering, deliveries
from sessions_app.services.deliveries import Delivery, Entry


def delivery_of(
    request: Request, *, host: Host, session: str, entries: tuple[Entry, ...], started: float, **more: Any
) -> Delivery:
    """Hooks of a session, with the addresses that its answer may name."""
    holder, root = holder_of(request), request.build_absolute_uri(reverse("overview"))
    sender = sender_of(request)
    return Delivery(
        team_id=sender.team_id,
        machine=sender.machine,
        organisation_id=holder.organisation_id if holder else 0,
        host=host,
        session=session,
        entries=entries,
        link=root + "v/{}",
        session_link=root + "s/{}",
        started=started,
        **more,
    )


class ClaudeHookView(SilentHookView):
    """`POST /api/v1/hooks/claude-code[?as=text]`: answers in the host's dialect, the receipt in a header.

    At PreCompact an http hook gets an empty body, the only one that adds nothing to the summariser's instructions;
    a command hook (`as=text`) gets plain text, which is added there.
    """

    feed = claude_hooks.FEED
    host: ClassVar[Host] = Host.CLAUDE_CODE

    def take(self, request: Request, body: bytes, now: datetime) -> HttpResponse:
        """Store the payload, then answer it: JSON for the host, or plain text for the summariser."""
        started = deliveries.started()
        response = super().take(request, body, now)
        as_text = request.query_params.get("as") == "text"
        asked = _asked(self.host, body, request.query_params.get("event", ""), now)
        if asked is not None and (asked.event != "PreCompact" or as_text):
            response.content = self._answer(request, asked, started, now)
        return response

    def _answer(self, request: Request, asked: Entry, started: float, now: datetime) -> str:
        session = asked.text("session_id")
        delivery = delivery_of(
            request, host=self.host, session=session, entries=(asked,), started=started, waits=True, is_host=True
        )
        return answering.answer(delivery=delivery, now=now).text


class CodexHookView(ClaudeHookView):
    """`POST /api/v1/hooks/codex`: a command hook prints the answer; the host refuses keys that it does not know."""

    feed = codex_hooks.FEED
    host = Host.CODEX


class CopilotHookView(ClaudeHookView):
    """`POST /api/v1/hooks/copilot[?event=NAME]`: JSON, an empty object where there is nothing to say."""

    feed = copilot_hooks.FEED
    host = Host.COPILOT

    def take(self, request: Request, body: bytes, now: datetime) -> HttpResponse:
        """The same; an http hook of this host expects an object."""
        response = super().take(request, body, now)
        response.content = response.content or b"{}"
        return response


def _asked(host: Host, body: bytes, event: str, now: datetime) -> Entry | None:
    """The payload that waits for an answer: one object of a session. Spools and replays wait for none."""
    try:
        record, _ = decode(body.strip())
        if not isinstance(record, dict) or "payload" in record:
            return None
        payload = claude_hooks.reduce(record)
    except Refused:
        return None
    if host is Host.COPILOT:
        payload = copilot_hooks.named(payload, event)
    if event and not isinstance(payload.get("hook_event_name"), str):
        payload["hook_event_name"] = event
    return Entry(payload, int(now.timestamp() * 1000)) if isinstance(payload.get("session_id"), str) else None
