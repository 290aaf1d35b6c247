"""What a reading tells: the signals of the coverage map. A record that carries none of a signal tells nothing of it."""

from collections.abc import Iterator
from enum import StrEnum

from sessions_app.kernel.readings import (
    CallReading,
    CompactionReading,
    CounterReading,
    MarkReading,
    MeterReading,
    Purpose,
    Reading,
    SessionReading,
    Signal,
    StepsReading,
)


class Topic(StrEnum):
    """One thing that a source may tell, in the order in which it is shown."""

    USAGE = "usage"
    TTL_SPLIT = "ttl_split"
    HOST_COST = "host_cost"
    MISS_REASON = "miss_reason"
    GAUGE = "gauge"
    WINDOW = "window"
    COMPACTIONS = "compactions"
    COMPACTION_CALL = "compaction_call"
    TOOL_SIZES = "tool_sizes"
    SUBAGENTS = "subagents"
    MOMENTS = "moments"
    PROJECT = "project"
    GIT_REMOTE = "git_remote"
    BRANCH = "branch"
    VERSION = "version"
    DEVELOPER = "developer"
    RATE_LIMITS = "rate_limits"
    BILLING = "billing"
    #: Sums without calls; stands in for `usage` and is not shown by itself.
    COUNTERS = "counters"
    #: Counters of no session, which can be counted nowhere; said on the page, not part of the map.
    SESSIONLESS = "sessionless"


def topics_of(reading: Reading) -> Iterator[Topic]:
    """What this reading tells; may name a topic more than once."""
    if isinstance(reading, CallReading):
        yield from _of_call(reading)
    elif isinstance(reading, StepsReading):
        yield from _of_steps(reading)
    elif isinstance(reading, SessionReading):
        yield from _of_session(reading)
    elif isinstance(reading, MeterReading):
        yield from _of_meter(reading)
    elif isinstance(reading, MarkReading):
        yield Topic.MOMENTS
        if reading.thread[1]:
            yield Topic.SUBAGENTS
    elif isinstance(reading, CounterReading):
        yield Topic.COUNTERS
    # An intention (the hook before) is no sign that anything was compacted.
    elif isinstance(reading, CompactionReading) and reading.signal is not Signal.PRE_HOOK:
        yield Topic.COMPACTIONS


def _of_call(reading: CallReading) -> Iterator[Topic]:
    tokens = (reading.uncached_input, reading.cache_read, reading.write_total, reading.output)
    if any(count is not None for count in tokens):
        yield Topic.USAGE
    if reading.write_5m is not None or reading.write_1h is not None:
        yield Topic.TTL_SPLIT
    if reading.host_cost_nanousd is not None:
        yield Topic.HOST_COST
    if reading.miss_reason is not None:
        yield Topic.MISS_REASON
    if reading.window is not None:
        yield Topic.WINDOW
    if reading.purpose[1] == Purpose.COMPACTION:
        yield Topic.COMPACTION_CALL
    if reading.thread[1]:
        yield Topic.SUBAGENTS


def _of_steps(reading: StepsReading) -> Iterator[Topic]:
    if any(size.result_bytes is not None for size in reading.tools.values()):
        yield Topic.TOOL_SIZES
    if any(size.thread for size in reading.tools.values()):
        yield Topic.SUBAGENTS


def _of_meter(reading: MeterReading) -> Iterator[Topic]:
    # Null before the first call and zero right after a compaction say nothing of the context.
    if reading.occupancy:
        yield Topic.GAUGE
    if reading.window is not None:
        yield Topic.WINDOW
    if reading.host_cost_nanousd is not None:
        yield Topic.HOST_COST
    if reading.five_hour_permille is not None or reading.seven_day_permille is not None:
        yield Topic.RATE_LIMITS


def _of_session(reading: SessionReading) -> Iterator[Topic]:
    if reading.project is not None:
        yield Topic.PROJECT
        # The fold tells a git remote from a folder's name by the same sign.
        if "/" in reading.project[1]:
            yield Topic.GIT_REMOTE
    if reading.branch is not None:
        yield Topic.BRANCH
    if reading.version is not None:
        yield Topic.VERSION
    if reading.developer is not None:
        yield Topic.DEVELOPER
    if reading.agents:
        yield Topic.SUBAGENTS
