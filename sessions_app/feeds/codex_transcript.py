"""Rollouts of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl` and `archived_sessions/`.

Seen in versions 0.50 to 0.171. A piece of a file that does not hold the first line needs `?session=`; everything
else is worked out in the fold, so the pieces may come in any order.
"""

import hashlib
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

import msgspec

from sessions_app.feeds import codex_usage as usage
from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.claude_line import FOLDER_RANK, MINUTE_MS, short
from sessions_app.feeds.claude_statusline import REMOTE_RANK
from sessions_app.feeds.codex_line import Line, is_telling, line_of, prepared, reduce, spawned
from sessions_app.feeds.lines import parse_lines
from sessions_app.kernel.readings import (
    CompactionReading,
    Mark,
    MarkReading,
    MeterReading,
    Reading,
    SessionReading,
    Signal,
    Source,
    StepsReading,
    ToolSize,
)

#: Minutes for which a limit of a subscription counts.
FIVE_HOURS, SEVEN_DAYS = 300, 10_080
_MARKS = {"task_complete": Mark.STOP, "error": Mark.API_ERROR}


def parse(body: bytes, context: Context) -> Parsed:
    """Read a rollout or a piece of it. Refused lines: see `lines`, `husk`, `numbers` and `missing_session`."""
    return parse_lines(body, prepared(body, context), _reduce_and_read)


