"""Moments: integer milliseconds since the epoch, UTC."""

from datetime import UTC, datetime

#: A quarter of an hour: the finest step in which time zones differ.
SLOT_MS = 900_000


def when(ms: int) -> datetime:
    """The aware datetime of a moment."""
    return datetime.fromtimestamp(ms / 1000, tz=UTC)
