"""What happened lately in a thread, kept at ingest beside its live state: as far as verdicts count it.

A join like the live state. Each part holds the newest few, by (moment, name): what falls out is older than all that
stays, so order and repetition change nothing. Moments are milliseconds of the machine that the host runs on.
"""

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from sessions_app.kernel.joins import by_key, join_fields, largest
from sessions_app.kernel.readings import (
    CallReading,
    CompactionReading,
    Mark,
    MarkReading,
    Purpose,
    Reading,
    Rules,
    Signal,
    Source,
    StepsReading,
)

#: Calls, compactions and outcomes kept of each source or signal.
MOST_KEPT = 32
#: Signals of a completed compaction; each tells every compaction once.
COMPLETED = (Signal.BOUNDARY, Signal.POST_HOOK, Signal.START_HOOK, Signal.TELEMETRY)

#: (when in ms, by which tool).
type Written = tuple[int, str]
#: (when in ms, which tool with which input, whether it failed).
type Outcome = tuple[int, str, int]


class Trail(msgspec.Struct, frozen=True, omit_defaults=True, array_like=True):
    """Newest calls by `source:key`, compactions by `signal:key`, the last write to durable memory, tool outcomes."""

    calls: dict[str, int] = {}
    compactions: dict[str, int] = {}
    externalized: Written | None = None
    outcomes: dict[str, Outcome] = {}

    rules: ClassVar[Rules] = {
        "calls": by_key(max),
        "compactions": by_key(min),
        "externalized": largest,
        "outcomes": by_key(max),
    }

    def join(self, other: "Trail") -> "Trail":
        """The trail that knows what both know, kept short."""
        joined = join_fields(Trail, self.rules, self, other)
        if all(len(part) <= MOST_KEPT for part in (joined.calls, joined.compactions, joined.outcomes)):
            return joined
        return Trail(
            _newest(joined.calls), _newest(joined.compactions), joined.externalized, _newest_outcomes(joined.outcomes)
        )


def joined(a: Trail | None, b: Trail | None) -> Trail | None:
    """The join where nothing is known yet."""
    return b if a is None else a if b is None else a.join(b)


def _newest(moments: dict[str, int]) -> dict[str, int]:
    """The newest of each source or signal."""
    kept: dict[str, list[tuple[int, str]]] = {}
    for key, at in moments.items():
        kept.setdefault(key.partition(":")[0], []).append((at, key))
    return {key: at for part in kept.values() for at, key in sorted(part)[-MOST_KEPT:]}


def _newest_outcomes(outcomes: dict[str, Outcome]) -> dict[str, Outcome]:
    ordered = sorted(outcomes.items(), key=lambda item: (item[1], item[0]))
    return dict(ordered[-MOST_KEPT:])


def trail_of(reading: Reading, received_ms: int) -> tuple[str, Trail] | None:
    """(thread, what this reading adds); None where it adds nothing."""
    match reading:
        case CallReading() if reading.purpose[1] == Purpose.TURN:
            at_ms = reading.ended_ms or reading.first_ms or received_ms
            return reading.thread[1], Trail(calls={f"{reading.source}:{reading.key}": at_ms})
        case CompactionReading() if reading.signal in COMPLETED and _succeeded(reading):
            at_ms = reading.at_ms or reading.received_ms or received_ms
            return reading.thread[1], Trail(compactions={f"{reading.signal}:{reading.key}": at_ms})
        case MarkReading(mark=Mark.EXTERNALIZE):
            at_ms = reading.at_ms or reading.received_ms or received_ms
            return reading.thread[1], Trail(externalized=(at_ms, reading.detail[1] if reading.detail else ""))
        case StepsReading(source=Source.HOOK):
            return _outcomes(reading)
    return None


def _succeeded(reading: CompactionReading) -> bool:
    return reading.succeeded is None or reading.succeeded[1] == "true"


def _outcomes(reading: StepsReading) -> tuple[str, Trail] | None:
    told = {
        use: (size.at_ms or 0, f"{size.name}:{size.input_hash}", size.failed or 0)
        for use, size in reading.tools.items()
        if size.input_hash and not size.thread
    }
    return ("", Trail(outcomes=told)) if told else None


def calls_after(trail: Trail, at_ms: int) -> int:
    """Calls since a moment, by the source that tells most; at most `MOST_KEPT` are told apart."""
    return most_by_kind(key for key, at in trail.calls.items() if at > at_ms)


def compactions_told(trail: Trail) -> int:
    """Completed compactions: each signal tells every one once, so the busiest signal counts them."""
    return most_by_kind(trail.compactions)


def most_by_kind(keys: Iterable[str]) -> int:
    """The largest number of keys `kind:name` of one kind."""
    counts: dict[str, int] = {}
    for key in keys:
        kind = key.partition(":")[0]
        counts[kind] = counts.get(kind, 0) + 1
    return max(counts.values(), default=0)


def last_compactions(trail: Trail, apart_ms: int = 5_000) -> tuple[int, ...]:
    """Moments of the last two compactions, newest first; signals closer than `apart_ms` are of one."""
    found: list[int] = []
    for at in sorted(trail.compactions.values(), reverse=True):
        if not found or found[-1] - at > apart_ms:
            found.append(at)
        if len(found) > 1:
            break
    return tuple(found)


def repeated_failures(trail: Trail) -> int:
    """Failures of the tool and input that failed last, since they last succeeded; 0 without a failure."""
    ordered = sorted(trail.outcomes.values(), reverse=True)
    last = next((outcome for outcome in ordered if outcome[2]), None)
    if last is None:
        return 0
    count = 0
    for _, pair, failed in ordered:
        if pair == last[1]:
            if not failed:
                break
            count += 1
    return count
