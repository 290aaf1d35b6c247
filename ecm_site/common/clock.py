"""The one place that asks for the time; everything below a view or a task is handed it."""

from datetime import UTC, datetime


def now() -> datetime:
    """The present instant, aware, in UTC."""
    return datetime.now(UTC)
