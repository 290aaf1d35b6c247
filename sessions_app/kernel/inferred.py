"""Compactions that nobody tells: a context that fell sharply from one call to the next.

Only for sessions whose records may lack the marker; a host that always writes one says more by its silence. A
return to an earlier message looks the same, so what is found here is shown as inferred and counted nowhere.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from sessions_app.kernel.compactions import Kind, State
from sessions_app.kernel.facts import CallFact, CompactionFact
from sessions_app.kernel.readings import Reading, SessionReading

#: What a feed says of a session whose record may lack the marker of a compaction.
MARKERS_OPTIONAL = "markers_optional"
#: The context must have lost at least so much, and more than half.
LEAST_DROP = 20_000


def inferred(
    readings: Iterable[Reading], calls: Sequence[CallFact], told: Sequence[CompactionFact]
) -> list[CompactionFact]:
    """Drops of the main chain that no compaction and no clearing explains, after those that were told."""
    if not any(isinstance(r, SessionReading) and MARKERS_OPTIONAL in r.flags for r in readings):
        return []
    main = [call for call in calls if not call.thread and call.occupancy is not None]
    drops = [(a, b) for a, b in pairwise(main) if _fell(a, b) and not any(_between(c, a, b) for c in told)]
    return [_fact(before, after, len(told) + number) for number, (before, after) in enumerate(drops, 1)]


def _fell(before: CallFact, after: CallFact) -> bool:
    was, now = before.occupancy or 0, after.occupancy or 0
    return was - now >= LEAST_DROP and now * 2 < was


def _between(told: CompactionFact, before: CallFact, after: CallFact) -> bool:
    return told.next_call == after.key or (told.at is not None and before.started_at <= told.at <= after.started_at)


def _fact(before: CallFact, after: CallFact, number: int) -> CompactionFact:
    return CompactionFact(
        key=f"inferred:{after.key}",
        number=number,
        kind=Kind.COMPACTION,
        state=State.INFERRED,
        trigger="unknown",
        thread="",
        at=after.started_at,
        duration_ms=None,
        depth=0,
        before_tokens=before.occupancy,
        before_origin="last_call",
        before_by_last_call=before.occupancy,
        before_by_telemetry=None,
        after_tokens=after.occupancy,
        after_by_host=None,
        saved_tokens=None,
        next_call=after.key,
        summary_call="",
        signals=(),
    )
