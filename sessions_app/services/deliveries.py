"""A delivery of hooks, as the door reads it: whose it is, what it tells, what it asks."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.dateparse import parse_datetime

#: A drill that lasts longer is none.
LONGEST_DRILL = timedelta(minutes=60)
#: Hooks that tell of a compaction, or of what surrounds the session.
TELLING = frozenset(("PreCompact", "PostCompact", "SessionStart", "ConfigChange", "InstructionsLoaded"))


@dataclass(frozen=True, slots=True)
class Entry:
    """One hook of a delivery: its reduced payload, and when the client received it."""

    payload: Mapping[str, Any]
    at_ms: int

    def text(self, name: str) -> str:
        """A name that the payload carries; empty where it is none."""
        value = self.payload.get(name)
        return value if isinstance(value, str) else ""

    @property
    def event(self) -> str:
        """Which hook."""
        return self.text("hook_event_name")

    @property
    def is_after_compaction(self) -> bool:
        """Whether the session starts again on a summary."""
        return self.event == "SessionStart" and self.text("source") == "compact"


@dataclass(frozen=True, slots=True)
class Delivery:
    """Hooks of one session of one team. The last entry is answered if `waits`.

    `is_host`: the host itself reads the answer, so what is answered is delivered. `link` and `session_link` are
    addresses with `{}` for an id.
    """

    team_id: int
    organisation_id: int
    host: str
    session: str
    entries: tuple[Entry, ...]
    link: str
    session_link: str
    started: float
    machine: str = ""
    waits: bool = False
    is_host: bool = False
    drill: Mapping[str, Any] | None = None
    printed: tuple[Mapping[str, Any], ...] = ()
    survival: tuple[tuple[Mapping[str, Any], int | None], ...] = ()

    @property
    def is_telling(self) -> bool:
        """Whether it tells of a compaction, of what surrounds the session, or of what was printed."""
        return bool(self.printed or self.survival) or any(entry.event in TELLING for entry in self.entries)


def drill_of(raw: Mapping[str, Any] | None, now: datetime) -> dict[str, int] | None:
    """Lines of a drill in percent; None where there is none, it is over, or it asks for more than an hour."""
    if not isinstance(raw, Mapping):
        return None
    until = raw.get("until")
    try:
        end = parse_datetime(until) if isinstance(until, str) else None
    except ValueError:
        end = None
    lines = [raw.get(name) for name in ("amber", "red", "critical")]
    if end is None or end.tzinfo is None or not now < end <= now + LONGEST_DRILL:
        return None
    whole = [line for line in lines if type(line) is int]
    if len(whole) != len(lines) or not 0 < whole[0] < whole[1] < whole[2] <= 100:
        return None
    return dict(zip(("amber", "red", "critical"), whole, strict=True))


def entries_of(raw: object, now_ms: int) -> Iterable[Entry]:
    """Hooks of a bundle, with or without their envelope."""
    for record in raw if isinstance(raw, list) else ():
        if not isinstance(record, dict):
            continue
        payload = record.get("payload")
        if not isinstance(payload, dict):
            yield Entry(record, now_ms)
            continue
        at = record.get("received_at")
        is_moment = isinstance(at, int | float) and not isinstance(at, bool) and 1e9 < at < 1e10
        yield Entry(payload, int(at * 1000) if is_moment and isinstance(at, int | float) else now_ms)


def started() -> float:
    """The clock by which latencies are taken."""
    return time.perf_counter()
