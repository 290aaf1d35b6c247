"""Which signals are one compaction.

One compaction is seen as a boundary in the transcript, a summary line after it, telemetry, and three
hooks. Signals of one kind are different compactions; signals of different kinds are joined by parent
line, by prompt, by time, and at last by order where a hook's only clock is that of its receipt.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from sessions_app.kernel.readings import CompactionReading, Signal

#: Signals of one compaction lie this close together.
NEAR_MS = 120_000
#: A compaction takes at most this long between its hook before and its end.
LONGEST_MS = 900_000

TRIGGERS = ("manual", "auto")


class State(StrEnum):
    """What is known of a compaction."""

    COMPLETED = "completed"
    #: Nobody tells of it; the context fell.
    INFERRED = "inferred"
    SUMMARY_ONLY = "summary_only"
    FAILED = "failed"
    ATTEMPT = "attempt"


class Kind(StrEnum):
    """A summary of the conversation, or the clearing of old tool results alone."""

    COMPACTION = "compaction"
    MICRO = "micro"


@dataclass(slots=True)
class Sighting:
    """Signals joined so far; at most one of each kind, but any number of attempts."""

    signals: dict[Signal, CompactionReading] = field(default_factory=dict)
    attempts: list[CompactionReading] = field(default_factory=list)

    def all(self) -> list[CompactionReading]:
        """Every signal, the most telling first."""
        return [self.signals[s] for s in Signal if s in self.signals] + self.attempts

    @property
    def key(self) -> str:
        """A name that does not change while more signals come in after the boundary."""
        return self.all()[0].key

    @property
    def at_ms(self) -> int | None:
        """When it ended, by the best clock that saw it."""
        timed = [r for r in self.all() if r.at_ms is not None]
        return timed[0].at_ms if timed else next((r.received_ms for r in self.all()), None)

    @property
    def prompt_ids(self) -> set[str]:
        """Prompts during which it ran, as its signals say."""
        return {r.prompt_id[1] for r in self.all() if r.prompt_id}

    @property
    def kind(self) -> Kind:
        """Whether the conversation was summarised or only cleared."""
        return Kind.MICRO if Signal.MICRO in self.signals else Kind.COMPACTION

    @property
    def state(self) -> State:
        """Completed by an explicit marker, or what else the signals amount to."""
        explicit = {Signal.BOUNDARY, Signal.NOTICE, Signal.MICRO, Signal.POST_HOOK, Signal.START_HOOK} & set(
            self.signals
        )
        telemetry = self.signals.get(Signal.TELEMETRY)
        if explicit or (telemetry and _succeeded(telemetry)):
            return State.COMPLETED
        if Signal.SUMMARY in self.signals:
            return State.SUMMARY_ONLY
        return State.FAILED if telemetry else State.ATTEMPT

    @property
    def trigger(self) -> str:
        """By hand, by the host, or unknown; never guessed."""
        for reading in self.all():
            if reading.trigger and reading.trigger[1] in TRIGGERS:
                return reading.trigger[1]
        return "unknown"


def _succeeded(reading: CompactionReading) -> bool:
    return reading.succeeded is None or reading.succeeded[1].lower() == "true"


def _failed(reading: CompactionReading) -> bool:
    return not _succeeded(reading)


def sightings(readings: Iterable[CompactionReading], clock: tuple[int, int] | None) -> list[Sighting]:
    """Join signals to compactions; `clock` is the span of all timed readings of the session."""
    ordered = sorted(readings, key=lambda r: (_time(r), r.key))
    # One name in two sources is one boundary.
    named: dict[tuple[Signal, str], CompactionReading] = {}
    for r in ordered:
        if r.signal in (Signal.BOUNDARY, Signal.MICRO):
            held = named.get((r.signal, r.key))
            named[(r.signal, r.key)] = r if held is None else held.merge(r)
    found = [Sighting({r.signal: r}) for r in named.values()]
    for signal in (Signal.NOTICE, Signal.SUMMARY, Signal.TELEMETRY, Signal.POST_HOOK, Signal.START_HOOK):
        _place(found, [r for r in ordered if r.signal is signal], clock)
    _place_attempts(found, [r for r in ordered if r.signal is Signal.PRE_HOOK], clock)
    return sorted(found, key=lambda s: (s.at_ms or 0, s.key))


def _time(reading: CompactionReading) -> int:
    return reading.at_ms if reading.at_ms is not None else reading.received_ms or 0


def _place(found: list[Sighting], readings: Sequence[CompactionReading], clock: tuple[int, int] | None) -> None:
    """Give each reading of one kind its own sighting, by the surest tie first."""
    rest = list(readings)
    ties: tuple[Callable[[Sighting, CompactionReading], bool], ...] = (
        lambda s, r: any(set(r.parents) & set(other.uuids) for other in s.all()),
        lambda s, r: r.prompt_id is not None and r.prompt_id[1] in s.prompt_ids,
        lambda s, r: abs((s.at_ms or 0) - _time(r)) <= NEAR_MS,
        lambda s, r: _without_clock(r, clock) or _without_clock_sighting(s, clock),
    )
    for tie in ties:
        rest = [r for r in rest if not _join_nearest(found, r, tie)]
    found.extend(Sighting({r.signal: r}) for r in rest)


def _join_nearest(
    found: list[Sighting], reading: CompactionReading, tie: Callable[[Sighting, CompactionReading], bool]
) -> bool:
    # What failed is no other compaction's telemetry.
    free = [s for s in found if not _failed(reading) and not any(map(_failed, s.signals.values()))]
    open_ones = [s for s in free if reading.signal not in s.signals and s.kind is not Kind.MICRO and tie(s, reading)]
    if not open_ones:
        return False
    best = min(open_ones, key=lambda s: (abs((s.at_ms or 0) - _time(reading)), s.key))
    best.signals[reading.signal] = reading
    return True


def _without_clock(reading: CompactionReading, clock: tuple[int, int] | None) -> bool:
    """A hook delivered long after the fact: its receipt lies outside of all that has a clock."""
    if reading.at_ms is not None or clock is None:
        return False
    return not clock[0] - NEAR_MS <= _time(reading) <= clock[1] + LONGEST_MS


def _without_clock_sighting(sighting: Sighting, clock: tuple[int, int] | None) -> bool:
    return all(_without_clock(r, clock) for r in sighting.all())


def _place_attempts(
    found: list[Sighting], attempts: Sequence[CompactionReading], clock: tuple[int, int] | None
) -> None:
    """An attempt belongs to the compaction that it led to; one without any stands alone."""
    for attempt in attempts:
        candidates = [s for s in found if not s.attempts and s.signals and _led_to(attempt, s, clock)]
        if candidates:
            min(candidates, key=lambda s: (s.at_ms or 0, s.key)).attempts.append(attempt)
        else:
            found.append(Sighting(attempts=[attempt]))


def _led_to(attempt: CompactionReading, sighting: Sighting, clock: tuple[int, int] | None) -> bool:
    if sighting.kind is Kind.MICRO:
        return False
    if attempt.prompt_id is not None and sighting.prompt_ids:
        return attempt.prompt_id[1] in sighting.prompt_ids
    if _without_clock(attempt, clock):
        return True
    return -1_000 <= (sighting.at_ms or 0) - _time(attempt) <= LONGEST_MS
