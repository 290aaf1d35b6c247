"""Events of OpenCode as its plugin sees them: one, a list, or one a line, each perhaps in a spool's envelope.

The plugin that this server hands out reduces them on the machine to the shape of `opencode_shape`; the host's own
events are taken as well. A message is booked when it is completed: before, its row changes many times. The call
for a session's title is in no message; of it nothing is known but that it was made.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.bodies import parse_records, unwrapped
from sessions_app.feeds.claude_line import MINUTE_MS
from sessions_app.feeds.husk import husk
from sessions_app.feeds.numbers import token_count
from sessions_app.feeds.opencode_message import API_ERRORS, Message
from sessions_app.feeds.opencode_session import Place, asking, facts, place_of, text, tool_size, tree
from sessions_app.feeds.opencode_shape import header, message, part
from sessions_app.kernel.readings import (
    CompactionReading,
    Mark,
    MarkReading,
    MeterReading,
    Reading,
    Signal,
    Source,
    StepsReading,
)

#: Agents of the host's own whose calls leave no message.
UNSEEN_AGENTS = frozenset(("title", "summary"))


def reduce(record: Any) -> Husk:
    """The husk of an event: its kind, and of what it carries the fields that count. Refused: `not_an_object`."""
    if not isinstance(record, dict):
        raise Refused("not_an_object", "", f"expected an object, got {type(record).__name__}")
    payload = record.get("payload")
    if isinstance(payload, dict):
        return {**husk({"received_at": record.get("received_at")}), "payload": _reduced(payload, record.get("hook"))}
    return _reduced(record, None)


def _reduced(event: Mapping[str, Any], hook: object) -> Husk:
    given = event.get("properties")
    told: Mapping[str, Any] = given if isinstance(given, dict) else event
    kind = event.get("type") if isinstance(event.get("type"), str) else hook
    info = told.get("info")
    session = event.get("session")
    if session is None and isinstance(kind, str) and kind.startswith("session."):
        session = info
    found: Husk = husk({"type": kind, "id": event.get("id"), "session_id": told.get("sessionID")})
    if isinstance(session, dict):
        found["session"] = header(session)
    if isinstance(info, dict) and kind == "message.updated":
        found["info"] = message(info)
    parts = told.get("parts", event.get("parts")) or [told.get("part")]
    found["parts"] = [part(p) for p in parts if isinstance(p, dict)] if isinstance(parts, list) else []
    found.update(_settings(told))
    return {name: value for name, value in found.items() if value is not None and value != []}


def _settings(told: Mapping[str, Any]) -> Husk:
    """The agent and the model of a call that begins, with the window that the host knows; the name of an error."""
    given, error = told.get("model"), told.get("error")
    found: dict[str, Any] = {"agentType": told.get("agent")}
    if isinstance(given, dict):
        limit = given.get("limit")
        found["modelId"] = given.get("id") or given.get("modelID")
        found["window"] = limit.get("context") if isinstance(limit, dict) else None
    elif isinstance(given, str):
        found["modelId"] = given
    if isinstance(error, dict):
        found["error_type"] = error.get("name")
    named = {name: value for name, value in found.items() if isinstance(value, str | int | float)}
    return husk(named)


def parse(body: bytes, context: Context) -> Parsed:
    """Read events; each may be wrapped as `{"received_at", "payload"}`."""
    return parse_records(body, context, _reduce_and_read)


def _reduce_and_read(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
    reduced = reduce(record)
    return reduced, read(reduced, context)


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one event. Refused: `missing_session`, `missing_id`, bad counts."""
    payload, received_ms, where = unwrapped(record, context)
    here = Context(received_ms, context.event, context.final)
    kind = text(payload, "type") or context.event
    if kind == "message.updated" and "info" in payload:
        try:
            return tuple(Message(payload, here, Source.HOOK, is_live=True).readings())
        except Refused as refused:
            raise Refused(refused.code, where + refused.pointer, refused.message) from None
    reader = READERS.get(kind)
    if reader is None:
        # Most of the host's events tell nothing that is asked here.
        return ()
    event = _Event(payload, here, where)
    return (*reader(event), event.facts())


