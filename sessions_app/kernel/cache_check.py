"""Is a prefix that was sent a moment ago read from the cache at all? Watched all the time, from real calls."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from sessions_app.kernel import names
from sessions_app.kernel.calls_sent import Sent

#: Within this any promise of the providers still holds, clocks and long answers included.
MOMENT_SECONDS = 240
#: No model needs more to be cached.
LARGE_TOKENS = 4_096
#: So many repeats in a row without a read say that nothing is read; one read says that it is.
ENOUGH = 3


class CacheState(StrEnum):
    """What the repeats say."""

    READ = "read"
    NOT_READ = "not_read"
    UNTESTED = "untested"


def is_repeat(previous: Sent | None, call: Sent) -> bool:
    """Whether the call sends again, soon and to the same model, a prefix that is large enough to be cached."""
    if previous is None or call.follows or not call.tells_cache:
        return False
    if names.normalise(previous.model) != names.normalise(call.model):
        return False
    least = call.minimum or LARGE_TOKENS
    held = min(previous.leaves.prompt, call.leaves.prompt)
    seconds = (call.started_at - previous.started_at).total_seconds()
    return held >= least and 0 <= seconds <= MOMENT_SECONDS


@dataclass(frozen=True, slots=True)
class Tally:
    """Repeats of one day, and how many of them read anything."""

    day: date
    repeats: int
    read: int


@dataclass(frozen=True, slots=True)
class CacheCheck:
    """The state, the day since which it holds, and the repeats that say so."""

    state: CacheState
    since: date | None
    repeats: int
    read: int


def check(tallies: Iterable[Tally]) -> CacheCheck:
    """The state after these days. It turns to "not read" by ENOUGH repeats without any read since the last one."""
    days = sorted((t for t in tallies if t.repeats), key=lambda t: t.day)
    silent = [t for t in days if t.day > max((d.day for d in days if d.read), default=date.min)]
    if sum(t.repeats for t in silent) >= ENOUGH:
        return CacheCheck(CacheState.NOT_READ, silent[0].day, sum(t.repeats for t in silent), 0)
    reading = [t for t in days if t.read]
    if not reading:
        return CacheCheck(CacheState.UNTESTED, None, sum(t.repeats for t in days), 0)
    start = _last_start(days)
    counted = [t for t in days if t.day >= start]
    return CacheCheck(CacheState.READ, start, sum(t.repeats for t in counted), sum(t.read for t in counted))


def _last_start(days: list[Tally]) -> date:
    """The first day with a read after the last stretch without."""
    start, silent = None, 0
    for tally in days:
        if tally.read:
            start = tally.day if start is None or silent >= ENOUGH else start
            silent = 0
        else:
            silent += tally.repeats
    return start or days[0].day
