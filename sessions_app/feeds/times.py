"""Times as hosts write them, to integer milliseconds (UTC); impossible ones are said to be so."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

#: Before any agent host existed; an earlier time is a clock that was never set.
EARLIEST_MS = 1_577_836_800_000
DAY_MS = 86_400_000

NAIVE = "naive_time"
IMPOSSIBLE = "impossible_time"


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment, or None where it is absent or impossible; the flags say which."""

    ms: int | None = None
    flags: tuple[str, ...] = ()


def moment(value: Any, received_ms: int) -> Moment:
    """An ISO 8601 string, or a number (also in digits) of s, ms, µs or ns since the epoch.

    Without an offset it is UTC, flagged `naive_time`. Before 2020 or more than a day after the receipt it
    is impossible: None, flagged `impossible_time`, as is what cannot be read. Absent: None without a flag.
    """
    if value is None or value == "":
        return Moment()
    if isinstance(value, str) and not (value.isascii() and value.isdigit()):
        return _iso(value, received_ms)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return Moment(None, (IMPOSSIBLE,))
    try:
        return _possible(_scaled(value), received_ms)
    except (ValueError, OverflowError):
        return Moment(None, (IMPOSSIBLE,))


def _iso(text: str, received_ms: int) -> Moment:
    try:
        parsed = datetime.fromisoformat(text[:40])
    except ValueError:
        return Moment(None, (IMPOSSIBLE,))
    flags: tuple[str, ...] = ()
    if parsed.tzinfo is None:
        parsed, flags = parsed.replace(tzinfo=UTC), (NAIVE,)
    try:
        found = _possible(round(parsed.timestamp() * 1000), received_ms)
    except (ValueError, OverflowError):
        return Moment(None, (IMPOSSIBLE,))
    return Moment(found.ms, found.flags or flags)


def _scaled(value: int | float | str) -> int:
    """Seconds, milliseconds, microseconds or nanoseconds, told apart by size."""
    number = int(value[:40]) if isinstance(value, str) else value
    for limit, factor in ((10**11, 1000), (10**14, 1)):
        if number < limit:
            return round(number * factor)
    return int(number) // (1000 if number < 10**17 else 10**6)


def _possible(ms: int, received_ms: int) -> Moment:
    if ms < EARLIEST_MS or ms > received_ms + DAY_MS:
        return Moment(None, (IMPOSSIBLE,))
    return Moment(ms)
