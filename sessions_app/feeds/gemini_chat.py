"""Chat logs of Gemini CLI: `~/.gemini/tmp/*/chats/session-*`, one JSON document or, newer, JSON by lines.

The first line names the session; a message may be written again, and `{"$set": {"messages": […]}}` holds messages too.
All copies of a message have its id and join by maximum. A piece without the first line needs `?session=`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.bodies import LARGEST, parse_records
from sessions_app.feeds.claude_line import MINUTE_MS
from sessions_app.feeds.gemini_usage import CHAT, leaves
from sessions_app.feeds.husk import SIZE, husk, size_of
from sessions_app.feeds.husk_strings import kept_id
from sessions_app.feeds.lines import decode
from sessions_app.feeds.times import moment
from sessions_app.kernel.inferred import MARKERS_OPTIONAL
from sessions_app.kernel.readings import (
    CallReading,
    Mark,
    MarkReading,
    Reading,
    SessionReading,
    Source,
    StepsReading,
    ToolSize,
)

HEAD = ("sessionId", "startTime", "lastUpdated", "kind")


def parse(body: bytes, context: Context) -> Parsed:
    """Read a log, whole or a piece of it. Refused, message by message: bad counts and `missing_session`."""
    return parse_records(body, prepared(body, context), _reduce_and_read, _records)


def prepared(body: bytes, context: Context) -> Context:
    """The context with the session that the first line names; a told one stays."""
    if context.session:
        return context
    try:
        record, _ = decode(body.lstrip().partition(b"\n")[0], LARGEST)
    except Refused:
        return context
    session = record.get("sessionId") if isinstance(record, dict) else None
    return replace(context, session=kept_id(session)) if isinstance(session, str) else context


def _records(value: Any) -> Iterator[Any]:
    """The head and the messages of a document, each with the session."""
    for document in value if isinstance(value, list) else [value]:
        messages = document.get("messages") if isinstance(document, dict) else None
        if not isinstance(messages, list):
            yield document
            continue
        yield {name: document.get(name) for name in HEAD}
        for message in messages:
            yield {**message, "sessionId": document.get("sessionId")} if isinstance(message, dict) else message


def reduce(record: Any, context: Context) -> Husk:
    """The husk of a line: a head, a message, or the messages of a patch. Refused: `not_an_object`."""
    if not isinstance(record, dict):
        raise Refused("not_an_object", "", f"expected an object, got {type(record).__name__}")
    patch = record.get("$set")
    if isinstance(patch, dict):
        held = patch.get("messages")
        messages = [_message(m) for m in held if isinstance(m, dict)] if isinstance(held, list) else []
        return husk({"sessionId": context.session or None, "messages": messages})
    if "projectHash" in record or "startTime" in record:
        return husk(
            {"kind": record.get("kind"), "sessionId": record.get("sessionId"), "startedAt": record.get("startTime")}
        )
    return husk({**_message(record), "sessionId": record.get("sessionId") or context.session or None})


def _message(record: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: record[name] for name in ("id", "timestamp", "type", "model", "tokens") if name in record}
    calls = record.get("toolCalls")
    if isinstance(calls, list):
        told["toolCalls"] = [_tool(call) for call in calls if isinstance(call, dict)]
    return told


def _tool(call: Mapping[str, Any]) -> dict[str, Any]:
    sizes = {"input": {SIZE: size_of(call.get("args"))}, "output": {SIZE: size_of(call.get("result"))}}
    return {
        **{name: call.get(name) for name in ("id", "status", "timestamp")},
        "tool_name": call.get("name"),
        **sizes,
    }


def _reduce_and_read(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
    reduced = reduce(record, context)
    return reduced, read(reduced, context)


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one line. Refused: bad counts; usage that belongs to no session."""
    given = record.get("sessionId") or context.session
    session = given if isinstance(given, str) else ""
    held = record.get("messages")
    messages = [m for m in held if isinstance(m, dict)] if isinstance(held, list) else [record]
    found: list[Reading] = []
    for message in messages:
        if not session and message.get("tokens"):
            raise Refused("missing_session", "/sessionId", "a piece without its file's first line needs ?session=ID")
        found += _Message(message, session, context).readings() if session else ()
    return tuple(found)


class _Message:
    """A message, or the head of a log, which tells when it began."""

    def __init__(self, record: Husk, session: str, context: Context) -> None:
        self.record, self.session = record, session
        at = moment(record.get("timestamp", record.get("startedAt")), context.received_ms)
        self.ms, self.flags, self.received_ms = at.ms, at.flags, context.received_ms
        name = record.get("id")
        self.id = name if isinstance(name, str) else ""

    def readings(self) -> Iterator[Reading]:
        kind = self.record.get("type")
        if kind == "gemini" and self.id:
            yield from self._call()
            yield from self._tools()
        elif kind in ("user", "error") and self.id:
            mark = Mark.PROMPT if kind == "user" else Mark.API_ERROR
            yield MarkReading(**self._base(self.id), mark=mark, at_ms=self.ms, received_ms=self._received)
        if self.ms is not None:
            yield SessionReading(**self._base("session"), first_ms=self.ms, last_ms=self.ms, flags=(MARKERS_OPTIONAL,))

    def _base(self, key: str) -> dict[str, Any]:
        return {"session": self.session, "source": Source.TRANSCRIPT, "key": key}

    @property
    def _received(self) -> int | None:
        return self.received_ms if self.ms is None else None

    def _call(self) -> Iterator[Reading]:
        tokens, model = self.record.get("tokens"), self.record.get("model")
        if not isinstance(tokens, dict):
            return
        told = leaves(tokens, CHAT, "/tokens")
        if told is None:
            yield MarkReading(
                **self._base(f"unseen:{self.id}"), mark=Mark.UNSEEN_CALL, at_ms=self.ms, received_ms=self._received
            )
            return
        counts, flags = told
        yield CallReading(
            **self._base(self.id),
            message_id=self.id,
            thread=(30, ""),
            model=(self.ms or 0, model) if isinstance(model, str) and model else None,
            first_ms=self.ms,
            ended_ms=self.ms,
            received_ms=self._received,
            # The message is written when its response has ended.
            stop_reason=(0, "end"),
            flags=tuple(sorted({*self.flags, *flags})),
            **counts,
        )

    def _tools(self) -> Iterator[StepsReading]:
        calls = self.record.get("toolCalls")
        tools = dict(self._size(call) for call in calls if isinstance(call, dict)) if isinstance(calls, list) else {}
        tools.pop("", None)
        if tools:
            minute = (self.received_ms if self.ms is None else self.ms) // MINUTE_MS
            yield StepsReading(**self._base(str(minute)), tools=tools)

    def _size(self, call: Husk) -> tuple[str, ToolSize]:
        use, name = call.get("id"), call.get("tool_name")
        size = ToolSize(
            name=name if isinstance(name, str) else None,
            result_bytes=size_of(call.get("output")),
            input_bytes=size_of(call.get("input")),
            failed=int(call.get("status") != "success"),
            at_ms=moment(call.get("timestamp"), self.received_ms).ms,
        )
        return (use if isinstance(use, str) else "", size)


FEED = Feed("gemini-transcript", "gemini", parse, read)
