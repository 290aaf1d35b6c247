"""Sums from metrics alone: they describe the same tokens as calls, so they speak only without calls."""

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal

from sessions_app.kernel.facts import Leaves, SlotFact
from sessions_app.kernel.readings import CounterReading
from sessions_app.kernel.times import SLOT_MS, when

COST = "cost_nanousd"


def slots(readings: Iterable[CounterReading]) -> list[SlotFact]:
    """Quarters of an hour by model. Not priced: a sum of calls may fall into a tier that no call reached."""
    sums: dict[tuple[int, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for reading in readings:
        if reading.leaf != COST:
            moment = (reading.at_ms or reading.start_ms or 0) // SLOT_MS * SLOT_MS
            sums[(moment, reading.model)][reading.leaf] += reading.value
    return [
        SlotFact(
            key=f"{start}:{model}",
            slot_at=when(start),
            model=model,
            calls=0,
            aux_calls=0,
            leaves=_leaves(by_leaf),
            cost_usd=None,
            no_cache_cost_usd=None,
            unpriced_calls=0,
            zones={},
        )
        for (start, model), by_leaf in sorted(sums.items())
    ]


def _leaves(by_leaf: dict[str, int]) -> Leaves:
    written = by_leaf.get("cache_write", 0)
    return Leaves(
        uncached_input=by_leaf.get("uncached_input", 0),
        cache_read=by_leaf.get("cache_read", 0),
        cache_write_5m=written,
        output=by_leaf.get("output", 0),
        cache_write_unknown_ttl=written,
    )


def host_cost(readings: Iterable[CounterReading]) -> Decimal | None:
    """The host's own running cost, if its metrics carry it."""
    values = [r.value for r in readings if r.leaf == COST]
    return Decimal(sum(values)).scaleb(-9) if values else None
