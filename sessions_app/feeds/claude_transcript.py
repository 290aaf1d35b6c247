"""Transcripts of Claude Code: `~/.claude/projects/*/*.jsonl`, subagents' files included.

One response stands on several lines, each with the whole usage; they share `message.id` and join by
maximum. Seen in versions 1.0 to 2.1; unknown line types are kept as husks and say nothing.
"""

from typing import Any

from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.claude_usage import calls_of
from sessions_app.feeds.husk import husk, size_of
from sessions_app.feeds.lines import REPLACED, parse_lines
from sessions_app.feeds.times import Moment, moment
from sessions_app.kernel.joins import Ranked
from sessions_app.kernel.readings import (
    CallReading,
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

SHORT = 12
#: The earliest folder names the project: later ones are where a command went.
FOLDER_RANK = 1 << 45
MINUTE_MS = 60_000


def parse(body: bytes, context: Context) -> Parsed:
    """Read a transcript or any piece of it."""
    return parse_lines(body, context, _reduce_and_read)


def _reduce_and_read(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
    reduced = husk(record)
    return reduced, read(reduced, context)


def read(line: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one line."""
    session = line.get("sessionId")
    if not isinstance(session, str) or not session:
        if isinstance(line.get("message"), dict) and line["message"].get("usage"):
            raise Refused("missing_session", "/sessionId", "a response without sessionId belongs to no session")
        return ()
    at = moment(line.get("timestamp"), context.received_ms)
    readings: list[Reading] = []
    if line.get("type") == "assistant":
        readings += _assistant(line, session, at, context)
    elif line.get("type") == "system":
        readings += _system(line, session, at)
    elif line.get("type") == "user":
        readings += _user(line, session, at)
    steps = _steps(line, session, at)
    return (*readings, *steps, _facts(line, session, at, bool(readings or steps)))


def short(value: object) -> tuple[str, ...]:
    """The last characters of a line's id: enough to tell lines of one session apart."""
    return (value[-SHORT:],) if isinstance(value, str) and value else ()


def thread_of(line: Husk) -> Ranked:
    """Which agent wrote the line; a copy in the main chain outranks one in a side file."""
    agent = line.get("agentId")
    if not line.get("isSidechain") and not agent:
        return (30, "")
    return (20, agent) if isinstance(agent, str) and agent else (10, "side")


def _ranked(at: Moment, value: object) -> Ranked | None:
    return (at.ms or 0, value) if isinstance(value, str) and value else None


def _assistant(line: Husk, session: str, at: Moment, context: Context) -> list[Reading]:
    message = line.get("message")
    if not isinstance(message, dict):
        return []
    if message.get("model") == "<synthetic>":
        return _api_error(line, session, at) if line.get("isApiErrorMessage") else []
    base: dict[str, Any] = {
        "session": session,
        "source": Source.TRANSCRIPT,
        "thread": thread_of(line),
        "first_ms": at.ms,
        "received_ms": context.received_ms if at.ms is None else None,
        "prompt_id": _ranked(at, line.get("promptId")),
        "request_id": line.get("requestId") if isinstance(line.get("requestId"), str) else None,
        "uuids": short(line.get("uuid")),
        "parents": short(line.get("parentUuid")),
        "flags": tuple(sorted({*at.flags, *_flags(line)})),
    }
    calls: list[Reading] = list(calls_of(message, base, at.ms or 0, str(line.get("uuid") or "")))
    return calls + _externalized(message, session, at)


def _flags(line: Husk) -> tuple[str, ...]:
    return (REPLACED,) if line.get(REPLACED) is True else ()


def _api_error(line: Husk, session: str, at: Moment) -> list[Reading]:
    key = str(line.get("uuid") or at.ms)
    return [MarkReading(session=session, source=Source.TRANSCRIPT, key=key, mark=Mark.API_ERROR, at_ms=at.ms)]


def is_externalizing(tool: str) -> bool:
    """Whether a tool writes to durable memory."""
    return tool == "memory" or tool.startswith("mcp__crystalium__")


def _externalized(message: Husk, session: str, at: Moment) -> list[Reading]:
    return [
        MarkReading(session=session, source=Source.TRANSCRIPT, key=block["id"], mark=Mark.EXTERNALIZE, at_ms=at.ms)
        for block in _blocks(message, "tool_use")
        if is_externalizing(str(block.get("name"))) and isinstance(block.get("id"), str)
    ]


def _system(line: Husk, session: str, at: Moment) -> list[Reading]:
    signals = {"compact_boundary": Signal.BOUNDARY, "microcompact_boundary": Signal.MICRO}
    signal = signals.get(str(line.get("subtype")))
    if signal is None:
        return []
    names = ("compactMetadata", "compact_metadata", "microcompactMetadata")
    meta = next((line[n] for n in names if isinstance(line.get(n), dict)), {})
    return [_compaction(line, session, at, signal, meta)]


def _compaction(line: Husk, session: str, at: Moment, signal: Signal, meta: Husk) -> CompactionReading:
    uuid = line.get("uuid")
    return CompactionReading(
        session=session,
        source=Source.TRANSCRIPT,
        key=uuid if isinstance(uuid, str) and uuid else f"{signal}:{at.ms}",
        signal=signal,
        trigger=_ranked(at, meta.get("trigger")),
        at_ms=at.ms,
        duration_ms=_count(meta, "durationMs", "duration_ms"),
        before_tokens=_count(meta, "preTokens", "pre_tokens"),
        after_tokens=_count(meta, "postTokens", "post_tokens"),
        saved_tokens=_count(meta, "tokensSaved", "tokens_saved"),
        thread=thread_of(line),
        prompt_id=_ranked(at, line.get("promptId")),
        uuids=short(uuid),
        parents=short(line.get("logicalParentUuid") or line.get("parentUuid")),
        flags=at.flags,
    )


def _count(meta: Husk, *names: str) -> int | None:
    """A figure beside a compaction; a bad one is unknown and does not cost the compaction."""
    for name in names:
        value = meta.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1 << 62:
            return int(value)
    return None


def _user(line: Husk, session: str, at: Moment) -> list[Reading]:
    uuid = line.get("uuid")
    if line.get("isCompactSummary") is True:
        return [_compaction(line, session, at, Signal.SUMMARY, {})]
    message = line.get("message")
    if not isinstance(message, dict) or not isinstance(uuid, str) or line.get("isMeta") or line.get("isSidechain"):
        return []
    if _blocks(message, "tool_result"):
        return []
    prompt = _ranked(at, line.get("promptId"))
    return [
        MarkReading(
            session=session, source=Source.TRANSCRIPT, key=uuid, mark=Mark.PROMPT, at_ms=at.ms, prompt_id=prompt
        )
    ]


def _blocks(message: Husk, kind: str) -> list[Husk]:
    content = message.get("content")
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict) and block.get("type") == kind]


def _steps(line: Husk, session: str, at: Moment) -> list[Reading]:
    """The line's place in the chain and the tool uses that it names or answers."""
    parent = short(line.get("logicalParentUuid") or line.get("parentUuid"))
    own = short(line.get("uuid"))
    links = {own[0]: parent[0]} if own and parent else {}
    tools = _tools(line, at)
    if not links and not tools:
        return []
    minute = (at.ms or 0) // MINUTE_MS
    return [StepsReading(session=session, source=Source.TRANSCRIPT, key=str(minute), links=links, tools=tools)]


def _tools(line: Husk, at: Moment) -> dict[str, ToolSize]:
    message = line.get("message")
    if not isinstance(message, dict):
        return {}
    thread = thread_of(line)[1]
    tools: dict[str, ToolSize] = {}
    for block in _blocks(message, "tool_use"):
        if isinstance(block.get("id"), str):
            name = block.get("name") if isinstance(block.get("name"), str) else None
            tools[block["id"]] = ToolSize(name=name, input_bytes=size_of(block.get("input")), thread=thread)
    for block in _blocks(message, "tool_result"):
        if isinstance(block.get("tool_use_id"), str):
            tools[block["tool_use_id"]] = ToolSize(
                result_bytes=size_of(block.get("content")),
                failed=int(block.get("is_error") is True),
                at_ms=at.ms,
                thread=thread,
            )
    return tools


def _facts(line: Husk, session: str, at: Moment, says_something: bool) -> SessionReading:
    cwd = line.get("cwd")
    agent = line.get("agentId")
    kind = line.get("agentType") or line.get("attributionAgent")
    return SessionReading(
        session=session,
        source=Source.TRANSCRIPT,
        key="session",
        first_ms=at.ms,
        last_ms=at.ms,
        version=_ranked(at, line.get("version")),
        branch=_ranked(at, line.get("gitBranch")),
        project=(FOLDER_RANK - (at.ms or 0), cwd) if isinstance(cwd, str) and cwd else None,
        entrypoint=_ranked(at, line.get("entrypoint")),
        agents={agent: kind} if says_something and isinstance(agent, str) and isinstance(kind, str) else {},
    )


FEED = Feed("claude-code-transcript", "claude-code", parse, read)

__all__ = ["FEED", "CallReading", "is_externalizing", "parse", "read", "thread_of"]
