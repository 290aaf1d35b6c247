"""Readings: what one record of one source says about a session.

A reading is named by (kind, source, key) inside its session; `merge` joins two readings of the same
name. Times are integer milliseconds since the epoch (UTC), tokens are integers, money is integer
nano-dollars. `None` means that the source did not say.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, ClassVar, Self

import msgspec

from sessions_app.kernel.joins import Ranked, by_key, join_fields, largest, smallest, union


class Source(StrEnum):
    """Where a reading came from, by the kind of record."""

    TRANSCRIPT = "transcript"
    OTLP_LOG = "otlp_log"
    OTLP_METRIC = "otlp_metric"
    OTLP_SPAN = "otlp_span"
    HOOK = "hook"
    STATUSLINE = "statusline"
    CANONICAL = "canonical"
    PROXY = "proxy"


#: Flag of a call whose counts contradict the convention that its record claims: no cost is worked out.
CONVENTION_SUSPECT = "convention_suspect"


class Purpose(StrEnum):
    """What a call was made for; all but TURN are auxiliary: billed, but no point of occupancy."""

    TURN = "turn"
    COMPACTION = "compaction"
    ADVISOR = "advisor"
    DECLINED = "declined"
    TITLE = "title"
    AUXILIARY = "auxiliary"
    #: No call: the host counted its whole prompt anew after a compaction. Billed nothing, a point of occupancy.
    RECOUNT = "recount"

    @property
    def is_point(self) -> bool:
        """Whether it tells how full the context is."""
        return self in (Purpose.TURN, Purpose.RECOUNT)

    @property
    def is_auxiliary(self) -> bool:
        """Whether it is billed and no part of the conversation."""
        return not self.is_point


class Signal(StrEnum):
    """By which record a compaction was seen."""

    BOUNDARY = "boundary"
    #: The host says in a record of its own that it compacted; Codex writes one after each boundary.
    NOTICE = "notice"
    SUMMARY = "summary"
    TELEMETRY = "telemetry"
    POST_HOOK = "post_hook"
    START_HOOK = "start_hook"
    PRE_HOOK = "pre_hook"
    MICRO = "micro"


class Mark(StrEnum):
    """A moment in a session that is neither a call nor a compaction."""

    START = "start"
    END = "end"
    PROMPT = "prompt"
    STOP = "stop"
    AGENT_START = "agent_start"
    AGENT_STOP = "agent_stop"
    API_ERROR = "api_error"
    EXTERNALIZE = "externalize"
    #: A call that was made and that nothing counts.
    UNSEEN_CALL = "unseen_call"
    #: Tools or what is said of them came or went (`detail`: "+added -removed").
    TOOLS = "tools"
    #: From here on the host asks this model (`detail`); records that name none are of the model in force.
    MODEL = "model"


type Rules = Mapping[str, Callable[[Any, Any], Any]]


class Reading(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What all readings share: the host's session id, the source and the key inside (kind, source)."""

    kind: ClassVar[str]
    rules: ClassVar[Rules] = {}

    session: str
    source: Source
    key: str

    def merge(self, other: Self) -> Self:
        """The join of two readings of the same name."""
        return self if self == other else join_fields(type(self), self.rules, self, other)


