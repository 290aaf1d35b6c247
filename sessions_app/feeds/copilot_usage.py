"""Usage in Copilot's events: per call in newer versions, by message and leg in older ones."""

from collections.abc import Iterator
from typing import Any

from sessions_app.feeds.base import Husk, Refused
from sessions_app.feeds.copilot_line import Line
from sessions_app.feeds.husk_strings import made_id
from sessions_app.feeds.numbers import token_count
from sessions_app.kernel.readings import CallReading, Purpose, RollupReading, Source
from sessions_app.kernel.totals import BY_TOTAL

#: Purposes by the host's own words; conversation where it says none.
INITIATORS = {"compaction": Purpose.COMPACTION, "title": Purpose.TITLE}


def _base(line: Line) -> dict[str, Any]:
    return {
        "session": line.session,
        "source": Source.TRANSCRIPT,
        "thread": line.thread,
        "received_ms": line.received_if_timeless,
        "flags": line.flags,
    }


def usage_call(line: Line) -> Iterator[CallReading]:
    """The call of a usage record. Refused: counts that are none."""
    usage = line.tree("usage")
    if not usage:
        return
    where = "/data/usage" if line.kind == "session.usage_record" else "/data"
    call, request = _text(usage, "apiCallId"), _text(usage, "providerCallId")
    message_id = call or (made_id("event:", line.name) if line.name else None)
    took = usage.get("duration")
    took_ms = int(took) if isinstance(took, int | float) and 0 <= took < 86_400_000 else None
    yield CallReading(
        **_base(line),
        key=message_id or f"at:{line.ms}",
        message_id=message_id,
        request_id=request or None,
        purpose=purpose_of(_text(usage, "initiator"), _text(usage, "interactionType")),
        model=line.ranked(usage.get("model")),
        first_ms=line.ms - took_ms if line.ms is not None and took_ms is not None else line.ms,
        ended_ms=line.ms,
        duration_ms=took_ms,
        stop_reason=(0, _text(usage, "finishReason") or "completed"),
        window=token_count(usage.get("maxPromptTokens"), f"{where}/maxPromptTokens") or None,
        query_source=line.ranked(usage.get("initiator")),
        **leaves(usage, where),
    )


def purpose_of(initiator: str, interaction: str) -> tuple[int, Purpose]:
    """What a call was made for."""
    for word, purpose in INITIATORS.items():
        if initiator == word or word in interaction:
            return (50, purpose)
    return (0, Purpose.TURN)


def message_call(line: Line) -> CallReading:
    """The call that a message came from, of which older versions tell the output alone. Refused: a bad count."""
    named = line.text("apiCallId") or line.text("messageId") or line.name
    message_id = line.text("apiCallId") or (made_id("message:", named) if named else None)
    return CallReading(
        **_base(line),
        key=message_id or f"at:{line.ms}",
        message_id=message_id,
        first_ms=line.ms,
        model=line.ranked(line.data.get("model")),
        stop_reason=(0, "completed"),
        output=token_count(line.data.get("outputTokens"), "/data/outputTokens"),
    )


def compaction_call(line: Line) -> Iterator[CallReading]:
    """The summary's own call; newer versions have a usage record of it too, so it goes by what it spent."""
    spent = line.tree("spent")
    if not any(isinstance(spent.get(name), int) and spent[name] for name in ("inputTokens", "outputTokens")):
        return
    yield CallReading(
        **_base(line),
        key=f"spent:{line.name or line.ms}",
        message_id=made_id(BY_TOTAL, line.name or str(line.ms)),
        purpose=(50, Purpose.COMPACTION),
        model=line.ranked(spent.get("model")),
        first_ms=line.ms,
        stop_reason=(0, "completed"),
        **leaves(spent, "/data/compactionTokensUsed"),
    )


def rollups(line: Line) -> Iterator[RollupReading]:
    """Sums of a leg by model. Refused: counts that are none."""
    listed = line.data.get("metrics")
    for row in listed if isinstance(listed, list) else ():
        model = _text(row, "model")
        where = "/data/modelMetrics"
        yield RollupReading(
            session=line.session,
            source=Source.TRANSCRIPT,
            key=f"{line.name or line.ms}:{model}",
            model=model,
            at_ms=line.ms,
            received_ms=line.received_if_timeless,
            requests=token_count(row.get("requests"), f"{where}/requests") or 0,
            **{name: count or 0 for name, count in leaves(row, where).items() if name != "reasoning"},
        )


def leaves(usage: Husk, pointer: str) -> dict[str, Any]:
    """Disjoint leaves of inclusive counts."""
    given, read, written, output, reasoning = (
        token_count(usage.get(name), f"{pointer}/{name}")
        for name in ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens", "reasoningTokens")
    )
    if given is None:
        if read or written:
            raise Refused("missing_count", f"{pointer}/inputTokens", "input includes what was read and written")
        return {"output": output, "reasoning": reasoning}
    inside = (read or 0) + (written or 0)
    return {
        # A record in which the parts exceed the whole does not include them.
        "uncached_input": given - inside if inside <= given else given,
        "cache_read": read or 0,
        "write_total": written or 0,
        "output": output,
        "reasoning": reasoning,
    }


def _text(holder: Husk, name: str) -> str:
    value = holder.get(name)
    return value if isinstance(value, str) else ""
