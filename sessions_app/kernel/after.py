"""What came after a moment in a session: calls, and the acts by which an advice is followed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Acts:
    """Moments of a session, each list in its own order."""

    calls: Sequence[datetime]
    done: Mapping[str, Sequence[datetime]]


def acts_after(acts: Acts, at: datetime) -> tuple[int, dict[str, int]]:
    """(calls after `at`, each act that came after it with the number of calls between)."""
    found = {
        name: _between(acts.calls, at, min(later))
        for name, moments in acts.done.items()
        if (later := _later(moments, at))
    }
    return len(_later(acts.calls, at)), found


def _later(moments: Iterable[datetime], at: datetime) -> list[datetime]:
    return [moment for moment in moments if moment > at]


def _between(calls: Iterable[datetime], at: datetime, until: datetime) -> int:
    return sum(1 for call in calls if at < call <= until)
