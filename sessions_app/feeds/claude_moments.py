"""Moments in a Claude Code transcript that are no calls: prompts, compactions, errors, writes to memory."""

from collections.abc import Iterator

from sessions_app.feeds.base import Husk
from sessions_app.feeds.claude_line import Line, is_externalizing, short, thread_of
from sessions_app.feeds.husk import WRAP
from sessions_app.feeds.tool_deltas import tool_delta
from sessions_app.kernel.readings import CompactionReading, Mark, MarkReading, Signal, Source

BOUNDARIES = {"compact_boundary": Signal.BOUNDARY, "microcompact_boundary": Signal.MICRO}
METADATA = ("compactMetadata", "compact_metadata", "microcompactMetadata", "microcompact_metadata")


def boundary(line: Line) -> CompactionReading | None:
    """The compaction that a system line marks; the SDK writes its metadata in snake case."""
    signal = BOUNDARIES.get(str(line.husk.get("subtype")))
    if signal is None:
        return None
    metadata: Husk = next((line.husk[name] for name in METADATA if isinstance(line.husk.get(name), dict)), {})
    return compaction(line, signal, metadata)


def compaction(line: Line, signal: Signal, metadata: Husk) -> CompactionReading:
    """A signal of a compaction; its trigger and figures only where they are given."""
    uuid = line.text("uuid")
    return CompactionReading(
        session=line.session,
        source=Source.TRANSCRIPT,
        key=uuid if uuid and signal is Signal.BOUNDARY else f"{signal}:{uuid or line.ms}",
        signal=signal,
        trigger=line.ranked(metadata.get("trigger")),
        at_ms=line.ms,
        received_ms=line.received_if_timeless,
        duration_ms=_figure(metadata, "durationMs", "duration_ms"),
        before_tokens=_figure(metadata, "preTokens", "pre_tokens"),
        after_tokens=_figure(metadata, "postTokens", "post_tokens"),
        saved_tokens=_figure(metadata, "tokensSaved", "tokens_saved"),
        thread=thread_of(line.husk),
        prompt_id=line.ranked(line.husk.get("promptId")),
        uuids=short(uuid),
        parents=short(line.husk.get("logicalParentUuid") or line.husk.get("parentUuid")),
        flags=line.flags,
    )


def _figure(metadata: Husk, *names: str) -> int | None:
    """A figure beside a compaction; a bad one is unknown and does not cost the compaction."""
    for name in names:
        value = metadata.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1 << 62:
            return int(value)
    return None


def api_error(line: Line) -> MarkReading:
    """A request that failed; the host writes a row with the model `<synthetic>` for it."""
    return MarkReading(
        session=line.session,
        source=Source.TRANSCRIPT,
        key=f"error:{line.text('uuid') or line.ms}",
        mark=Mark.API_ERROR,
        at_ms=line.ms,
        received_ms=line.received_if_timeless,
        thread=thread_of(line.husk),
    )


def prompt(line: Line, blocks: list[Husk], content: object) -> MarkReading | None:
    """A person's prompt: text of the main chain that is neither the host's own nor a tool's result."""
    husk, uuid = line.husk, line.text("uuid")
    if uuid is None or husk.get("isMeta") or husk.get("agentId") or husk.get("isSidechain"):
        return None
    texts = [content] if isinstance(content, dict) else [block.get("text", {}) for block in blocks]
    if any(block.get("type") == "tool_result" for block in blocks):
        return None
    if not texts or all(isinstance(text, dict) and WRAP in text for text in texts):
        return None
    return MarkReading(
        session=line.session,
        source=Source.TRANSCRIPT,
        key=uuid,
        mark=Mark.PROMPT,
        at_ms=line.ms,
        received_ms=line.received_if_timeless,
        prompt_id=line.ranked(husk.get("promptId")),
    )


def externalized(line: Line, blocks: list[Husk]) -> Iterator[MarkReading]:
    """Writes to durable memory, by the tool that wrote."""
    for block in blocks:
        tool, use = block.get("name"), block.get("id")
        if block.get("type") != "tool_use" or not isinstance(tool, str) or not isinstance(use, str) or not use:
            continue
        given = block.get("input")
        if is_externalizing(tool, given.get("command") if isinstance(given, dict) else None):
            yield MarkReading(
                session=line.session,
                source=Source.TRANSCRIPT,
                key=use,
                mark=Mark.EXTERNALIZE,
                at_ms=line.ms,
                received_ms=line.received_if_timeless,
                detail=line.ranked(tool),
                thread=thread_of(line.husk),
            )


def tools_changed(line: Line) -> MarkReading | None:
    """The moment of a change; None where nothing came or went."""
    told, uuid = line.husk.get("attachment"), line.text("uuid")
    delta = tool_delta(told) if isinstance(told, dict) else None
    if delta is None or uuid is None or not (delta["added"] or delta["removed"]):
        return None
    return MarkReading(
        session=line.session,
        source=Source.TRANSCRIPT,
        key=uuid,
        mark=Mark.TOOLS,
        at_ms=line.ms,
        received_ms=line.received_if_timeless,
        detail=(0, f"+{delta['added']} -{delta['removed']}"),
        thread=thread_of(line.husk),
    )
