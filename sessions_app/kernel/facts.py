"""What the fold says of a session: calls, compactions, threads, slots and a summary. Plain values."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sessions_app.kernel.breakeven import pays_back_in
from sessions_app.kernel.compactions import Kind, State
from sessions_app.kernel.money import EXACT
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
    cleared_uses: int | None = None
    cleared_tokens: int | None = None
    #: What records tell beside usage; keys are those of `calls_sent.EVIDENCE`, only where there is something to tell.
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Worth:
    """What a compaction cost and gave back; USD at list price, None where not all of it is known."""

    summary_usd: Decimal | None
    #: Where no record has the summary's own call: the most that it can have cost.
    summary_most_usd: Decimal | None
    rewrite_usd: Decimal | None
    #: What one later call costs less while the cache is warm; below zero where the context grew.
    per_call_usd: Decimal | None
    #: Calls of its thread until the next compaction, and how many of them met a cold cache.
    later_calls: int
    cold_calls: int
    saved_usd: Decimal | None
    #: Whether the cache was still warm as the summary was made; None without a call before.
    is_warm: bool | None

    @property
    def cost_usd(self) -> Decimal | None:
        """Summary and new prefix."""
        if self.summary_usd is None or self.rewrite_usd is None:
            return None
        return EXACT.add(self.summary_usd, self.rewrite_usd)

    @property
    def net_usd(self) -> Decimal | None:
        """Given back less cost, so far."""
        cost = self.cost_usd
        return None if cost is None or self.saved_usd is None else EXACT.subtract(self.saved_usd, cost)

    @property
    def pays_back_in(self) -> int | None:
        """In which later call the cost is back while the cache is warm; None: never, or not known."""
        return pays_back_in(self.cost_usd, self.per_call_usd)


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
    worth: Worth | None = None
    #: Tool uses made again after it with the same input, and what they brought; None where no hook told inputs apart.
    rereads: int | None = None
    reread_bytes: int | None = None


class ClearingKind(StrEnum):
    """Who took results out: the provider by request, the host, or nobody knows but the front is gone."""

    EDIT = "edit"
    MICRO = "micro"
    FRONT = "front"


@dataclass(frozen=True, slots=True)
class ClearingFact:
    """Old results that left the context while the conversation stayed.

    `cost_usd` is what the call that met it cost above going on with them; `per_call_usd` what each later call saves.
    """

    key: str
    kind: ClearingKind
    thread: str
    at: datetime | None
    call: str
    cleared_uses: int | None
    cleared_tokens: int
    #: What the call still read of the part in front, and what it wrote.
    read_tokens: int
    written_tokens: int
    cost_usd: Decimal | None
    per_call_usd: Decimal | None
    later_calls: int
    saved_usd: Decimal | None
    is_warm: bool | None


@dataclass(frozen=True, slots=True)
class ToolFact:
    """All uses of one tool in a session; sizes in bytes of the record."""

    key: str
    uses: int
    failed: int
    input_bytes: int
    result_bytes: int
    largest_bytes: int


@dataclass(frozen=True, slots=True)
class ThreadFact:
    """One agent's calls; `returned_tokens` is the output of a subagent's last call: what its parent was told."""

    key: str
    agent_type: str
    calls: int
    peak_occupancy: int | None
    tokens: int
    cost_usd: Decimal | None
    first_at: datetime
    last_at: datetime
    returned_tokens: int | None = None


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
    #: Calls whose new blocks are known, and those of them with more than 15 and more than 20.
    rounds: int = 0
    wide_rounds: int = 0
    over_rounds: int = 0


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
    clearings: tuple[ClearingFact, ...] = ()
    tools: tuple[ToolFact, ...] = ()
    summary: Summary = field(default_factory=lambda: Summary({}, None, False, None, None, None))
