"""Moments: integer milliseconds since the epoch, UTC."""

from datetime import UTC, datetime

#: A quarter of an hour: the finest step in which time zones differ.
SLOT_MS = 900_000
#: What lies outside, a zone may carry beyond the years that can be read again.
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


def is_kept(moment: datetime) -> bool:
    """Whether a moment that somebody told may be stored: with a zone, from 1970 to 2199."""
    return moment.tzinfo is not None and EARLIEST <= moment < LATEST


def when(ms: int) -> datetime:
    """The aware datetime of a moment."""
    return datetime.fromtimestamp(ms / 1000, tz=UTC)
