"""Events of Copilot CLI: `~/.copilot/session-state/ID/events.jsonl`.

From 1.0.102 on each call has a `session.usage_record`; older versions tell only the output beside each message and
the sums of a leg when the session is shut down. Input includes what was read from and written to the cache.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

import msgspec

from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.claude_line import FOLDER_RANK, MINUTE_MS
from sessions_app.feeds.claude_statusline import REMOTE_RANK
from sessions_app.feeds.copilot_line import KEPT, Line, line_of, prepared, reduce
from sessions_app.feeds.copilot_usage import compaction_call, message_call, rollups, usage_call
from sessions_app.feeds.lines import parse_lines
from sessions_app.feeds.numbers import LARGEST
from sessions_app.kernel.readings import (
    CompactionReading,
    Mark,
    MarkReading,
    Reading,
    SessionReading,
    Signal,
    Source,
    StepsReading,
    ToolSize,
)

#: What makes the host compact; all but one are of its own accord.
TRIGGERS = {
    "manual": "manual",
    **dict.fromkeys(("threshold", "context_limit_retry", "memory_pressure", "model_switch", "auto"), "auto"),
}
_TELLING = frozenset(KEPT) - {"session.start", "session.resume"}


def parse(body: bytes, context: Context) -> Parsed:
    """Read a file of events or a piece of it. Refused lines: see `lines`, `husk`, `numbers` and `missing_session`."""
    return parse_lines(body, prepared(body, context), _reduce_and_read)


def _reduce_and_read(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
    reduced = reduce(record, context)
    return reduced, read(reduced, context)


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one line. Refused: bad usage, and lines that tell something and belong to no session."""
    line, kind = line_of(record, context), record.get("type")
    if line is None:
        if isinstance(kind, str) and kind in _TELLING:
            raise Refused("missing_session", "/data", "a piece without the first line of its file needs ?session=ID")
        return ()
    readings = list(_told(line))
    if line.ms is not None and line.kind in KEPT:
        readings.append(_facts(line, first_ms=line.ms, last_ms=line.ms))
    return tuple(readings)


def _told(line: Line) -> Iterator[Reading]:
    reader = READERS.get(line.kind)
    return reader(line) if reader else iter(())


def _usage(line: Line) -> Iterator[Reading]:
    yield from usage_call(line)
    yield from _heritage(line)


def _message(line: Line) -> Iterator[Reading]:
    yield message_call(line)


def _shutdown(line: Line) -> Iterator[Reading]:
    yield from rollups(line)
    yield from _model(line)
    yield _mark(line, Mark.END)


def _prompt(line: Line) -> Iterator[Reading]:
    """A person's prompt: what an agent is asked, its parent asked."""
    if not line.thread[1]:
        yield _mark(line, Mark.PROMPT)


def _error(line: Line) -> Iterator[Reading]:
    yield _mark(line, Mark.API_ERROR)


def _facts(line: Line, **more: Any) -> SessionReading:
    return SessionReading(session=line.session, source=Source.TRANSCRIPT, key="session", **more)


def _start(line: Line) -> Iterator[Reading]:
    ms = line.received_ms if line.ms is None else line.ms
    remote, folder = line.text("remote"), line.text("cwd")
    project = (REMOTE_RANK, remote) if remote else (FOLDER_RANK - ms, folder) if folder else None
    version, branch = line.ranked(line.data.get("version")), line.ranked(line.data.get("branch"))
    yield _facts(line, version=version, branch=branch, project=project)
    yield from _model(line)
    if line.kind == "session.start":
        yield _mark(line, Mark.START)


def _heritage(line: Line) -> Iterator[SessionReading]:
    """A record that was copied from another session names it."""
    parent = line.text("parentSessionId")
    if parent and parent != line.session:
        yield _facts(line, parent=line.ranked(parent))


def _model(line: Line) -> Iterator[MarkReading]:
    """That a model is asked from here on."""
    model = line.text("model")
    if model and line.ms is not None:
        yield _mark(line, Mark.MODEL, model)


