"""The fold: from the readings of a session to what happened in it. Deterministic, from scratch.

The outcome depends on the set of readings only, never on their order (Hypothesis holds it over the
recorded stories). Cost is O(n log n) in readings.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from sessions_app.kernel import chain, evidence, gauges, identity, names, ownership, points, summary, tools, usage
from sessions_app.kernel.chain import Node
from sessions_app.kernel.charges import Charge, Prices
from sessions_app.kernel.clearings import clearings
from sessions_app.kernel.compactions import LONGEST_MS, Kind, Sighting, State
from sessions_app.kernel.facts import CallFact, CompactionFact, FoldInput, SessionFold
from sessions_app.kernel.inferred import inferred
from sessions_app.kernel.joins import gathered
from sessions_app.kernel.ownership import OwnedCall
from sessions_app.kernel.readings import (
    CONVENTION_SUSPECT,
    MarkReading,
    MeterReading,
    Purpose,
    Signal,
    Source,
    StepsReading,
)
from sessions_app.kernel.rereads import with_rereads
from sessions_app.kernel.times import when
from sessions_app.kernel.worth import with_worths
from sessions_app.kernel.zones import Window

#: A child this much earlier than its parent means that a clock was set back.
CLOCK_SLACK_MS = 2_000


def fold(given: FoldInput, prices: Prices) -> SessionFold:
    """Fold one session."""
    owned, found, heritage = ownership.divide(given, summary.clock(given.readings))
    steps = [r for r in given.readings if isinstance(r, StepsReading)]
    base_depth = sum(1 for s in heritage.compactions if _counts(s) and not _thread(s))
    sequence, stepped_back, blocks = _sequence(owned, found, steps)
    call_facts = evidence.with_blocks(_call_facts(given, sequence, base_depth, prices), blocks)
    compaction_facts = _compaction_facts(sequence, found, call_facts)
    compaction_facts += inferred(given.readings, call_facts, compaction_facts)
    compaction_facts = with_rereads(with_worths(compaction_facts, call_facts, prices), steps)
    cleared = clearings(call_facts, compaction_facts, prices)
    call_facts = evidence.with_events(call_facts, compaction_facts, cleared)
    call_facts = evidence.with_tools(call_facts, [r for r in given.readings if isinstance(r, MarkReading)])
    return summary.assemble(
        given,
        calls=call_facts,
        compactions=compaction_facts,
        clearings=cleared,
        tools=tools.facts(steps),
        inherited=heritage.calls,
        base_depth=base_depth,
        parent=heritage.parent,
        stepped_back=stepped_back,
        ends_with_compaction=bool(sequence) and _last_main(sequence),
        first_line=ownership.first_line_ms(given.readings),
    )


type Step = OwnedCall | Sighting


def _counts(sighting: Sighting) -> bool:
    """Whether the context was really replaced: completed, or told by a summary line alone."""
    return sighting.kind is Kind.COMPACTION and sighting.state in (State.COMPLETED, State.SUMMARY_ONLY)


def _thread(sighting: Sighting) -> str:
    return max(r.thread for r in sighting.all())[1]


def _sequence(
    owned: Sequence[OwnedCall], found: Sequence[Sighting], steps: Sequence[StepsReading]
) -> tuple[list[Step], list[int], dict[str, int]]:
    """Calls and compactions in causal order, moments of a clock set back, content blocks since the call before.

    The blocks by key of the call: those of the response before it, and of what was sent with this one.
    """
    links = gathered(max, (step.links for step in steps))
    things: dict[str, Step] = {f"c{c.key}": c for c in owned}
    things.update((f"x{s.key}", s) for s in found if _counts(s))
    nodes = [_node(key, thing) for key, thing in things.items()]
    parents = chain.parents_of(nodes, links)
    at = {node.key: node.at_ms for node in nodes}
    odd = {f"c{c.key}" for c in owned if "impossible_time" in c.reading.flags}
    stepped_back = sorted(
        at[child]
        for child, parent in parents.items()
        if at[child] + CLOCK_SLACK_MS < at[parent] and not {child, parent} & odd
    )
    sizes = gathered(max, (step.blocks for step in steps))
    between_calls = {child: parent for child, parent in parents.items() if child[0] == parent[0] == "c"}
    blocks = chain.appended(nodes, links, sizes, between_calls) if sizes else {}
    in_order = [things[node.key] for node in chain.ordered(nodes, parents)]
    return in_order, stepped_back, {key[1:]: count for key, count in blocks.items()}


def _node(key: str, thing: Step) -> Node:
    if isinstance(thing, OwnedCall):
        return Node(key, thing.at_ms, thing.reading.uuids, _outside(thing.reading.parents, thing.reading.uuids))
    uuids = tuple(sorted({u for r in thing.all() for u in r.uuids}))
    parents = tuple(sorted({p for r in thing.all() for p in r.parents}))
    return Node(key, thing.at_ms or 0, uuids, _outside(parents, uuids))


def _outside(parents: Sequence[str], uuids: Sequence[str]) -> tuple[str, ...]:
    return tuple(p for p in parents if p not in uuids)


def _last_main(sequence: Sequence[Step]) -> bool:
    """Whether a compaction of the main chain came after its last call."""
    for thing in reversed(sequence):
        if isinstance(thing, Sighting):
            if _thread(thing) == "":
                return True
        elif thing.is_point:
            return False
    return False


def _call_facts(given: FoldInput, sequence: Sequence[Step], base_depth: int, prices: Prices) -> list[CallFact]:
    meters = [r for r in given.readings if isinstance(r, MeterReading)]
    steps = [r for r in given.readings if isinstance(r, StepsReading)]
    marks = [r for r in given.readings if isinstance(r, MarkReading)]
    main = [t for t in sequence if (isinstance(t, OwnedCall) and t.is_point) or isinstance(t, Sighting)]
    order = [
        points.Point(t.key, t.at_ms, t.model, t.occupancy, t.reading.window)
        if isinstance(t, OwnedCall)
        else t.at_ms or 0
        for t in main
        if isinstance(t, OwnedCall) or _thread(t) == ""
    ]
    models = {t.model for t in sequence if isinstance(t, OwnedCall)}
    placed = points.walk(
        order,
        windows=gauges.stated_windows(meters),
        assumed={model: prices.window(model) for model in models},
        compacted_at=_compacted_at(sequence),
        base_depth=base_depth,
        shares=points.Shares(points.tool_sizes(steps)),
        marks=marks,
        thresholds=given.thresholds,
    )
    owned = [t for t in sequence if isinstance(t, OwnedCall)]
    return [_call_fact(call, number, placed.get(call.key), prices) for number, call in enumerate(owned, 1)]


def _compacted_at(sequence: Sequence[Step]) -> dict[str, int]:
    """The highest count at which the host compacted the main chain by itself, by plain name of the model.

    The model is that of the call before, or of the first one where the record begins with a compaction.
    """
    points_only = [t for t in sequence if isinstance(t, OwnedCall) and t.is_point]
    last = points_only[0] if points_only else None
    found: dict[str, int] = {}
    for thing in sequence:
        if isinstance(thing, OwnedCall):
            last = thing if thing.is_point else last
        elif last and thing.trigger == "auto" and _thread(thing) == "":
            boundary = thing.signals.get(Signal.BOUNDARY)
            count = (boundary and boundary.before_tokens) or last.occupancy
            model = names.normalise(last.model)
            found[model] = max(found.get(model, 0), count)
    return found


def _call_fact(call: OwnedCall, number: int, placed: points.Placed | None, prices: Prices) -> CallFact:
    reading, started = call.reading, when(call.at_ms)
    fast = bool(reading.speed and reading.speed[1] == "fast")
    ended = when(reading.ended_ms) if reading.ended_ms is not None else None
    searches = reading.web_searches or 0
    charge = prices.charge(call.model, started, call.leaves, ended=ended, fast=fast, web_searches=searches)
    if CONVENTION_SUSPECT in reading.flags or call.is_blind:
        charge = None
    elif call.purpose is Purpose.RECOUNT:
        charge = Charge(Decimal(0), Decimal(0), None)
    host_cost = reading.host_cost_nanousd
    window_suspect = placed and placed.window.tokens and call.occupancy > placed.window.tokens
    return CallFact(
        key=call.key,
        number=number,
        thread=call.thread,
        purpose=call.purpose,
        model=call.model,
        started_at=started,
        ended_at=ended,
        leaves=call.leaves,
        reasoning=reading.reasoning,
        cost_usd=charge.cost_usd if charge else None,
        no_cache_cost_usd=charge.no_cache_cost_usd if charge else None,
        price_id=charge.price_id if charge else None,
        host_cost_usd=None if host_cost is None else Decimal(host_cost).scaleb(-9),
        occupancy=call.occupancy if call.purpose.is_point and not call.is_blind else None,
        window=placed.window if placed else Window(),
        zone=placed.zone if placed else None,
        known_window=placed.known_window if placed else None,
        known_zone=placed.known_zone if placed else None,
        depth=placed.depth if placed else 0,
        tool_share_permille=placed.tool_share_permille if placed else None,
        externalize_age_calls=placed.externalize_age_calls if placed else None,
        origins=usage.origins_of(call.group, call.leaves),
        flags=_flags(call, bool(window_suspect)),
        cleared_uses=reading.cleared_uses,
        cleared_tokens=reading.cleared_tokens,
        evidence=evidence.of_reading(reading),
    )


def _flags(call: OwnedCall, window_suspect: bool) -> tuple[str, ...]:
    flags = set(call.reading.flags)
    if window_suspect:
        flags.add("window_suspect")
    if call.is_blind:
        flags.add("input_unseen")
    if identity.is_partial(call.group):
        flags.add("output_partial")
    if any(r.source is Source.PROXY and len(r.uuids) > 1 for r in call.group):
        flags.add("logged_twice")
    return tuple(sorted(flags))


def _compaction_facts(
    sequence: Sequence[Step], found: Sequence[Sighting], calls: Sequence[CallFact]
) -> list[CompactionFact]:
    by_key = {call.key: call for call in calls}
    facts: list[CompactionFact] = []
    depth: dict[str, int] = {}
    spent = _summary_calls(found, calls)
    position = {id(thing): index for index, thing in enumerate(sequence)}
    for number, sighting in enumerate(sorted(found, key=lambda s: (position.get(id(s), 1 << 30), s.at_ms or 0)), 1):
        thread = _thread(sighting)
        before, after = _neighbours(sequence, position.get(id(sighting)), thread, by_key)
        if _counts(sighting):
            depth[thread] = depth.get(thread, 0) + 1
        fact = _compaction_fact(
            sighting, number, thread, depth.get(thread, 0), before, after, spent.get(sighting.key, "")
        )
        if fact.after_by_host is None:
            fact = replace(fact, after_by_host=_recount(sequence, position.get(id(sighting)), thread))
        facts.append(fact)
    return facts


def _neighbours(
    sequence: Sequence[Step], index: int | None, thread: str, by_key: dict[str, CallFact]
) -> tuple[CallFact | None, CallFact | None]:
    """The last call before and the first after, of the same thread; none beyond another compaction."""
    if index is None:
        return None, None

    def nearest(things: Iterable[Step]) -> CallFact | None:
        for thing in things:
            if isinstance(thing, Sighting):
                if _thread(thing) == thread:
                    return None
            elif thing.thread == thread and thing.purpose is Purpose.TURN:
                return by_key[thing.key]
        return None

    # By places and not by slices: a forged record may hold tens of thousands of compactions.
    before = (sequence[place] for place in range(index - 1, -1, -1))
    return nearest(before), nearest(sequence[place] for place in range(index + 1, len(sequence)))


def _recount(sequence: Sequence[Step], index: int | None, thread: str) -> int | None:
    """What the host itself counted after a compaction, before the next call and the next compaction."""
    for place in range(index + 1, len(sequence)) if index is not None else ():
        thing = sequence[place]
        if isinstance(thing, Sighting):
            if _thread(thing) == thread:
                return None
        elif thing.thread == thread:
            return thing.occupancy if thing.purpose is Purpose.RECOUNT else None
    return None


def _summary_calls(found: Sequence[Sighting], calls: Sequence[CallFact]) -> dict[str, str]:
    """The auxiliary call that wrote each summary: the nearest pairs first, so that a call which no record has
    does not take another compaction's."""
    ends = sorted((s.at_ms or 0, s.key) for s in found if s.kind is not Kind.MICRO and s.signals)
    starts = [(int(c.started_at.timestamp() * 1000), c.key) for c in calls if c.purpose is Purpose.COMPACTION]
    pairs = [
        (abs(start - ends[place][0]), ends[place][1], key)
        for start, key in starts
        for place in range(bisect_left(ends, (start - LONGEST_MS, "")), bisect_left(ends, (start + LONGEST_MS + 1, "")))
    ]
    spent: dict[str, str] = {}
    taken: set[str] = set()
    for _, own, key in sorted(pairs):
        if own not in spent and key not in taken:
            spent[own] = key
            taken.add(key)
    return spent


