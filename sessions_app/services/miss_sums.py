"""Sums of the ledger by quarter of an hour: the four parts of the bill, and misses by cause."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Q

from sessions_app.kernel import money
from sessions_app.kernel.causes import Part
from sessions_app.kernel.times import SLOT_MS
from sessions_app.models import Call, MissSlot, UsageSlot

SLOT_SECONDS = SLOT_MS // 1000
SLOT = timedelta(seconds=SLOT_SECONDS)

type Place = tuple[datetime, str]
type Row = dict[str, Any]

_COLUMNS = (
    *("started_at", "model", "needed_usd", "miss_cause", "miss_part", "missed_tokens", "miss_cost_usd"),
    *("is_repeat", "cache_read"),
)


def renew(session_id: int, touched: set[Place]) -> None:
    """Sum the touched quarters of a session again, and those that the fold wrote anew."""
    slots = UsageSlot.objects.filter(session=session_id).filter(
        Q(is_explained=False) | Q(slot_at__in={at for at, _ in touched})
    )
    rows = list(slots.only("pk", "slot_at", "model"))
    if not rows:
        return
    places = {(slot.slot_at, slot.model) for slot in rows}
    calls = _calls_of(session_id, places)
    for slot in rows:
        _fill(slot, calls[(slot.slot_at, slot.model)])
    UsageSlot.objects.bulk_update(
        rows, ["is_explained", "needed_usd", "repeats", "repeats_read", *_PARTS.values()], batch_size=1_000
    )
    MissSlot.objects.filter(session=session_id, slot_at__in={at for at, _ in places}).delete()
    fresh = [miss for place in places for miss in _misses(session_id, place, calls[place])]
    MissSlot.objects.bulk_create(fresh, batch_size=1_000)


def slot_of(at: datetime) -> datetime:
    """The start of its quarter of an hour."""
    return at - timedelta(seconds=int(at.timestamp()) % SLOT_SECONDS, microseconds=at.microsecond)


def _calls_of(session_id: int, places: set[Place]) -> dict[Place, list[Row]]:
    first, last = min(at for at, _ in places), max(at for at, _ in places)
    rows = Call.objects.filter(session=session_id, started_at__gte=first, started_at__lt=last + SLOT)
    found: dict[Place, list[Row]] = defaultdict(list)
    for row in rows.values(*_COLUMNS).iterator(chunk_size=5_000):
        found[(slot_of(row["started_at"]), row["model"])].append(row)
    return found


_PARTS = {Part.EXPECTED: "expected_usd", Part.AVOIDABLE: "avoidable_usd", Part.UNEXPLAINED: "unexplained_usd"}


def _fill(slot: UsageSlot, calls: Sequence[Row]) -> None:
    slot.is_explained = True
    slot.needed_usd = money.total(row["needed_usd"] for row in calls)
    slot.repeats = sum(1 for row in calls if row["is_repeat"])
    slot.repeats_read = sum(1 for row in calls if row["is_repeat"] and row["cache_read"])
    nothing = None if slot.needed_usd is None else Decimal()
    for part, column in _PARTS.items():
        amount = money.total(row["miss_cost_usd"] for row in calls if row["miss_part"] == part)
        setattr(slot, column, nothing if amount is None else amount)


def _misses(session_id: int, place: Place, calls: Iterable[Row]) -> list[MissSlot]:
    by_cause: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in calls:
        if row["miss_cause"]:
            by_cause[(row["miss_cause"], row["miss_part"])].append(row)
    return [
        MissSlot(
            session_id=session_id,
            slot_at=place[0],
            model=place[1],
            cause=cause,
            part=part,
            misses=len(rows),
            tokens=min(sum(row["missed_tokens"] for row in rows), (1 << 63) - 1),
            cost_usd=money.total(row["miss_cost_usd"] for row in rows),
            unpriced=sum(1 for row in rows if row["miss_cost_usd"] is None),
        )
        for (cause, part), rows in by_cause.items()
    ]
