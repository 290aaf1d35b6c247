"""What the fold says of a session: calls, compactions, threads, slots and a summary. Plain values."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from sessions_app.kernel.compactions import Kind, State
from sessions_app.kernel.readings import CallReading, CompactionReading, Purpose, Reading
from sessions_app.kernel.zones import DEFAULT_LINES, Thresholds, Window, Zone

#: The largest count that the database takes; a forged record may claim it for every leaf.
LARGEST = (1 << 63) - 1


def capped(count: int) -> int:
    """A sum of counts that stays storable; adding this way is still a commutative monoid."""
    return min(count, LARGEST)


@dataclass(frozen=True, slots=True)
class Leaves:
    """Disjoint token counts of one call; unknown-TTL writes are part of the 5-minute ones."""

    uncached_input: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    output: int = 0
    cache_write_unknown_ttl: int = 0

    @property
    def prompt(self) -> int:
        """All that the model read."""
        return capped(self.uncached_input + self.cache_read + self.cache_write_5m + self.cache_write_1h)

    @property
    def total(self) -> int:
        """Prompt and output."""
        return capped(self.prompt + self.output)

    def __add__(self, other: "Leaves") -> "Leaves":
        return Leaves(
            capped(self.uncached_input + other.uncached_input),
            capped(self.cache_read + other.cache_read),
            capped(self.cache_write_5m + other.cache_write_5m),
            capped(self.cache_write_1h + other.cache_write_1h),
            capped(self.output + other.output),
            capped(self.cache_write_unknown_ttl + other.cache_write_unknown_ttl),
        )


@dataclass(frozen=True, slots=True)
class Kin:
    """Another session of the team that holds some of the same calls (a resume, a fork, a side file)."""

    session: str
    first_line_ms: int | None
    parent: str | None = None
    calls: tuple[CallReading, ...] = ()
    compactions: tuple[CompactionReading, ...] = ()


@dataclass(frozen=True, slots=True)
class FoldInput:
    """All that one fold depends on."""

    session: str
    readings: tuple[Reading, ...]
    received_ms: int
    kin: tuple[Kin, ...] = ()
    thresholds: Thresholds = DEFAULT_LINES


@dataclass(frozen=True, slots=True)
class CallFact:
    """One owned call; `occupancy` and zones are set for conversation calls only."""

    key: str
    number: int
    thread: str
    purpose: Purpose
    model: str
    started_at: datetime
    ended_at: datetime | None
    leaves: Leaves
    reasoning: int | None
    cost_usd: Decimal | None
    no_cache_cost_usd: Decimal | None
    price_id: int | None
    host_cost_usd: Decimal | None
    occupancy: int | None
    window: Window
    zone: Zone | None
    known_window: int | None
    known_zone: Zone | None
    depth: int
    tool_share_permille: int | None
    externalize_age_calls: int | None
    origins: dict[str, Any]
    flags: tuple[str, ...]
    missed_tokens: int = 0
    miss_cause: str = ""
    miss_cost_usd: Decimal | None = None


@dataclass(frozen=True, slots=True)
class CompactionFact:
    """One compaction with every figure beside its origin; the headline is `before_tokens`."""

    key: str
    number: int
    kind: Kind
    state: State
    trigger: str
    thread: str
    at: datetime | None
    duration_ms: int | None
    depth: int
    before_tokens: int | None
    before_origin: str
    before_by_last_call: int | None
    before_by_telemetry: int | None
    after_tokens: int | None
    after_by_host: int | None
    saved_tokens: int | None
    next_call: str
    summary_call: str
    signals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ThreadFact:
    """One agent's calls."""

    key: str
    agent_type: str
    calls: int
    peak_occupancy: int | None
    tokens: int
    cost_usd: Decimal | None
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class SlotFact:
    """A quarter of an hour of one model; zones count the calls of the main chain."""

    key: str
    slot_at: datetime
    model: str
    calls: int
    aux_calls: int
    leaves: Leaves
    cost_usd: Decimal | None
    no_cache_cost_usd: Decimal | None
    unpriced_calls: int
    zones: dict[Zone, int]


@dataclass(frozen=True, slots=True)
class Summary:
    """The session in one row; `current` holds the newest reading of the main chain with its origin."""

    fields: dict[str, Any]
    project: str | None
    project_is_strong: bool
    developer: str | None
    parent_session: str | None
    first_line_ms: int | None


@dataclass(frozen=True, slots=True)
class SessionFold:
    """The outcome of a fold."""

    calls: tuple[CallFact, ...] = ()
    compactions: tuple[CompactionFact, ...] = ()
    threads: tuple[ThreadFact, ...] = ()
    slots: tuple[SlotFact, ...] = ()
    summary: Summary = field(default_factory=lambda: Summary({}, None, False, None, None, None))