class _Event:
    """An event that is no message; without a clock of its own but for its parts."""

    def __init__(self, payload: Husk, context: Context, where: str) -> None:
        self.payload, self.received_ms, self.where = payload, context.received_ms, where
        parts = payload.get("parts")
        self.part: Husk = parts[0] if isinstance(parts, list) and parts else {}
        session = payload.get("session_id") or self.part.get("session_id")
        self.place: Place = place_of(tree(payload, "session"), session, context, f"{where}/properties/sessionID")

    @property
    def name(self) -> str:
        """The host's own id of the event, else the digest of what it says with its receipt."""
        told = text(self.payload, "id")
        digest = hashlib.sha256(msgspec.json.encode(self.payload, order="sorted")).hexdigest()[:16]
        return told or f"{digest}:{self.received_ms}"

    def base(self, key: str) -> dict[str, Any]:
        return {"session": self.place.session, "source": Source.HOOK, "key": key}

    def mark(self, mark: Mark, detail: str = "") -> list[Reading]:
        return [
            MarkReading(
                **self.base(f"{mark}:{self.name}"),
                mark=mark,
                received_ms=self.received_ms,
                detail=(0, detail) if detail else None,
                thread=self.place.thread,
            )
        ]

    def facts(self) -> Reading:
        head = tree(self.payload, "session")
        return facts(self.place, Source.HOOK, first_ms=None, last_ms=None, received_ms=self.received_ms, head=head)


def _started(event: _Event) -> Iterable[Reading]:
    return [] if event.place.thread[1] else event.mark(Mark.START)


def _stopped(event: _Event) -> Iterable[Reading]:
    return event.mark(Mark.AGENT_STOP if event.place.thread[1] else Mark.STOP)


def _prompted(event: _Event) -> Iterable[Reading]:
    return [] if event.place.thread[1] else event.mark(Mark.PROMPT)


def _failed(event: _Event) -> Iterable[Reading]:
    error = text(event.payload, "error_type")
    return event.mark(Mark.API_ERROR, error) if error in API_ERRORS else []


def _compacted(event: _Event) -> Iterable[Reading]:
    yield CompactionReading(
        **event.base(f"{Signal.POST_HOOK}:{event.name}"),
        signal=Signal.POST_HOOK,
        received_ms=event.received_ms,
        thread=event.place.thread,
    )


def _begun(event: _Event) -> Iterable[Reading]:
    """A call that begins: its window, and the sign of a call that will be in no message."""
    model = text(event.payload, "modelId")
    window = token_count(event.payload.get("window"), f"{event.where}/properties/model/limit/context")
    if window:
        yield MeterReading(
            **event.base(f"window:{model}:{window}"),
            received_ms=event.received_ms,
            model=(event.received_ms, model) if model else None,
            window=window,
        )
    if text(event.payload, "agentType") in UNSEEN_AGENTS:
        yield from event.mark(Mark.UNSEEN_CALL, text(event.payload, "agentType"))


def _part(event: _Event) -> Iterable[Reading]:
    found = tool_size(event.part, event.place, event.received_ms)
    if found:
        use, size = found
        minute = (event.received_ms if size.at_ms is None else size.at_ms) // MINUTE_MS
        yield StepsReading(**event.base(str(minute)), tools={use: size})
    asked = text(event.part, "message_id")
    if event.part.get("type") == "compaction" and asked:
        yield asking(event.place, Source.HOOK, asked, event.part, None, event.received_ms)


READERS: Mapping[str, Callable[[_Event], Iterable[Reading]]] = {
    "session.created": _started,
    "session.updated": lambda event: (),
    "session.idle": _stopped,
    "session.error": _failed,
    "session.compacted": _compacted,
    "chat.message": _prompted,
    "chat.params": _begun,
    "message.part.updated": _part,
}

FEED = Feed("opencode-hook", "opencode", parse, read)