def own_name(line: Line) -> str:
    """The line's id, else a name by what it says."""
    return line.name or hashlib.sha256(msgspec.json.encode([line.ms, line.data], order="sorted")).hexdigest()[:16]


def _mark(line: Line, mark: Mark, detail: str = "") -> MarkReading:
    return MarkReading(
        session=line.session,
        source=Source.TRANSCRIPT,
        key=f"{mark}:{own_name(line)}",
        mark=mark,
        at_ms=line.ms,
        received_ms=line.received_if_timeless,
        detail=(0, detail) if detail else None,
        thread=line.thread,
    )


def _agent(line: Line) -> Iterator[SessionReading]:
    thread, kind = line.thread[1] or line.text("toolCallId"), line.text("agent_type")
    if thread:
        yield _facts(line, agents={thread: kind or "agent"})


def _tool(line: Line) -> Iterator[StepsReading]:
    """Sizes of a tool's input or of what it gave."""
    use, name = line.text("toolCallId"), line.text("toolName")
    if not use:
        return
    given, gave = line.data.get("input_bytes"), line.data.get("output_bytes")
    is_result = isinstance(gave, int)
    size = ToolSize(
        name=name or None,
        input_bytes=given if isinstance(given, int) else None,
        result_bytes=gave if is_result else None,
        failed=int(line.data.get("success") is False) if is_result else None,
        at_ms=line.ms if is_result else None,
        thread=line.thread[1],
    )
    minute = (line.received_ms if line.ms is None else line.ms) // MINUTE_MS
    yield StepsReading(session=line.session, source=Source.TRANSCRIPT, key=str(minute), tools={use: size})


def _compaction(line: Line) -> Iterator[Reading]:
    """The intention, the end of a compaction with its own call, or messages dropped without a summary."""
    if line.kind == "session.compaction_start":
        yield _signal(line, Signal.PRE_HOOK)
    elif line.kind == "session.truncation":
        removed = _figure(line, "tokensRemovedDuringTruncation") or _figure(line, "droppedTokens")
        if removed:
            yield _signal(line, Signal.MICRO, saved_tokens=removed)
    elif line.data.get("success") is False:
        yield _signal(line, Signal.TELEMETRY, succeeded=(0, "false"))
    else:
        before, after = _figure(line, "preCompactionTokens"), _figure(line, "postCompactionTokens")
        yield _signal(line, Signal.BOUNDARY, before_tokens=before, after_tokens=after)
        yield from compaction_call(line)


def _signal(line: Line, signal: Signal, **more: Any) -> CompactionReading:
    trigger = TRIGGERS.get(line.text("trigger"))
    return CompactionReading(
        session=line.session,
        source=Source.TRANSCRIPT,
        key=f"{signal}:{own_name(line)}",
        signal=signal,
        trigger=(0, trigger) if trigger else None,
        at_ms=line.ms,
        received_ms=line.received_if_timeless,
        thread=line.thread,
        flags=line.flags,
        **more,
    )


def _figure(line: Line, name: str) -> int | None:
    """A figure beside a compaction; a bad one is unknown and does not cost the compaction."""
    value = line.data.get(name)
    return value if type(value) is int and 0 <= value <= LARGEST else None


READERS: Mapping[str, Callable[[Line], Iterator[Reading]]] = {
    "session.start": _start,
    "session.resume": _start,
    "session.usage_record": _usage,
    "assistant.usage": _usage,
    "assistant.message": _message,
    "session.shutdown": _shutdown,
    "session.model_change": _model,
    "session.error": _error,
    "user.message": _prompt,
    "subagent.started": _agent,
    "tool.execution_start": _tool,
    "tool.execution_complete": _tool,
    **dict.fromkeys(("session.compaction_start", "session.compaction_complete", "session.truncation"), _compaction),
}


def session_at(path: PurePath) -> str:
    """The folder of the events is named after the session."""
    return path.parent.name if path.name == "events.jsonl" else ""


FEED = Feed("copilot-transcript", "copilot", parse, read, by_line=True, prepare=prepared, session_at=session_at)