class CallReading(Reading, frozen=True, omit_defaults=True, kw_only=True):
    """One model call as one source tells it; token fields are disjoint, `write_total` covers all TTLs."""

    kind: ClassVar[str] = "call"

    message_id: str | None = None
    request_id: str | None = None
    #: Smaller request ids that other copies of the record have.
    other_requests: tuple[str, ...] = ()
    thread: Ranked = (0, "")
    purpose: Ranked = (0, Purpose.TURN)
    model: Ranked | None = None
    first_ms: int | None = None
    ended_ms: int | None = None
    duration_ms: int | None = None
    received_ms: int | None = None
    uncached_input: int | None = None
    cache_read: int | None = None
    write_total: int | None = None
    write_5m: int | None = None
    write_1h: int | None = None
    output: int | None = None
    reasoning: int | None = None
    web_searches: int | None = None
    occupancy: int | None = None
    #: The window that the host states beside this call.
    window: int | None = None
    #: Running totals of the thread after this call (input, read, written, output), where the source counts so.
    running: tuple[int, ...] | None = None
    host_cost_nanousd: int | None = None
    stop_reason: Ranked | None = None
    prompt_id: Ranked | None = None
    query_source: Ranked | None = None
    speed: Ranked | None = None
    miss_reason: Ranked | None = None
    missed_tokens: int | None = None
    #: Tool results that the provider left out of the prompt, as counted from the start of the history.
    cleared_uses: int | None = None
    cleared_tokens: int | None = None
    uuids: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    rules: ClassVar[Rules] = {
        **dict.fromkeys(
            (
                "message_id request_id thread purpose model ended_ms duration_ms uncached_input cache_read"
                " write_total write_5m write_1h output reasoning web_searches occupancy window running"
                " host_cost_nanousd stop_reason prompt_id query_source speed miss_reason missed_tokens"
                " cleared_uses cleared_tokens"
            ).split(),
            largest,
        ),
        **dict.fromkeys(("first_ms", "received_ms"), smallest),
        **dict.fromkeys(("other_requests", "uuids", "parents", "flags"), union),
    }

    @property
    def requests(self) -> tuple[str, ...]:
        """Every request id that the record goes by."""
        return self.other_requests if self.request_id is None else (self.request_id, *self.other_requests)

    def merge(self, other: Self) -> Self:
        """The join; of two request ids the larger one is the first, and the other is kept."""
        joined = super().merge(other)
        rest = {*self.requests, *other.requests} - {joined.request_id}
        if len(rest) == len(joined.other_requests):
            return joined
        return msgspec.structs.replace(joined, other_requests=tuple(sorted(rest)))


class CompactionReading(Reading, frozen=True, omit_defaults=True, kw_only=True):
    """One signal of a compaction; token figures are the signal's own."""

    kind: ClassVar[str] = "compaction"

    signal: Signal
    trigger: Ranked | None = None
    at_ms: int | None = None
    received_ms: int | None = None
    duration_ms: int | None = None
    before_tokens: int | None = None
    after_tokens: int | None = None
    saved_tokens: int | None = None
    succeeded: Ranked | None = None
    thread: Ranked = (0, "")
    prompt_id: Ranked | None = None
    uuids: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    rules: ClassVar[Rules] = {
        **dict.fromkeys(
            ("trigger duration_ms before_tokens after_tokens saved_tokens succeeded thread prompt_id").split(),
            largest,
        ),
        **dict.fromkeys(("at_ms", "received_ms"), smallest),
        **dict.fromkeys(("uuids", "parents", "flags"), union),
    }


class MarkReading(Reading, frozen=True, omit_defaults=True, kw_only=True):
    """A moment; `at_ms` is None where the source has no clock of its own (hooks)."""

    kind: ClassVar[str] = "mark"

    mark: Mark
    at_ms: int | None = None
    received_ms: int | None = None
    detail: Ranked | None = None
    thread: Ranked = (0, "")
    prompt_id: Ranked | None = None

    rules: ClassVar[Rules] = {
        **dict.fromkeys(("at_ms", "received_ms"), smallest),
        **dict.fromkeys(("detail", "thread", "prompt_id"), largest),
    }


class MeterReading(Reading, frozen=True, omit_defaults=True, kw_only=True):
    """A sample of the host's own gauge; `occupancy` None: the host said null, 0: said zero (unknown)."""

    kind: ClassVar[str] = "meter"

    received_ms: int | None = None
    at_ms: int | None = None
    uptime_ms: int | None = None
    #: A gauge that stands still is one sample; this is its uptime when it was first received.
    first_uptime_ms: int | None = None
    model: Ranked | None = None
    window: int | None = None
    occupancy: int | None = None
    uncached_input: int | None = None
    cache_read: int | None = None
    write_total: int | None = None
    output: int | None = None
    host_cost_nanousd: int | None = None
    five_hour_permille: int | None = None
    seven_day_permille: int | None = None

    rules: ClassVar[Rules] = {
        **dict.fromkeys(("received_ms", "at_ms", "first_uptime_ms"), smallest),
        **dict.fromkeys(
            (
                "uptime_ms model window occupancy uncached_input cache_read write_total output host_cost_nanousd"
                " five_hour_permille seven_day_permille"
            ).split(),
            largest,
        ),
    }


