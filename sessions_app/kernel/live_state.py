"""The live state of one thread, kept at ingest: what is known now, from where, since when.

It is a join of readings like everything else, so late and repeated deliveries do no harm. Clocks: calls,
boundaries and telemetry carry the host's; hooks and gauges only that of their receipt.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

import msgspec

from sessions_app.kernel.charges import Prices
from sessions_app.kernel.facts import Leaves
from sessions_app.kernel.joins import by_key, join_fields, largest
from sessions_app.kernel.mechanisms import TTL_1H_SECONDS, TTL_5M_SECONDS
from sessions_app.kernel.readings import (
    CallReading,
    CompactionReading,
    MeterReading,
    Purpose,
    Reading,
    Rules,
    Signal,
    Source,
    StepsReading,
)
from sessions_app.kernel.times import when
from sessions_app.kernel.trail import Trail, joined, trail_of
from sessions_app.kernel.usage import leaves_of
from sessions_app.kernel.zones import DEFAULT_LINES, Thresholds, Window, WindowOrigin, Zone, zone_of

#: Tool uses kept that no call is known for yet; more than that is a broken client.
MOST_PENDING = 50
#: A hook's receipt and the host's clock of the same moment differ by no more than this.
SKEW_MS = 2_000


class Use(msgspec.Struct, frozen=True, array_like=True, order=True):
    """The newest call: when (ms), by which key, received when, and what it held."""

    at_ms: int
    key: str
    received_ms: int
    occupancy: int
    held: int
    model: str
    source: str
    #: As stated beside the call; 0 where it was not.
    window: int = 0


class Gauge(msgspec.Struct, frozen=True, array_like=True, order=True):
    """The newest sample of the host's own gauge; an occupancy of -1 says null, 0 says zero."""

    received_ms: int
    uptime_ms: int
    occupancy: int
    window: int
    cost_nanousd: int


class LiveState(msgspec.Struct, frozen=True, omit_defaults=True):
    """What ingest knows of one thread."""

    use: Use | None = None
    gauge: Gauge | None = None
    #: (when, seconds): the lifetime of what was written last, by a source that tells lifetimes.
    written: tuple[int, int] | None = None
    compacted_at_ms: int | None = None
    compacted_received_ms: int | None = None
    #: Tool uses told by hooks, by id, with their receipt; those that a call is known for have 0.
    tools: dict[str, int] = {}
    trail: Trail | None = None

    rules: ClassVar[Rules] = {
        **dict.fromkeys(("use", "gauge", "written", "compacted_at_ms", "compacted_received_ms"), largest),
        # Zero marks a use whose call is known, and stays: the smaller one wins.
        "tools": by_key(min),
        "trail": joined,
    }

    def join(self, other: "LiveState") -> "LiveState":
        """The state that knows what both know."""
        return join_fields(LiveState, self.rules, self, other)


def told_by(reading: Reading, received_ms: int) -> tuple[str, LiveState] | None:
    """(thread, what this reading alone says); None where it says nothing of now."""
    told, trail = _told_by(reading, received_ms), trail_of(reading, received_ms)
    if trail is None:
        return told
    return trail[0], msgspec.structs.replace(told[1] if told else LiveState(), trail=trail[1])


def _told_by(reading: Reading, received_ms: int) -> tuple[str, LiveState] | None:
    if isinstance(reading, CallReading):
        return _by_call(reading, received_ms)
    if isinstance(reading, CompactionReading):
        return _by_compaction(reading, received_ms)
    if isinstance(reading, MeterReading):
        occupancy = -1 if reading.occupancy is None else reading.occupancy
        sample = (reading.uptime_ms or 0, occupancy, reading.window or 0, reading.host_cost_nanousd or 0)
        return "", LiveState(gauge=Gauge(reading.received_ms or received_ms, *sample))
    if isinstance(reading, StepsReading):
        return _by_steps(reading)
    return None


def _by_call(reading: CallReading, received_ms: int) -> tuple[str, LiveState] | None:
    # What tells nothing of its input is no point: running totals before the fold has compared them, output alone.
    if not Purpose(reading.purpose[1]).is_point or (reading.uncached_input is None and reading.occupancy is None):
        return None
    leaves = leaves_of(reading)
    at_ms = reading.ended_ms or reading.first_ms or received_ms
    occupancy = leaves.prompt if reading.occupancy is None else reading.occupancy
    held = leaves.cache_read + leaves.cache_write_5m + leaves.cache_write_1h
    model = reading.model[1] if reading.model else ""
    use = Use(at_ms, reading.key, received_ms, occupancy, held, model, str(reading.source), reading.window or 0)
    seconds = _lifetime(leaves)
    return reading.thread[1], LiveState(use=use, written=(at_ms, seconds) if seconds is not None else None)


def _lifetime(leaves: Leaves) -> int | None:
    """Seconds that the call's writes live; None without writes, or where the source does not split them."""
    known_5m = leaves.cache_write_5m - leaves.cache_write_unknown_ttl
    if leaves.cache_write_1h > known_5m:
        return TTL_1H_SECONDS
    return TTL_5M_SECONDS if known_5m else None


