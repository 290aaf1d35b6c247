"""Zone spans: the main thread's time cut where the zone or the window changes; unknown after a compaction.

Spans tile the time from the first call to the last sign of life: each begins where the one before ends.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sessions_app.kernel.zones import Zone


@dataclass(frozen=True, slots=True)
class Reached:
    """One call of the main thread: when, in which zone of which window, and how that is known."""

    at: datetime
    zone: str
    window: int | None
    window_origin: str


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch in one zone; `calls` is 0 for the unknown stretch after a compaction."""

    zone: str
    window: int | None
    window_origin: str
    started_at: datetime
    ended_at: datetime
    calls: int


def spans(points: Sequence[Reached], compacted_at: Iterable[datetime], until: datetime | None) -> tuple[Span, ...]:
    """Spans of calls in order; a compaction ends what was known until the next call."""
    moments = sorted(compacted_at)
    pieces: list[Span] = []
    for index, point in enumerate(points):
        following = points[index + 1].at if index + 1 < len(points) else max(until or point.at, point.at)
        ended = max(following, point.at)
        cut = next((m for m in moments if point.at <= m <= ended), None)
        pieces.append(Span(point.zone, point.window, point.window_origin, point.at, cut or ended, 1))
        if cut is not None:
            pieces.append(Span(Zone.UNKNOWN, point.window, point.window_origin, cut, ended, 0))
    return _joined(pieces)


def _joined(pieces: Iterable[Span]) -> tuple[Span, ...]:
    """Neighbours of one zone and window as one span."""
    joined: list[Span] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last and (last.zone, last.window, last.window_origin) == (piece.zone, piece.window, piece.window_origin):
            joined[-1] = Span(
                last.zone, last.window, last.window_origin, last.started_at, piece.ended_at, last.calls + piece.calls
            )
        else:
            joined.append(piece)
    return tuple(joined)
