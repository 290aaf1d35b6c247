"""OpenCode's messages from an export or from its stores.

Taken are `opencode export` (`{info, messages: [{info, parts}]}`), a document of `{sessions, messages}` as the
tables hold them, and records `{session, info, parts}`, one a line or as a list: what `make import` makes of the
database and of the older tree of files.
"""

from collections.abc import Iterator
from typing import Any

from sessions_app.feeds.base import Context, Feed, Husk, Parsed
from sessions_app.feeds.bodies import parse_records
from sessions_app.feeds.opencode_message import Message
from sessions_app.feeds.opencode_shape import message_record
from sessions_app.kernel.readings import Reading, Source


def parse(body: bytes, context: Context) -> Parsed:
    """One document or many records. Refused, message by message: see `opencode_message`."""
    return parse_records(body, context, _reduce_and_read, records_of)


def records_of(value: Any) -> Iterator[Any]:
    """The messages of a document, each with its session."""
    for document in value if isinstance(value, list) else [value]:
        messages = document.get("messages") if isinstance(document, dict) else None
        if isinstance(messages, list):
            yield from _messages(document, messages)
        else:
            yield document


def _messages(document: dict[str, Any], messages: list[Any]) -> Iterator[Any]:
    listed = document.get("sessions")
    sessions = {
        session["id"]: session
        for session in (listed if isinstance(listed, list) else [document.get("info")])
        if isinstance(session, dict) and isinstance(session.get("id"), str)
    }
    for message in messages:
        if not isinstance(message, dict):
            yield message
            continue
        # In the tables a message is its own row, with the parts beside it if at all.
        info = message["info"] if isinstance(message.get("info"), dict) else message
        session = info.get("sessionID")
        yield {
            "session": sessions.get(session) if isinstance(session, str) else None,
            "info": info,
            "parts": message.get("parts"),
        }


def _reduce_and_read(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
    given = record if isinstance(record, dict) else {}
    reduced = message_record(given.get("session"), given.get("info"), given.get("parts"))
    return reduced, read(reduced, context)


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one message. Refused: `missing_session`, `missing_id`, bad counts."""
    return tuple(Message(record, context, Source.TRANSCRIPT, is_live=False).readings())


FEED = Feed("opencode-transcript", "opencode", parse, read)