class CounterReading(Reading, frozen=True, omit_defaults=True, kw_only=True):
    """A point of a token or cost counter: one delta, or the highest value of one cumulative run."""

    kind: ClassVar[str] = "counter"

    leaf: str
    model: str = ""
    query_source: str = ""
    value: int = 0
    start_ms: int | None = None
    at_ms: int | None = None

    rules: ClassVar[Rules] = {"value": largest, "start_ms": smallest, "at_ms": largest}


class RollupReading(Reading, frozen=True, omit_defaults=True, kw_only=True):
    """Sums of one model over a stretch that ends at `at_ms`, told without its calls; leaves are disjoint."""

    kind: ClassVar[str] = "rollup"

    model: str = ""
    at_ms: int | None = None
    received_ms: int | None = None
    requests: int = 0
    uncached_input: int = 0
    cache_read: int = 0
    write_total: int = 0
    output: int = 0

    rules: ClassVar[Rules] = {
        **dict.fromkeys(("at_ms", "received_ms"), smallest),
        **dict.fromkeys("requests uncached_input cache_read write_total output".split(), largest),
    }


class ToolSize(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, array_like=True):
    """Sizes of one tool use: result and input in bytes, and when the result came."""

    name: str | None = None
    result_bytes: int | None = None
    input_bytes: int | None = None
    failed: int | None = None
    at_ms: int | None = None
    thread: str = ""
    #: Equal for equal inputs of one session; empty where the source does not tell.
    input_hash: str = ""

    def merge(self, other: "ToolSize") -> "ToolSize":
        """The join of two sightings of one tool use."""
        return ToolSize(
            name=largest(self.name, other.name),
            result_bytes=largest(self.result_bytes, other.result_bytes),
            input_bytes=largest(self.input_bytes, other.input_bytes),
            failed=largest(self.failed, other.failed),
            at_ms=smallest(self.at_ms, other.at_ms),
            thread=max(self.thread, other.thread),
            input_hash=max(self.input_hash, other.input_hash),
        )


class StepsReading(Reading, frozen=True, omit_defaults=True, kw_only=True):
    """One minute of a record: which line follows which, how many blocks it holds, how large the tool results were.

    Kept by minute and not by line, so that a session of thousands of lines is some dozens of rows.
    """

    kind: ClassVar[str] = "steps"

    links: dict[str, str] = {}
    tools: dict[str, ToolSize] = {}
    #: Content blocks of each line that is part of the conversation.
    blocks: dict[str, int] = {}

    rules: ClassVar[Rules] = {"links": by_key(max), "tools": by_key(ToolSize.merge), "blocks": by_key(max)}


#: Flag of a session that goes on with the work of its parent in a fresh context.
HANDOFF = "handoff"


class SessionReading(Reading, frozen=True, omit_defaults=True, kw_only=True):
    """Facts of the whole session; `project` is ranked by strength (git remote over folder name)."""

    kind: ClassVar[str] = "session"

    first_ms: int | None = None
    last_ms: int | None = None
    received_ms: int | None = None
    version: Ranked | None = None
    branch: Ranked | None = None
    project: Ranked | None = None
    entrypoint: Ranked | None = None
    developer: Ranked | None = None
    model: Ranked | None = None
    parent: Ranked | None = None
    agents: dict[str, str] = {}
    flags: tuple[str, ...] = ()

    rules: ClassVar[Rules] = {
        **dict.fromkeys(("first_ms", "received_ms"), smallest),
        **dict.fromkeys(
            ["last_ms", "version", "branch", "project", "entrypoint", "developer", "model", "parent"], largest
        ),
        "agents": by_key(max),
        "flags": union,
    }


KINDS: Mapping[str, type[Reading]] = {
    kind.kind: kind
    for kind in (
        CallReading,
        CompactionReading,
        MarkReading,
        MeterReading,
        CounterReading,
        RollupReading,
        StepsReading,
        SessionReading,
    )
}


def encode(reading: Reading) -> str:
    """The stored form: JSON with sorted keys, so that equal readings are equal bytes."""
    return msgspec.json.encode(reading, order="sorted").decode()


def decode(kind: str, body: str | bytes) -> Reading:
    """The reading of a stored body."""
    return msgspec.json.decode(body, type=KINDS[kind])
