"""One record of the own format, field by field; every refusal names the field and says what it takes."""

import hashlib
from datetime import datetime

import msgspec

from sessions_app.feeds.base import Context, Husk, Refused
from sessions_app.feeds.claude_line import MINUTE_MS
from sessions_app.feeds.numbers import nanodollars, token_count
from sessions_app.feeds.times import Moment, moment
from sessions_app.kernel.joins import Ranked
from sessions_app.kernel.readings import (
    HANDOFF,
    CallReading,
    CompactionReading,
    Mark,
    MarkReading,
    MeterReading,
    Purpose,
    Reading,
    SessionReading,
    Signal,
    Source,
    StepsReading,
    ToolSize,
)

HOST = "canonical"
HOSTS = ("claude-code", "codex", "opencode", "copilot", "gemini", "cursor", "litellm", "otlp", HOST)
LEAVES = ("uncached_input", "cache_read", "cache_write_5m", "cache_write_1h", "cache_write_unknown_ttl", "output")
SINKS = ("crystalium", "file", "server")
TRIGGERS = ("manual", "auto")
#: What is said on purpose outranks a folder's name.
REMOTE_RANK = 1 << 46


def host_of(record: Husk) -> str:
    """The host slug of a record. Refused: `unknown_host`."""
    host = record.get("host", HOST)
    if not isinstance(host, str) or host not in HOSTS:
        raise Refused("unknown_host", "/host", f"host must be one of {', '.join(HOSTS)}")
    return host


