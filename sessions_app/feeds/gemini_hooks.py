"""Hooks of Gemini CLI. They carry the host's clock and no usable tokens.

`PreCompress` fires before every model call, also when nothing is compressed: it is no sign of a compaction.
"""

from collections.abc import Mapping
from typing import Any

from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.bodies import parse_records, unwrapped
from sessions_app.feeds.claude_hooks import Hook, event_of, readings_of
from sessions_app.feeds.husk import husk
from sessions_app.feeds.times import moment
from sessions_app.kernel.readings import Reading

#: The host's events by the names of those that tell the same.
EVENTS: Mapping[str, str] = {
    "SessionStart": "SessionStart",
    "SessionEnd": "SessionEnd",
    "BeforeAgent": "UserPromptSubmit",
    "AfterAgent": "Stop",
}
NAMES = ("session_id", "cwd", "hook_event_name", "timestamp", "source", "reason", "tool_name", "trigger")


def reduce(record: Any) -> Husk:
    """The husk of a payload: what is named here; requests and responses are left out whole."""
    reduced = husk(record)
    held = reduced.get("payload")
    if isinstance(held, dict):
        return {"received_at": reduced.get("received_at"), "payload": _picked(held)}
    return _picked(reduced)


def _picked(payload: Husk) -> Husk:
    return {name: payload[name] for name in NAMES if name in payload}


def parse(body: bytes, context: Context) -> Parsed:
    """One payload, a list of them, or one a line; each may be wrapped as `{"received_at", "payload"}`."""
    return parse_records(body, context, _reduce_and_read)


def _reduce_and_read(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
    reduced = reduce(record)
    return reduced, read(reduced, context)


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one hook payload. Refused: `missing_session`."""
    payload, received_ms, where = unwrapped(record, context)
    session = payload.get("session_id")
    if not isinstance(session, str) or not session:
        raise Refused("missing_session", f"{where}/session_id", "a hook payload needs session_id, a string")
    at_ms = moment(payload.get("timestamp"), received_ms).ms
    event = EVENTS.get(event_of(payload, context), "")
    hook = Hook({**payload, "hook_event_name": event}, session, event, received_ms if at_ms is None else at_ms)
    return readings_of(hook, None)


FEED = Feed("gemini-hook", "gemini", parse, read)