def _reduce_and_read(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
    reduced = reduce(record, context)
    return reduced, read(reduced, context)


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one line. Refused: bad usage, and lines that tell something and belong to no session."""
    line = line_of(record, context)
    if line is None:
        payload = record.get("payload")
        if is_telling(record.get("type"), payload if isinstance(payload, dict) else {}):
            raise Refused("missing_session", "/payload", "a piece without the first line of its file needs ?session=ID")
        return ()
    readings = list(_told(line))
    if line.ms is not None and is_telling(line.kind, line.payload):
        readings.append(_facts(line, first_ms=line.ms, last_ms=line.ms))
    return tuple(readings)


def _told(line: Line) -> Iterator[Reading]:
    if line.kind == "session_meta":
        yield from _meta(line)
    elif line.kind == "turn_context":
        yield from _model(line)
    elif line.kind == "token_usage_record":
        yield from filter(None, [usage.record(line)])
    elif line.kind == "compacted":
        yield from filter(None, [_compaction(line, Signal.BOUNDARY), usage.compaction_call(line)])
    elif line.kind == "event_msg":
        yield from _event(line)
    elif line.kind == "response_item":
        yield from _tool(line)


def _facts(line: Line, **more: Any) -> SessionReading:
    """What a line says of its session."""
    return SessionReading(session=line.session, source=Source.TRANSCRIPT, key="session", **more)


def _meta(line: Line) -> Iterator[Reading]:
    """Facts of a first line; an embedded ancestor's says only who it is."""
    own = line.text("id")
    thread = line.thread[1]
    if own and own not in (line.session, thread):
        return
    git = line.tree("git")
    remote, folder = git.get("repository_url"), line.text("cwd")
    ms = line.received_ms if line.ms is None else line.ms
    project = (FOLDER_RANK - ms, folder) if folder else None
    if isinstance(remote, str) and remote:
        project = (REMOTE_RANK, remote)
    role = spawned(line.payload).get("agent_role") or line.payload.get("agent_role")
    forked = line.text("forked_from_id")
    yield _facts(
        line,
        version=line.ranked(line.payload.get("cli_version")),
        branch=line.ranked(git.get("branch")),
        project=project,
        entrypoint=line.ranked(line.payload.get("originator")),
        parent=line.ranked(forked) if forked != line.session and not thread else None,
        agents={thread: role if isinstance(role, str) and role else "agent"} if thread else {},
    )


def _model(line: Line) -> Iterator[MarkReading]:
    """That a model is asked from here on."""
    model = line.ranked(line.payload.get("model"))
    if model is not None and line.ms is not None:
        yield _mark(line, Mark.MODEL, f"model:{model[1]}:{line.ms}", model[1])


def _mark(line: Line, mark: Mark, key: str, detail: str = "") -> MarkReading:
    return MarkReading(
        session=line.session,
        source=Source.TRANSCRIPT,
        key=usage.by_thread(key, line),
        mark=mark,
        at_ms=line.ms,
        received_ms=line.received_if_timeless,
        detail=(0, detail) if detail else None,
        thread=line.thread,
        prompt_id=line.ranked(line.payload.get("turn_id")),
    )


def _event(line: Line) -> Iterator[Reading]:
    if line.event == "token_count":
        yield from filter(None, [usage.count(line), _limits(line)])
    elif line.event == "context_compacted":
        yield _compaction(line, Signal.NOTICE)
    elif line.event == "thread_settings_applied":
        yield from _model(line)
    elif _is_prompt(line):
        yield _mark(line, Mark.PROMPT, f"prompt:{_own_name(line)}")
    elif line.event in _MARKS:
        yield _mark(line, _MARKS[line.event], f"{line.event}:{_own_name(line)}")


def _limits(line: Line) -> MeterReading | None:
    """Shares of a subscription's limits that were used, told apart by how long they last."""
    used: dict[int, int] = {}
    for limit in (line.tree("limits").get("primary"), line.tree("limits").get("secondary")):
        percent, minutes = (
            (limit.get("used_percent"), limit.get("window_minutes")) if isinstance(limit, dict) else (None, 0)
        )
        if isinstance(percent, int | float) and 0 <= percent <= 1000 and isinstance(minutes, int):
            used[minutes] = round(percent * 10)
    five, seven = used.get(FIVE_HOURS), used.get(SEVEN_DAYS)
    if line.ms is None or (five is None and seven is None):
        return None
    return MeterReading(
        session=line.session,
        source=Source.TRANSCRIPT,
        key=f"limits:{five}:{seven}",
        received_ms=line.ms,
        five_hour_permille=five,
        seven_day_permille=seven,
    )


def _is_prompt(line: Line) -> bool:
    """A person's prompt: what a spawned agent is asked, its parent asked."""
    asked = line.event == "user_message" or line.payload.get("kind") == "UserMessage"
    return asked and not line.thread[1]


def _own_name(line: Line) -> str:
    """A name for a line without an id of its own."""
    if line.ms is not None:
        return str(line.ms)
    return hashlib.sha256(msgspec.json.encode(line.payload, order="sorted")).hexdigest()[:16]


def _compaction(line: Line, signal: Signal) -> CompactionReading:
    window, before = line.text("window_id"), line.text("previous_window_id")
    return CompactionReading(
        session=line.session,
        source=Source.TRANSCRIPT,
        key=usage.by_thread(f"{signal}:{window or _own_name(line)}", line),
        signal=signal,
        at_ms=line.ms,
        received_ms=line.received_if_timeless,
        thread=line.thread,
        uuids=short(window),
        parents=short(before),
        flags=line.flags,
    )


def _tool(line: Line) -> Iterator[StepsReading]:
    """Sizes of a tool's input or of what it gave."""
    use = line.text("call_id")
    if not use:
        return
    name, given, gave = (line.payload.get(key) for key in ("tool_name", "input_bytes", "output_bytes"))
    if given is None and gave is None:
        return
    size = ToolSize(
        name=name if isinstance(name, str) else None,
        input_bytes=given if isinstance(given, int) else None,
        result_bytes=gave if isinstance(gave, int) else None,
        at_ms=line.ms if isinstance(gave, int) else None,
        thread=line.thread[1],
    )
    minute = (line.received_ms if line.ms is None else line.ms) // MINUTE_MS
    yield StepsReading(
        session=line.session, source=Source.TRANSCRIPT, key=usage.by_thread(str(minute), line), tools={use: size}
    )


def session_at(path: PurePath) -> str:
    """A rollout's name ends with the id of its thread."""
    return path.stem[-36:] if path.stem.startswith("rollout-") else ""


FEED = Feed("codex-transcript", "codex", parse, read, by_line=True, prepare=prepared, session_at=session_at)