def _by_compaction(reading: CompactionReading, received_ms: int) -> tuple[str, LiveState] | None:
    # A notice comes after the boundary, and after the count that the host made of what is left.
    if reading.signal in (Signal.PRE_HOOK, Signal.MICRO, Signal.NOTICE):
        return None
    if reading.succeeded is not None and reading.succeeded[1] != "true":
        return None
    if reading.at_ms is not None:
        return reading.thread[1], LiveState(compacted_at_ms=reading.at_ms)
    return reading.thread[1], LiveState(compacted_received_ms=reading.received_ms or received_ms)


def _by_steps(reading: StepsReading) -> tuple[str, LiveState] | None:
    by_hook = reading.source is Source.HOOK
    main = {key: size for key, size in reading.tools.items() if not size.thread}
    tools = {key: size.at_ms or 0 for key, size in main.items()} if by_hook else dict.fromkeys(main, 0)
    return ("", LiveState(tools=tools)) if tools else None


def advanced(state: LiveState, news: Iterable[LiveState]) -> LiveState:
    """The state after these readings, with the list of pending tool uses kept short."""
    for one in news:
        state = state.join(one)
    if len(state.tools) <= MOST_PENDING:
        return state
    kept = sorted(state.tools.items(), key=lambda item: (item[1], item[0]))[-MOST_PENDING:]
    return msgspec.structs.replace(state, tools=dict(kept))


@dataclass(frozen=True, slots=True)
class Figure:
    """A value that never stands alone: where it came from, when it was taken, how far behind it may be."""

    value: Any
    origin: str
    taken_at: str | None
    calls_behind: int


@dataclass(frozen=True, slots=True)
class Now:
    """The live state as people and hooks read it; `occupancy.value` None means unknown."""

    occupancy: Figure
    window: Window
    zone: Zone
    cache_expires_at: str | None
    cache_ttl_seconds: int | None
    cache_ttl_assumed: bool
    cold_costs_usd: Decimal | None


def now(state: LiveState, prices: Prices, thresholds: Thresholds = DEFAULT_LINES) -> Now:
    """What is known of the thread now."""
    occupancy = _occupancy(state)
    window = _window(state, prices)
    # After a compaction the prefix is another one: what was warm is of no use to it.
    expires, ttl, assumed = expiry(state) if occupancy.value is not None else (None, None, False)
    return Now(
        occupancy=occupancy,
        window=window,
        zone=zone_of(occupancy.value, window.tokens, thresholds),
        cache_expires_at=expires,
        cache_ttl_seconds=ttl,
        cache_ttl_assumed=assumed,
        cold_costs_usd=_cold(state, prices) if expires else None,
    )


def _occupancy(state: LiveState) -> Figure:
    """The gauge when it is the newer one, else the newest call; unknown after a compaction."""
    use, gauge = state.use, state.gauge
    if gauge and gauge.occupancy >= 0 and (use is None or gauge.received_ms + SKEW_MS >= use.received_ms):
        if gauge.occupancy == 0:
            return Figure(None, "statusline", _at(gauge.received_ms), 0)
        if not _compacted_after(state, None, gauge.received_ms):
            return Figure(gauge.occupancy, "statusline", _at(gauge.received_ms), _behind(state, gauge.received_ms))
    if use is None:
        return Figure(None, "", None, 0)
    if _compacted_after(state, use.at_ms, use.received_ms):
        return Figure(None, "compaction", _at(use.at_ms), 0)
    return Figure(use.occupancy, use.source, _at(use.at_ms), _behind(state, use.received_ms))


def _compacted_after(state: LiveState, at_ms: int | None, received_ms: int) -> bool:
    """Whether a compaction ended after the reading, by whichever clock both have."""
    by_clock = at_ms is not None and state.compacted_at_ms is not None and state.compacted_at_ms >= at_ms
    return by_clock or (state.compacted_received_ms or 0) > received_ms


def _behind(state: LiveState, received_ms: int) -> int:
    """Tool uses told since, whose calls are not known: at most so many calls are missing."""
    return sum(1 for at in state.tools.values() if at > received_ms)


def _window(state: LiveState, prices: Prices) -> Window:
    if state.gauge and state.gauge.window:
        return Window(state.gauge.window, WindowOrigin.STATED)
    if state.use and state.use.window:
        return Window(state.use.window, WindowOrigin.STATED)
    guess = prices.window(state.use.model) if state.use and state.use.model else None
    return Window(guess, WindowOrigin.ASSUMED) if guess else Window()


def expiry(state: LiveState) -> tuple[str | None, int | None, bool]:
    """When the prefix goes cold, by the lifetime that was written (else assumed short); a read renews it."""
    if state.use is None or not state.use.held or _compacted_after(state, state.use.at_ms, state.use.received_ms):
        # What was held before a compaction is not what is held now, also where a gauge tells of now.
        return None, None, False
    seconds = state.written[1] if state.written else TTL_5M_SECONDS
    return _at(state.use.at_ms + seconds * 1000), seconds, state.written is None


def _cold(state: LiveState, prices: Prices) -> Decimal | None:
    """What it would cost more to write the held prefix again than to read it."""
    use = state.use
    if use is None:
        return None
    hourly = state.written is not None and state.written[1] == TTL_1H_SECONDS
    written = Leaves(cache_write_1h=use.held) if hourly else Leaves(cache_write_5m=use.held)
    cold = prices.charge(use.model, when(use.at_ms), written)
    warm = prices.charge(use.model, when(use.at_ms), Leaves(cache_read=use.held))
    return cold.cost_usd - warm.cost_usd if cold and warm else None


def _at(ms: int) -> str:
    return when(ms).isoformat()
