"""The certificate of a session: did the cache hold, did the pins survive, is any loss open?"""

from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.kernel.causes import Cause, Part
from sessions_app.models import Call, Restoration

#: Parts of the bill whose misses break the row; rebuilds are wanted work.
BREAKS = (Part.AVOIDABLE, Part.UNEXPLAINED)


@dataclass(frozen=True, slots=True)
class Certificate:
    """Reads sustained n of m, pins k of k, causes open; `broken` are the numbers of calls."""

    expected: int
    broken: tuple[int, ...]
    open_causes: int
    pins: int
    pins_whole: int
    pins_unknown: int

    @property
    def sustained(self) -> int:
        """Calls that read what they could."""
        return self.expected - len(self.broken)

    @property
    def passes(self) -> bool:
        """All reads sustained, and every pin that could be looked for was there or was given back."""
        return not self.broken and self.pins_whole == self.pins


def certificate(calls: Sequence[Call], restorations: Sequence[Restoration]) -> Certificate | None:
    """Of calls in order; None where no call could have read anything.

    A call that opens its thread and reads nothing had nothing to read.
    """
    seen: set[str] = set()
    expected, open_causes, broken = 0, 0, list[int]()
    for call in calls:
        opens = call.thread not in seen
        seen.add(call.thread)
        if opens and not call.cache_read:
            continue
        expected += 1
        if call.miss_part in BREAKS and call.miss_cause != Cause.SMALL:
            broken.append(call.number)
            open_causes += call.miss_part == Part.UNEXPLAINED
    if not expected:
        return None
    pins, whole, unknown = _pins(restorations)
    return Certificate(expected, tuple(broken), open_causes, pins, whole, unknown)


def _pins(restorations: Sequence[Restoration]) -> tuple[int, int, int]:
    """Pins that could be looked for, those that were there or came back, and those that could not be read."""
    known = whole = unknown = 0
    for row in restorations:
        came_back = row.delivered_at is not None or row.repaired_at is not None
        for state in (row.survival or {}).values():
            unknown += state == "unknown"
            known += state != "unknown"
            whole += state == "present" or (state != "unknown" and came_back)
    return known, whole, unknown
