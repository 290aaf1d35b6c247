"""The product's own format: calls, compactions, meters and facts that a script or a proxy reports.

JSON (one record or a list) or NDJSON. Field names are those of the answers; see docs/schemas.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec

from sessions_app.feeds.base import Context, Feed, Husk, Item, Parsed, Refusal, Refused
from sessions_app.feeds.husk import husk
from sessions_app.feeds.lines import decode, parse_lines
from sessions_app.feeds.numbers import nanodollars, token_count
from sessions_app.feeds.times import moment
from sessions_app.kernel.joins import Ranked
from sessions_app.kernel.readings import (
    CallReading,
    CompactionReading,
    MeterReading,
    Purpose,
    Reading,
    SessionReading,
    Signal,
    Source,
)

HOSTS = frozenset("claude-code codex opencode copilot gemini cursor litellm otlp canonical".split())
TYPES = ("call", "proxy_call", "compaction", "meter", "session")
LEAVES = "uncached_input cache_read cache_write_5m cache_write_1h cache_write_unknown_ttl output reasoning".split()
REMOTE_RANK = 1 << 46


def parse(body: bytes, context: Context) -> Parsed:
    """One record, a list of records, or one a line."""
    stripped = body.strip()
    try:
        value, _ = decode(stripped)
    except Refused as refused:
        if b"\n" in stripped:
            return parse_lines(body, context, _reduce_and_read)
        return Parsed(refusals=[Refusal(1, refused.pointer, refused.code, refused.message)])
    parsed = Parsed()
    for position, record in enumerate(value if isinstance(value, list) else [value], 1):
        try:
            parsed.items.append(Item(position, *_reduce_and_read(record, context)))
        except Refused as refused:
            parsed.refusals.append(Refusal(position, refused.pointer, refused.code, refused.message))
    return parsed


def _reduce_and_read(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
    reduced = husk(record)
    return reduced, read(reduced, context)


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one record."""
    own = _Own(record, context)
    readers: dict[str, Callable[[], Reading]] = {
        "call": own.call,
        "proxy_call": own.call,
        "compaction": own.compaction,
        "meter": own.meter,
        "session": own.facts,
    }
    reader = readers.get(str(record.get("type")))
    if reader is None:
        raise Refused("unknown_type", "/type", f"type must be one of {', '.join(TYPES)}")
    reading = reader()
    return (reading,) if isinstance(reading, SessionReading) else (reading, own.facts())


class _Own:
    """One record of the own format."""

    def __init__(self, record: Husk, context: Context) -> None:
        self.record, self.context = record, context
        self.session = self.text("session", required=True) or ""
        host = record.get("host", "canonical")
        if not isinstance(host, str) or host not in HOSTS:
            raise Refused("unknown_host", "/host", f"host must be one of {', '.join(sorted(HOSTS))}")
        self.source = Source.PROXY if record.get("type") == "proxy_call" else Source.CANONICAL
        self.started = moment(record.get("started_at") or record.get("at"), context.received_ms)
        self.ended = moment(record.get("ended_at"), context.received_ms)
        digest = hashlib.sha256(msgspec.json.encode(record, order="sorted"))
        self.digest = digest.hexdigest()[:20]

    def text(self, name: str, *, required: bool = False) -> str | None:
        value = self.record.get(name)
        if isinstance(value, str) and value:
            return value
        if required or (value is not None and not isinstance(value, str)):
            raise Refused("not_a_name", f"/{name}", f"{name} must be a short text without spaces")
        return None

    def ranked(self, name: str) -> Ranked | None:
        value = self.text(name)
        return (self.started.ms or 0, value) if value else None

    def count(self, name: str) -> int | None:
        return token_count(self.record.get(name), f"/{name}")

    def call(self) -> CallReading:
        leaves = {name: self.count(name) for name in LEAVES}
        if all(value is None for value in leaves.values()):
            raise Refused("missing_usage", "/uncached_input", f"a call needs at least one of {', '.join(LEAVES)}")
        thread = self.text("thread") or ""
        split = [leaves["cache_write_5m"], leaves["cache_write_1h"], leaves["cache_write_unknown_ttl"]]
        unknown = leaves["cache_write_unknown_ttl"] or 0
        message_id, request_id = self.text("message_id"), self.text("request_id")
        return CallReading(
            session=self.session,
            source=self.source,
            key=message_id or request_id or self.digest,
            message_id=message_id,
            request_id=request_id,
            thread=(25, thread) if thread else (29, ""),
            purpose=self._purpose(),
            model=self.ranked("model"),
            first_ms=self.started.ms,
            ended_ms=self.ended.ms,
            received_ms=self.context.received_ms if self.started.ms is None else None,
            uncached_input=leaves["uncached_input"],
            cache_read=leaves["cache_read"],
            write_total=sum(v or 0 for v in split) if any(v is not None for v in split) else None,
            write_5m=None if leaves["cache_write_5m"] is None else max(0, leaves["cache_write_5m"] - unknown),
            write_1h=leaves["cache_write_1h"],
            output=leaves["output"],
            reasoning=leaves["reasoning"],
            host_cost_nanousd=nanodollars(self.record.get("cost_usd"), "/cost_usd"),
            stop_reason=(0, "reported"),
            flags=self.started.flags,
        )

    def _purpose(self) -> Ranked:
        purpose = self.record.get("purpose", "turn")
        if not isinstance(purpose, str) or purpose not in set(Purpose):
            raise Refused("unknown_purpose", "/purpose", f"purpose must be one of {', '.join(Purpose)}")
        return (0 if purpose == Purpose.TURN else 45, purpose)

    def compaction(self) -> CompactionReading:
        key = self.text("id") or self.digest
        return CompactionReading(
            session=self.session,
            source=self.source,
            key=key,
            signal=Signal.BOUNDARY,
            trigger=self.ranked("trigger"),
            at_ms=self.started.ms,
            received_ms=self.context.received_ms if self.started.ms is None else None,
            before_tokens=self.count("before_tokens"),
            after_tokens=self.count("after_tokens"),
            duration_ms=self.count("duration_ms"),
        )

    def meter(self) -> MeterReading:
        return MeterReading(
            session=self.session,
            source=self.source,
            key=self.digest,
            received_ms=self.context.received_ms,
            at_ms=self.started.ms,
            uptime_ms=self.started.ms,
            model=self.ranked("model"),
            window=self.count("window"),
            occupancy=self.count("occupancy"),
        )

    def facts(self) -> SessionReading:
        project = self.text("project")
        return SessionReading(
            session=self.session,
            source=self.source,
            key="session",
            first_ms=self.started.ms,
            last_ms=self.ended.ms or self.started.ms,
            received_ms=self.context.received_ms,
            version=self.ranked("version"),
            branch=self.ranked("branch"),
            project=(REMOTE_RANK, project) if project else None,
            developer=self.ranked("developer"),
            model=self.ranked("model"),
        )


FEED = Feed("canonical", "", parse, read)
