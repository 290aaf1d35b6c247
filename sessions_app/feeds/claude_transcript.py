"""Transcripts of Claude Code: `~/.claude/projects/*/*.jsonl`, subagents' files included.

One response stands on several lines, each with the whole usage; they share `message.id` and join by
maximum. Lines name their own session: after a resume one file may hold several. Seen in versions 1.0
to 2.1; unknown line types only add to the chain of lines.
"""

from typing import Any

from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.claude_line import (
    FOLDER_RANK,
    MINUTE_MS,
    Line,
    is_externalizing,
    line_of,
    short,
    thread_of,
)
from sessions_app.feeds.claude_moments import api_error, boundary, compaction, externalized, prompt, tools_changed
from sessions_app.feeds.claude_usage import calls_of
from sessions_app.feeds.husk import husk, size_of
from sessions_app.feeds.lines import parse_lines
from sessions_app.kernel.readings import Reading, SessionReading, Signal, Source, StepsReading, ToolSize

__all__ = ["FEED", "FOLDER_RANK", "MINUTE_MS", "is_externalizing", "parse", "read", "short", "thread_of"]

#: Fields by which a copied session names the one that it came from, the surest first.
PARENTS = ("forkedFrom", "parentSessionId", "parent_session_id")


def parse(body: bytes, context: Context) -> Parsed:
    """Read a transcript or any piece of it. Refused lines: see `lines`, `husk`, `numbers` and `missing_session`."""
    return parse_lines(body, context, _reduce_and_read)


def _reduce_and_read(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
    reduced = husk(record)
    return reduced, read(reduced, context)


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one line. Refused: bad usage, and usage that belongs to no session."""
    line = line_of(record, context)
    message = record.get("message")
    if line is None:
        if isinstance(message, dict) and message.get("usage"):
            raise Refused("missing_session", "/sessionId", "a response without sessionId belongs to no session")
        return ()
    content = message.get("content") if isinstance(message, dict) else None
    blocks = [block for block in content if type(block) is dict] if isinstance(content, list) else []
    readings = _told(line, message if isinstance(message, dict) else {}, content, blocks)
    steps = _steps(line, blocks, len(blocks) or int(content is not None))
    if steps is not None:
        readings.append(steps)
    facts = _facts(line)
    if facts is not None:
        readings.append(facts)
    return tuple(readings)


def _told(line: Line, message: Husk, content: object, blocks: list[Husk]) -> list[Reading]:
    """What a line says by its type: calls, compactions, marks."""
    kind = line.husk.get("type")
    if kind == "assistant":
        return _assistant(line, message, blocks)
    if kind == "system":
        found = boundary(line)
        return [found] if found else []
    if kind == "attachment":
        changed = tools_changed(line)
        return [changed] if changed else []
    if kind == "user":
        if line.husk.get("isCompactSummary") is True:
            return [compaction(line, Signal.SUMMARY, {})]
        asked = prompt(line, blocks, content)
        return [asked] if asked else []
    return []


def _assistant(line: Line, message: Husk, blocks: list[Husk]) -> list[Reading]:
    if message.get("model") == "<synthetic>":
        return [api_error(line)] if line.husk.get("isApiErrorMessage") else []
    base: dict[str, Any] = {
        "session": line.session,
        "source": Source.TRANSCRIPT,
        "thread": thread_of(line.husk),
        "first_ms": line.ms,
        "received_ms": line.received_if_timeless,
        "prompt_id": line.ranked(line.husk.get("promptId")),
        "request_id": line.text("requestId"),
        "uuids": short(line.husk.get("uuid")),
        "parents": short(line.husk.get("parentUuid")),
        "flags": line.flags,
    }
    return [*calls_of(message, base, line.ms or 0, line.text("uuid") or ""), *externalized(line, blocks)]


def _steps(line: Line, blocks: list[Husk], count: int) -> StepsReading | None:
    """The line's place in the chain, its content blocks, and the tool uses that it names or answers."""
    own = short(line.husk.get("uuid"))
    parent = short(line.husk.get("logicalParentUuid") or line.husk.get("parentUuid"))
    links = {own[0]: parent[0]} if own and parent else {}
    tools = _tools(line, blocks) if blocks else {}
    if not links and not tools:
        return None
    minute = (line.ms if line.ms is not None else line.received_ms) // MINUTE_MS
    held = {own[0]: count} if own and count and line.husk.get("type") in ("user", "assistant") else {}
    return StepsReading(
        session=line.session, source=Source.TRANSCRIPT, key=str(minute), links=links, tools=tools, blocks=held
    )


def _tools(line: Line, blocks: list[Husk]) -> dict[str, ToolSize]:
    thread = thread_of(line.husk)[1]
    tools: dict[str, ToolSize] = {}
    for block in blocks:
        use, answered, name = block.get("id"), block.get("tool_use_id"), block.get("name")
        if block.get("type") == "tool_use" and isinstance(use, str) and use:
            tools[use] = ToolSize(
                name=name if isinstance(name, str) else None, input_bytes=size_of(block.get("input")), thread=thread
            )
        elif block.get("type") == "tool_result" and isinstance(answered, str) and answered:
            tools[answered] = ToolSize(
                result_bytes=size_of(block.get("content")),
                failed=int(block.get("is_error") is True),
                at_ms=line.ms,
                thread=thread,
            )
    return tools


def _facts(line: Line) -> SessionReading | None:
    """What the line says of the whole session; None when that is nothing."""
    record, ms = line.husk, line.ms
    folder, agents, parent = line.text("cwd"), _agents(line), _parent(line)
    if ms is None and not (folder or agents or parent):
        return None
    seen_ms = line.received_ms if ms is None else ms
    return SessionReading(
        session=line.session,
        source=Source.TRANSCRIPT,
        key="session",
        first_ms=ms,
        last_ms=ms,
        version=line.ranked(record.get("version")),
        branch=line.ranked(record.get("gitBranch")),
        project=(FOLDER_RANK - seen_ms, folder) if folder else None,
        entrypoint=line.ranked(record.get("entrypoint")),
        parent=line.ranked(parent),
        agents=agents,
    )


def _agents(line: Line) -> dict[str, str]:
    """Types of agents by id: from the agent's own lines, or from the result of the tool that ran it."""
    result = line.husk.get("toolUseResult")
    ran = result if isinstance(result, dict) else {}
    own = (line.husk.get("agentId"), line.husk.get("agentType") or line.husk.get("attributionAgent"))
    pairs = (own, (ran.get("agentId"), ran.get("agentType")))
    return {agent: kind for agent, kind in pairs if isinstance(agent, str) and agent and isinstance(kind, str) and kind}


def _parent(line: Line) -> str | None:
    """The session that this one was copied from, where the host says so."""
    for name in PARENTS:
        value = line.husk.get(name)
        told = value.get("sessionId") if isinstance(value, dict) else value
        if isinstance(told, str) and told and told != line.session:
            return told
    return None


FEED = Feed("claude-code-transcript", "claude-code", parse, read, by_line=True)