def _compaction_fact(
    sighting: Sighting,
    number: int,
    thread: str,
    depth: int,
    before: CallFact | None,
    after: CallFact | None,
    spent: str,
) -> CompactionFact:
    boundary = sighting.signals.get(Signal.BOUNDARY) or sighting.signals.get(Signal.MICRO)
    telemetry = sighting.signals.get(Signal.TELEMETRY)
    stated = boundary.before_tokens if boundary else None
    by_call = before.occupancy if before else None
    host_after = [r.after_tokens for r in (boundary, telemetry) if r and r.after_tokens is not None]
    return CompactionFact(
        key=sighting.key,
        number=number,
        kind=sighting.kind,
        state=sighting.state,
        trigger=sighting.trigger,
        thread=thread,
        at=when(sighting.at_ms) if sighting.at_ms is not None else None,
        duration_ms=max((r.duration_ms for r in sighting.all() if r.duration_ms is not None), default=None),
        depth=depth,
        before_tokens=stated if stated is not None else by_call,
        before_origin="transcript" if stated is not None else "last_call" if by_call is not None else "",
        before_by_last_call=by_call,
        before_by_telemetry=telemetry.before_tokens if telemetry else None,
        after_tokens=after.occupancy if after else None,
        after_by_host=host_after[0] if host_after else None,
        saved_tokens=boundary.saved_tokens if boundary else None,
        next_call=after.key if after else "",
        summary_call=spent,
        signals=tuple(str(r.signal) for r in sighting.all()),
    )
