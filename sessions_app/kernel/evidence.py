"""What the records of a call tell beside its usage, and which event it follows: what a cause may rest on."""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sessions_app.kernel.compactions import Kind
from sessions_app.kernel.facts import CallFact, ClearingFact, ClearingKind, CompactionFact
from sessions_app.kernel.readings import CONVENTION_SUSPECT, CallReading, Mark, MarkReading, Purpose


def of_reading(reading: CallReading) -> dict[str, Any]:
    """Speed and fees, the provider's own reason for a miss, and whether cache counts came at all and agree."""
    counts = (reading.cache_read, reading.write_total, reading.write_5m, reading.write_1h)
    found = {
        "fast": bool(reading.speed and reading.speed[1] == "fast"),
        "web_searches": reading.web_searches,
        "told": reading.miss_reason[1] if reading.miss_reason else "",
        "told_tokens": reading.missed_tokens,
        "is_suspect": CONVENTION_SUSPECT in reading.flags,
    }
    told = {name: value for name, value in found.items() if value}
    return told if any(count is not None for count in counts) else {**told, "tells_cache": False}


def with_events(
    calls: Sequence[CallFact], compactions: Sequence[CompactionFact], clearings: Sequence[ClearingFact]
) -> list[CallFact]:
    """The calls, the first one after a compaction or a clearing marked as such."""
    follows = {event.call: "clearing" for event in clearings if event.kind is not ClearingKind.FRONT}
    for event in compactions:
        if event.kind is Kind.MICRO:
            after = _next(calls, event)
            if after is not None:
                follows.setdefault(after.key, "clearing")
        elif event.next_call:
            follows[event.next_call] = "compaction"
    return [
        replace(call, evidence={**call.evidence, "follows": follows[call.key]}) if call.key in follows else call
        for call in calls
    ]


def with_blocks(calls: Sequence[CallFact], blocks: Mapping[str, int]) -> list[CallFact]:
    """The calls, each with the content blocks that came since the one before it, where the records tell them."""
    return [
        replace(call, evidence={**call.evidence, "blocks": blocks[call.key]}) if call.key in blocks else call
        for call in calls
    ]


def with_tools(calls: Sequence[CallFact], marks: Sequence[MarkReading]) -> list[CallFact]:
    """The calls, the first one after a change of tools marked: [came, went, whether a person's prompt lay between].

    What is told before the first call of a thread is no change.
    """
    found: dict[str, list[int]] = {}
    prompts = sorted(mark.at_ms for mark in marks if mark.mark is Mark.PROMPT and mark.at_ms is not None)
    for mark in marks:
        told = re.fullmatch(r"\+(\d+) -(\d+)", mark.detail[1]) if mark.mark is Mark.TOOLS and mark.detail else None
        if told is None or mark.at_ms is None:
            continue
        turns = [c for c in calls if c.thread == mark.thread[1] and c.purpose is Purpose.TURN]
        after = bisect_left([_ms(c) for c in turns], mark.at_ms)
        if not 0 < after < len(turns):
            continue
        start, end = _ms(turns[after - 1]), _ms(turns[after])
        is_boundary = bisect_left(prompts, start) < bisect_left(prompts, end + 1)
        came, went, _ = found.get(turns[after].key, [0, 0, 0])
        found[turns[after].key] = [came + int(told[1]), went + int(told[2]), int(is_boundary)]
    return [
        replace(call, evidence={**call.evidence, "tools": found[call.key]}) if call.key in found else call
        for call in calls
    ]


def _ms(call: CallFact) -> int:
    return int(call.started_at.timestamp() * 1000)


def _next(calls: Sequence[CallFact], event: CompactionFact) -> CallFact | None:
    """The first turn of the thread that started after a clearing."""
    at = event.at
    if at is None:
        return None
    later = (c for c in calls if c.thread == event.thread and c.purpose is Purpose.TURN and c.started_at >= at)
    return next(later, None)
