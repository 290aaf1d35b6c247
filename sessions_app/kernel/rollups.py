"""What a host told as sums of a stretch, less what is known of the calls in it.

Older Copilot tells tokens when a session is shut down. A resumed session counts on, or anew, by version: where
the sum fell, or equals what the calls of the stretch put out, it began anew. The rest has no price: a sum may
fall into a tier that no call reached.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from sessions_app.kernel import names
from sessions_app.kernel.facts import CallFact, Leaves, SlotFact
from sessions_app.kernel.readings import Purpose, RollupReading
from sessions_app.kernel.times import SLOT_MS, when

type Sums = tuple[int, ...]


def rest(rollups: Iterable[RollupReading], calls: Sequence[CallFact]) -> list[SlotFact]:
    """Slots of what the sums tell beyond the calls, at the end of each stretch."""
    legs: dict[int, list[RollupReading]] = defaultdict(list)
    for rollup in rollups:
        at_ms = rollup.received_ms if rollup.at_ms is None else rollup.at_ms
        legs[at_ms or 0].append(rollup)
    found: list[SlotFact] = []
    before: dict[str, Sums] = {}
    since_ms = 0
    for at_ms, told in sorted(legs.items()):
        inside = [c for c in calls if since_ms < _ms(c) <= at_ms and c.purpose is not Purpose.COMPACTION]
        for rollup in sorted(told, key=lambda r: r.model):
            own = [c for c in inside if len(told) == 1 or names.normalise(c.model) == names.normalise(rollup.model)]
            spent = _spent(rollup, before.get(rollup.model), own)
            before[rollup.model] = _sums(rollup)
            slot = _slot(at_ms, rollup.model, spent, own)
            if slot is not None:
                found.append(slot)
        since_ms = at_ms
    return found


def _ms(call: CallFact) -> int:
    return int(call.started_at.timestamp() * 1000)


def _sums(rollup: RollupReading) -> Sums:
    return (rollup.requests, rollup.uncached_input, rollup.cache_read, rollup.write_total, rollup.output)


def _spent(rollup: RollupReading, before: Sums | None, own: Sequence[CallFact]) -> Sums:
    """Of this stretch alone: the sum itself where it began anew, else what it added."""
    now = _sums(rollup)
    known = sum(c.leaves.output for c in own)
    if before is None or known == now[-1] or any(a < b for a, b in zip(now, before, strict=True)):
        return now
    return tuple(a - b for a, b in zip(now, before, strict=True))


def _slot(at_ms: int, model: str, spent: Sums, own: Sequence[CallFact]) -> SlotFact | None:
    held = sum((c.leaves for c in own), Leaves())
    written = held.cache_write_5m + held.cache_write_1h
    known = (len(own), held.uncached_input, held.cache_read, written, held.output)
    requests, given, read, wrote, output = (max(0, a - b) for a, b in zip(spent, known, strict=True))
    if not any((requests, given, read, wrote, output)):
        return None
    start = at_ms // SLOT_MS * SLOT_MS
    return SlotFact(
        key=f"{at_ms}:rest:{model}"[:160],
        slot_at=when(start),
        model=model,
        calls=requests,
        aux_calls=0,
        leaves=Leaves(
            uncached_input=given,
            cache_read=read,
            cache_write_5m=wrote,
            output=output,
            cache_write_unknown_ttl=wrote,
        ),
        cost_usd=None,
        no_cache_cost_usd=None,
        unpriced_calls=max(requests, 1) if not any("input_unseen" in c.flags for c in own) else requests,
        zones={},
    )
