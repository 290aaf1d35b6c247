"""The session in one row, its threads, its quarters of an hour, and what to be careful about."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from sessions_app.kernel import counters, live, lower_bound, money, ownership, rollups
from sessions_app.kernel.compactions import Kind, State
from sessions_app.kernel.facts import (
    CallFact,
    ClearingFact,
    CompactionFact,
    FoldInput,
    Leaves,
    SessionFold,
    SlotFact,
    Summary,
    ThreadFact,
    ToolFact,
)
from sessions_app.kernel.joins import Ranked, gathered
from sessions_app.kernel.mechanisms import LOOKBACK_BLOCKS, WIDE_BLOCKS
from sessions_app.kernel.readings import (
    HANDOFF,
    CallReading,
    CompactionReading,
    CounterReading,
    Mark,
    MarkReading,
    Purpose,
    Reading,
    RollupReading,
    SessionReading,
)
from sessions_app.kernel.times import SLOT_MS, when
from sessions_app.kernel.zones import Zone

#: Remarks kept per session; a broken client may produce one per call.
MOST_WARNINGS = 100

MESSAGES = {
    "naive_time": "a time without zone was read as UTC",
    "impossible_time": "an impossible time was replaced by the time of receipt",
    "utf8_replaced": "bytes that are not UTF-8 were replaced",
    "clock_step_back": "a clock was set back; order follows the chain of messages",
    "convention_suspect": "its counts contradict each other; they are kept as they came and not priced",
    "logged_twice": "two records of a proxy tell this call under ids of their own; it is counted once",
    "window_suspect": "a context was larger than its window; the window is suspect",
}


def clock(readings: Iterable[Reading]) -> tuple[int, int] | None:
    """First and last moment by readings that have a clock of their own."""
    moments: list[int] = []
    for reading in readings:
        if isinstance(reading, CallReading | SessionReading):
            ends = (reading.first_ms, getattr(reading, "ended_ms", None), getattr(reading, "last_ms", None))
            moments.extend(m for m in ends if m is not None)
        elif isinstance(reading, CompactionReading | MarkReading) and reading.at_ms is not None:
            moments.append(reading.at_ms)
    return (min(moments), max(moments)) if moments else None


def assemble(
    given: FoldInput,
    *,
    calls: Sequence[CallFact],
    compactions: Sequence[CompactionFact],
    clearings: Sequence[ClearingFact],
    tools: Sequence[ToolFact],
    inherited: int,
    base_depth: int,
    parent: str | None,
    stepped_back: Sequence[int],
    ends_with_compaction: bool,
    first_line: int | None,
) -> SessionFold:
    """Put facts together; counters speak only where no call was read."""
    slots = _slots(calls)
    if not calls and not inherited:
        slots = counters.slots(r for r in given.readings if isinstance(r, CounterReading))
    rest = rollups.rest((r for r in given.readings if isinstance(r, RollupReading)), calls)
    slots += rest
    facts = [r for r in given.readings if isinstance(r, SessionReading)]
    project = _best(facts, "project")
    counted = [c for c in compactions if c.kind is Kind.COMPACTION and c.state is State.COMPLETED]
    depth = base_depth + sum(
        1 for c in compactions if c.thread == "" and c.kind is Kind.COMPACTION and c.state in _REPLACED
    )
    now = live.current(given, calls, ends_with_compaction)
    fields: dict[str, Any] = {
        **_sums(slots),
        **_times(given, calls),
        "calls": sum(1 for c in calls if c.purpose is Purpose.TURN) + sum(slot.calls for slot in rest),
        "aux_calls": sum(1 for c in calls if c.purpose.is_auxiliary),
        "subagent_calls": sum(1 for c in calls if c.purpose is Purpose.TURN and c.thread),
        "inherited_calls": inherited,
        "is_handoff": any(HANDOFF in fact.flags for fact in facts),
        "first_prompt_tokens": _first_prompt(calls, base_depth + inherited),
        "host_cost_usd": _host_cost(given, calls),
        "compactions": len(counted),
        "depth": depth,
        "branch": _value(_best(facts, "branch")),
        "version": _value(_best(facts, "version")),
        "model": _model(calls, facts),
        **now,
        "warnings": _warnings(calls, stepped_back),
        "lower_bound": lower_bound.reasons(calls, counted, given.readings, rest),
        "sources": dict(sorted(Counter(str(r.source) for r in given.readings).items())),
    }
    threads = _threads(calls, facts)
    fields["threads"] = len(threads)
    return SessionFold(
        calls=tuple(calls),
        compactions=tuple(compactions),
        threads=tuple(threads),
        slots=tuple(slots),
        clearings=tuple(clearings),
        tools=tuple(tools),
        summary=Summary(
            fields=fields,
            project=_value(project) or None,
            project_is_strong="/" in _value(project),
            developer=_value(_best(facts, "developer")) or None,
            parent_session=parent or ownership.declared_parent(facts),
            first_line_ms=first_line,
        ),
    )


_REPLACED = (State.COMPLETED, State.SUMMARY_ONLY)


def _best(facts: Iterable[SessionReading], name: str) -> Ranked | None:
    return max((v for f in facts if (v := getattr(f, name)) is not None), default=None)


def _value(ranked: Ranked | None) -> str:
    return ranked[1] if ranked else ""


def _model(calls: Sequence[CallFact], facts: Iterable[SessionReading]) -> str:
    """The model of the newest conversation call; before the first, what the host said."""
    turns = [c for c in calls if c.purpose is Purpose.TURN and not c.thread] or list(calls)
    return turns[-1].model if turns else _value(_best(facts, "model"))


def _sums(slots: Sequence[SlotFact]) -> dict[str, Any]:
    total = sum((s.leaves for s in slots), Leaves())
    return {
        "uncached_input": total.uncached_input,
        "cache_read": total.cache_read,
        "cache_write_5m": total.cache_write_5m,
        "cache_write_1h": total.cache_write_1h,
        "cache_write_unknown_ttl": total.cache_write_unknown_ttl,
        "output": total.output,
        "cost_usd": money.total(s.cost_usd for s in slots),
        "no_cache_cost_usd": money.total(s.no_cache_cost_usd for s in slots),
        "unpriced_calls": sum(s.unpriced_calls for s in slots),
    }


def _times(given: FoldInput, calls: Sequence[CallFact]) -> dict[str, datetime | None]:
    """First and last sign of life by real clocks, else by receipt; the end if the host said so."""
    span = clock(given.readings)
    if span is None:
        received = [ms for r in given.readings if (ms := getattr(r, "received_ms", None)) is not None]
        span = (min(received), max(received)) if received else None
        if span is None and calls:
            span = (given.received_ms, given.received_ms)
    ends = [r for r in given.readings if isinstance(r, MarkReading) and r.mark is Mark.END]
    # A resume that equals an earlier one is the same mark, and over http it is not told at all; a prompt is.
    signs = (Mark.START, Mark.PROMPT)
    starts = [r.received_ms or 0 for r in given.readings if isinstance(r, MarkReading) and r.mark in signs]
    ended = max((r.received_ms or 0 for r in ends), default=0)
    closed = ended and ended >= max(starts, default=0)
    return {
        "first_at": when(span[0]) if span else None,
        "last_at": when(span[1]) if span else None,
        "ended_at": when(ended) if closed else None,
    }


def _host_cost(given: FoldInput, calls: Sequence[CallFact]) -> Decimal | None:
    """What the host itself says it cost, by its calls or by its running total, whichever saw more."""
    by_call = money.total(c.host_cost_usd for c in calls)
    gauges = [ms for r in given.readings if (ms := getattr(r, "host_cost_nanousd", None)) and r.kind == "meter"]
    by_gauge = Decimal(max(gauges)).scaleb(-9) if gauges else None
    by_counter = counters.host_cost(r for r in given.readings if isinstance(r, CounterReading))
    return max((c for c in (by_call, by_gauge, by_counter) if c is not None), default=None)


def _threads(calls: Sequence[CallFact], facts: Iterable[SessionReading]) -> list[ThreadFact]:
    agents = gathered(max, (fact.agents for fact in facts))
    by_thread: dict[str, list[CallFact]] = defaultdict(list)
    for call in calls:
        # The summariser runs as an agent of the host; it is no thread of the conversation.
        by_thread["" if call.purpose is Purpose.COMPACTION else call.thread].append(call)
    return [
        ThreadFact(
            key=key,
            agent_type=agents.get(key, ""),
            calls=sum(1 for c in members if c.purpose is Purpose.TURN),
            peak_occupancy=max((c.occupancy for c in members if c.occupancy is not None), default=None),
            tokens=sum((c.leaves for c in members), Leaves()).total,
            cost_usd=money.total(c.cost_usd for c in members),
            first_at=min(c.started_at for c in members),
            last_at=max(c.started_at for c in members),
            returned_tokens=_returned(members) if key else None,
        )
        for key, members in sorted(by_thread.items())
    ]


def _first_prompt(calls: Sequence[CallFact], inherited: int) -> int | None:
    """What fills the context before anyone speaks; None where the session goes on from another one."""
    first = next((call for call in calls if call.occupancy is not None and not call.thread), None)
    return first.occupancy if first and not inherited else None


def _returned(members: Sequence[CallFact]) -> int | None:
    """What the agent told its parent: the output of its last call, thinking left out."""
    turns = [call for call in members if call.purpose is Purpose.TURN]
    return max(0, turns[-1].leaves.output - (turns[-1].reasoning or 0)) if turns else None


def _slots(calls: Sequence[CallFact]) -> list[SlotFact]:
    by_slot: dict[tuple[int, str], list[CallFact]] = defaultdict(list)
    for call in calls:
        if call.purpose is Purpose.RECOUNT:
            continue
        ms = int(call.started_at.timestamp() * 1000)
        by_slot[(ms // SLOT_MS * SLOT_MS, call.model)].append(call)
    return [
        SlotFact(
            key=f"{start}:{model}",
            slot_at=when(start),
            model=model,
            calls=sum(1 for c in members if c.purpose is Purpose.TURN),
            aux_calls=sum(1 for c in members if c.purpose.is_auxiliary),
            leaves=sum((c.leaves for c in members), Leaves()),
            cost_usd=money.total(c.cost_usd for c in members),
            no_cache_cost_usd=money.total(c.no_cache_cost_usd for c in members),
            unpriced_calls=sum(1 for c in members if c.cost_usd is None),
            zones=dict(Counter(c.zone or Zone.UNKNOWN for c in members if c.purpose is Purpose.TURN and not c.thread)),
            rounds=len(_blocks(members)),
            wide_rounds=sum(1 for n in _blocks(members) if n > WIDE_BLOCKS),
            over_rounds=sum(1 for n in _blocks(members) if n > LOOKBACK_BLOCKS),
        )
        for (start, model), members in sorted(by_slot.items())
    ]


def _blocks(calls: Sequence[CallFact]) -> list[int]:
    """New content blocks of each call of which they are known."""
    return [blocks for call in calls if isinstance(blocks := call.evidence.get("blocks"), int)]


def _warnings(calls: Sequence[CallFact], stepped_back: Sequence[int]) -> list[dict[str, str]]:
    """One remark per odd call; the suspect window once."""
    found = [
        {"code": flag, "at": call.started_at.isoformat(), "message": MESSAGES[flag]}
        for call in calls
        for flag in call.flags
        if flag in MESSAGES and flag != "window_suspect"
    ]
    found += [
        {"code": "clock_step_back", "at": when(ms).isoformat(), "message": MESSAGES["clock_step_back"]}
        for ms in stepped_back
    ]
    suspect = next((c for c in calls if "window_suspect" in c.flags), None)
    if suspect:
        found.append(
            {
                "code": "window_suspect",
                "at": suspect.started_at.isoformat(),
                "message": MESSAGES["window_suspect"],
            }
        )
    return found[:MOST_WARNINGS]