class CanonicalRecord:
    """A record with a session, a host and readable times; each method gives the readings of one type."""

    def __init__(self, record: Husk, context: Context) -> None:
        self.record, self.received_ms = record, context.received_ms
        host_of(record)
        session = self.text("session")
        if session is None:
            raise Refused("missing_session", "/session", "session is needed: the host's own id of the session")
        self.session = session
        self.source = Source.PROXY if record.get("type") == "proxy_call" else Source.CANONICAL
        at = "started_at" if record.get("started_at") is not None else "at"
        self.started, self.ended = self._moment(at), self._moment("ended_at")
        if self.started.ms is not None and self.ended.ms is not None and self.ended.ms < self.started.ms:
            raise Refused("ends_before_start", "/ended_at", "ended_at must not be before started_at")
        self.digest = hashlib.sha256(msgspec.json.encode(record, order="sorted")).hexdigest()[:20]

    def _moment(self, name: str) -> Moment:
        """A time; an impossible one is flagged and replaced by the receipt, an unreadable one refused."""
        value = self.record.get(name)
        found = moment(value, self.received_ms)
        if value is None or found.ms is not None or _is_time(value):
            return found
        raise Refused("not_a_time", f"/{name}", f"{name} must be ISO 8601 with an offset, or epoch milliseconds")

    def text(self, name: str) -> str | None:
        """A short name, or None where it is absent or empty."""
        value = self.record.get(name)
        if value is None or value == "":
            return None
        if isinstance(value, str):
            return value
        raise Refused("not_a_name", f"/{name}", f"{name} must be a text of at most 200 characters without spaces")

    def ranked(self, name: str) -> Ranked | None:
        """A name that is replaced by what later records say."""
        value = self.text(name)
        return (self.started.ms or 0, value) if value else None

    def count(self, name: str) -> int | None:
        """A whole number from 0 to 2^63 - 1."""
        return token_count(self.record.get(name), f"/{name}")

    @property
    def _received_if_timeless(self) -> int | None:
        return self.received_ms if self.started.ms is None else None

    @property
    def _thread(self) -> Ranked:
        thread = self.text("thread")
        return (25, thread) if thread else (29, "")

    def call(self) -> tuple[Reading, ...]:
        """A model call, by whoever reports it, and the window that was stated with it."""
        leaves = {name: self.count(name) for name in LEAVES}
        if all(value is None for value in leaves.values()):
            raise Refused("missing_usage", "/uncached_input", f"a call needs at least one of {', '.join(LEAVES)}")
        output, reasoning = leaves["output"], self.count("reasoning")
        if output is not None and reasoning is not None and reasoning > output:
            raise Refused("reasoning_exceeds_output", "/reasoning", "reasoning is part of output; add it to output")
        total, known_5m = self._writes(leaves)
        message_id, request_id = self.text("message_id"), self.text("request_id")
        call = CallReading(
            session=self.session,
            source=self.source,
            key=message_id or request_id or self.digest,
            message_id=message_id,
            request_id=request_id,
            thread=self._thread,
            purpose=self._purpose(),
            model=self.ranked("model"),
            first_ms=self.started.ms,
            ended_ms=self.ended.ms,
            received_ms=self._received_if_timeless,
            uncached_input=leaves["uncached_input"],
            cache_read=leaves["cache_read"],
            write_total=total,
            write_5m=known_5m,
            write_1h=leaves["cache_write_1h"],
            output=output,
            reasoning=reasoning,
            web_searches=self.count("web_searches"),
            host_cost_nanousd=nanodollars(self.record.get("cost_usd"), "/cost_usd"),
            stop_reason=self.ranked("stop_reason"),
            prompt_id=self.ranked("prompt_id"),
            query_source=self.ranked("query_source"),
            speed=self.ranked("speed"),
            flags=self.started.flags,
        )
        window = self.count("window")
        return (call,) if window is None else (call, self._gauge(f"window:{self.text('model')}:{window}", window))

    def _writes(self, leaves: dict[str, int | None]) -> tuple[int | None, int | None]:
        """(all writes, those known to live 5 minutes): writes of unknown lifetime are part of cache_write_5m."""
        short, long, unknown = (leaves[f"cache_write_{name}"] for name in ("5m", "1h", "unknown_ttl"))
        if short and unknown and unknown > short:
            fix = "cache_write_unknown_ttl is part of cache_write_5m; add it there"
            raise Refused("unknown_ttl_exceeds_5m", "/cache_write_unknown_ttl", fix)
        if short is None and long is None and unknown is None:
            return None, None
        held = max(short or 0, unknown or 0)
        return held + (long or 0), None if short is None else held - (unknown or 0)

    def _purpose(self) -> Ranked:
        purpose = self.record.get("purpose")
        if purpose is None or purpose == Purpose.TURN:
            return (0, Purpose.TURN)
        if not isinstance(purpose, str) or purpose not in set(Purpose):
            raise Refused("unknown_purpose", "/purpose", f"purpose must be one of {', '.join(Purpose)}")
        return (45, purpose)

    def compaction(self) -> tuple[Reading, ...]:
        """A completed compaction."""
        trigger = self.text("trigger")
        if trigger is not None and trigger not in TRIGGERS:
            raise Refused("unknown_trigger", "/trigger", f"trigger must be one of {', '.join(TRIGGERS)}")
        compaction = CompactionReading(
            session=self.session,
            source=self.source,
            key=self.text("id") or self.digest,
            signal=Signal.BOUNDARY,
            trigger=self.ranked("trigger"),
            at_ms=self.started.ms,
            received_ms=self._received_if_timeless,
            duration_ms=self.count("duration_ms"),
            before_tokens=self.count("before_tokens"),
            after_tokens=self.count("after_tokens"),
            thread=self._thread,
            prompt_id=self.ranked("prompt_id"),
            flags=self.started.flags,
        )
        return (compaction,)

    def meter(self) -> tuple[Reading, ...]:
        """A sample of a gauge of the main thread."""
        window, occupancy = self.count("window"), self.count("occupancy")
        cost = nanodollars(self.record.get("cost_usd"), "/cost_usd")
        if window is None and occupancy is None and cost is None:
            raise Refused("missing_usage", "/occupancy", "a meter needs at least one of window, occupancy, cost_usd")
        return (self._gauge(self.digest, window, occupancy, cost),)

    def _gauge(
        self, key: str, window: int | None, occupancy: int | None = None, cost: int | None = None
    ) -> MeterReading:
        return MeterReading(
            session=self.session,
            source=self.source,
            key=key,
            received_ms=self.received_ms,
            at_ms=self.started.ms,
            uptime_ms=self.started.ms,
            model=self.ranked("model"),
            window=window,
            occupancy=occupancy,
            host_cost_nanousd=cost,
        )

    def tool(self) -> tuple[Reading, ...]:
        """Sizes of one tool use."""
        use = self.text("tool_use_id")
        if use is None:
            raise Refused("missing_tool_use", "/tool_use_id", "tool_use_id is needed: it names the tool use")
        failed = self.record.get("failed")
        if not isinstance(failed, bool | None):
            raise Refused("not_a_flag", "/failed", "failed must be true or false")
        at_ms = self.started.ms
        size = ToolSize(
            name=self.text("tool_name"),
            result_bytes=self.count("result_bytes"),
            input_bytes=self.count("input_bytes"),
            failed=None if failed is None else int(failed),
            at_ms=at_ms,
            thread=self.text("thread") or "",
        )
        minute = str((self.received_ms if at_ms is None else at_ms) // MINUTE_MS)
        return (StepsReading(session=self.session, source=self.source, key=minute, tools={use: size}),)

    def externalize(self) -> tuple[Reading, ...]:
        """Exact specifics were written to durable memory."""
        sink = self.text("sink") or "server"
        if sink not in SINKS:
            raise Refused("unknown_sink", "/sink", f"sink must be one of {', '.join(SINKS)}")
        mark = MarkReading(
            session=self.session,
            source=self.source,
            key=self.text("id") or self.digest,
            mark=Mark.EXTERNALIZE,
            at_ms=self.started.ms,
            received_ms=self._received_if_timeless,
            detail=(0, sink),
            thread=self._thread,
        )
        return (mark,)

    def session_alone(self) -> tuple[Reading, ...]:
        """Facts of the session and nothing else."""
        return ()

    def facts(self) -> SessionReading:
        """What the record says of its session."""
        project = self.text("project")
        return SessionReading(
            session=self.session,
            source=self.source,
            key="session",
            first_ms=self.started.ms,
            last_ms=self.started.ms if self.ended.ms is None else self.ended.ms,
            received_ms=self.received_ms,
            version=self.ranked("version"),
            branch=self.ranked("branch"),
            project=(REMOTE_RANK, project) if project else None,
            entrypoint=self.ranked("entrypoint"),
            developer=self.ranked("developer"),
            model=self.ranked("model"),
            parent=self.ranked("parent_session_id"),
            flags=(HANDOFF,) if self.record.get("handoff") is True else (),
        )


def _is_time(value: object) -> bool:
    """Whether it says a moment at all, be it an impossible one."""
    if isinstance(value, str) and not value.isdigit():
        try:
            datetime.fromisoformat(value)
        except ValueError:
            return False
        return True
    return isinstance(value, int | float | str) and not isinstance(value, bool)
