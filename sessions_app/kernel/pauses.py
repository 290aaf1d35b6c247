"""Pauses between calls of one thread against the lives of their caches."""

from sessions_app.kernel.facts import CallFact
from sessions_app.kernel.mechanisms import TTL_1H_SECONDS, TTL_5M_SECONDS


def is_late(previous: CallFact, call: CallFact) -> bool:
    """Whether the pause between two calls outlived what the first one wrote or read."""
    seconds = (call.started_at - (previous.ended_at or previous.started_at)).total_seconds()
    hourly = previous.leaves.cache_write_1h > previous.leaves.cache_write_5m
    return seconds > (TTL_1H_SECONDS if hourly else TTL_5M_SECONDS)
