"""Telemetry of Claude Code: log events (calls, compactions, tool results) and token counters.

Telemetry does not split cache writes by lifetime, and a compaction's token figures there are estimates
of the message text. `event.sequence` starts anew with each resume, so it names nothing by itself.
"""

import hashlib
from typing import Any

import msgspec

from sessions_app.feeds import otlp
from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.claude_transcript import MINUTE_MS
from sessions_app.feeds.numbers import nanodollars, token_count
from sessions_app.kernel.joins import Ranked
from sessions_app.kernel.readings import (
    CallReading,
    CompactionReading,
    CounterReading,
    Mark,
    MarkReading,
    Purpose,
    Reading,
    SessionReading,
    Signal,
    Source,
    StepsReading,
    ToolSize,
)

PREFIX = "claude_code."
MAIN = frozenset(("", "sdk", "repl_main_thread", "main"))
LEAVES = {"input": "uncached_input", "output": "output", "cacheRead": "cache_read", "cacheCreation": "cache_write"}
DELTA = frozenset(("1", "AGGREGATION_TEMPORALITY_DELTA"))


def parse_logs(body: bytes, context: Context) -> Parsed:
    """An export to `/v1/logs`."""
    return otlp.parse(body, context, "log", read_log)


def parse_metrics(body: bytes, context: Context) -> Parsed:
    """An export to `/v1/metrics`."""
    return otlp.parse(body, context, "metric", read_point)


class _Record:
    """A flat record of one session with its time."""

    def __init__(self, record: Husk, session: str, context: Context) -> None:
        attrs = record.get("attrs")
        self.attrs: Husk = attrs if isinstance(attrs, dict) else {}
        self.session = session
        self.event = str(record.get("event", "")).removeprefix(PREFIX)
        self.at_ms = otlp.time_of(record, context)
        self.received_ms = context.received_ms

    def text(self, name: str) -> str:
        value = self.attrs.get(name)
        return value if isinstance(value, str) else ""

    def ranked(self, name: str) -> Ranked | None:
        value = self.text(name)
        return (self.at_ms or 0, value) if value else None

    def count(self, name: str) -> int | None:
        return token_count(self.attrs.get(name), f"/attributes/{name}")

    def safe(self, name: str) -> int | None:
        try:
            return self.count(name)
        except Refused:
            return None

    def name(self) -> str:
        """A name for a record without an id: when, and which in the row."""
        return f"{self.event}:{self.at_ms}:{self.attrs.get('event.sequence', '')}"

    def base(self) -> dict[str, Any]:
        return {"session": self.session, "source": Source.OTLP_LOG}


def _session_of(record: Husk) -> str:
    attrs = record.get("attrs")
    value = attrs.get("session.id") if isinstance(attrs, dict) else None
    return value if isinstance(value, str) else ""


def read_log(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one log record; events of others say nothing here."""
    session = _session_of(record)
    reader = READERS.get(str(record.get("event", "")).removeprefix(PREFIX))
    if not session:
        if reader is _api_request:
            raise Refused("missing_session", "/attributes", "an api_request without session.id belongs to no session")
        return ()
    if reader is None:
        # A resumed host first speaks under an id that it then throws away: such events open no session.
        return ()
    event = _Record(record, session, context)
    return (*reader(event), _facts(event))


def _facts(event: _Record) -> SessionReading:
    version = event.text("service.version")
    return SessionReading(
        **event.base(),
        key="session",
        first_ms=None,
        last_ms=event.at_ms,
        received_ms=event.received_ms,
        version=(event.at_ms or 0, version) if version and event.text("service.name").startswith("claude") else None,
        developer=event.ranked("developer"),
    )


def _api_request(event: _Record) -> tuple[Reading, ...]:
    request, client = event.text("request_id"), event.text("client_request_id")
    request_id = request or (f"client:{client}" if client else None)
    duration = event.safe("duration_ms")
    first = event.at_ms - (duration or 0) if event.at_ms is not None else None
    micros = event.safe("cost_usd_micros")
    cost = micros * 1000 if micros is not None else nanodollars(event.attrs.get("cost_usd"), "/attributes/cost_usd")
    call = CallReading(
        **event.base(),
        key=request_id or event.name(),
        request_id=request_id,
        thread=_thread(event),
        purpose=_purpose(event.text("query_source")),
        model=event.ranked("model"),
        first_ms=first,
        ended_ms=event.at_ms,
        duration_ms=duration,
        received_ms=event.received_ms if event.at_ms is None else None,
        uncached_input=event.count("input_tokens"),
        cache_read=event.count("cache_read_tokens"),
        write_total=event.count("cache_creation_tokens"),
        output=event.count("output_tokens"),
        host_cost_nanousd=cost,
        prompt_id=event.ranked("prompt.id"),
        query_source=event.ranked("query_source"),
        speed=event.ranked("speed"),
        flags=() if event.at_ms is not None else ("impossible_time",),
    )
    return (call,)


def _is_agent(source: str) -> bool:
    return source.startswith("agent") or source == "subagent"


def _thread(event: _Record) -> Ranked:
    if _is_agent(event.text("query_source")):
        return (4, f"agent:{event.text('agent.name') or event.text('query_source')}")
    return (5, "")


def _purpose(source: str) -> Ranked:
    """Main chain and agents converse; everything else that the host asks is auxiliary."""
    if source == "compact":
        return (40, Purpose.COMPACTION)
    if source in MAIN or _is_agent(source):
        return (0, Purpose.TURN)
    # Newer hosts name the main loop by its surface (repl_main_thread:outputStyle, …).
    if source.startswith(("repl_main_thread", "sdk", "cli")):
        return (0, Purpose.TURN)
    return (40, Purpose.TITLE if "title" in source else Purpose.AUXILIARY)


def _compaction(event: _Record) -> tuple[Reading, ...]:
    compaction = CompactionReading(
        **event.base(),
        key=event.name(),
        signal=Signal.TELEMETRY,
        trigger=event.ranked("trigger"),
        at_ms=event.at_ms,
        received_ms=event.received_ms if event.at_ms is None else None,
        duration_ms=event.safe("duration_ms"),
        before_tokens=event.safe("pre_tokens"),
        after_tokens=event.safe("post_tokens"),
        succeeded=(0, str(event.attrs["success"]).lower()) if "success" in event.attrs else None,
        prompt_id=event.ranked("prompt.id"),
    )
    return (compaction,)


def _tool_result(event: _Record) -> tuple[Reading, ...]:
    use = event.text("tool_use_id")
    if not use:
        return ()
    size = ToolSize(
        name=event.text("tool_name") or None,
        result_bytes=event.safe("tool_result_size_bytes"),
        input_bytes=event.safe("tool_input_size_bytes"),
        failed=int(str(event.attrs.get("success", "true")).lower() == "false"),
        at_ms=event.at_ms,
    )
    return (StepsReading(**event.base(), key=str((event.at_ms or 0) // MINUTE_MS), tools={use: size}),)


def _mark(event: _Record) -> tuple[Reading, ...]:
    mark = Mark.PROMPT if event.event == "user_prompt" else Mark.API_ERROR
    reading = MarkReading(
        **event.base(), key=event.name(), mark=mark, at_ms=event.at_ms, prompt_id=event.ranked("prompt.id")
    )
    return (reading,)


READERS = {
    "api_request": _api_request,
    "compaction": _compaction,
    "tool_result": _tool_result,
    "user_prompt": _mark,
    "api_error": _mark,
}


def read_point(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one data point of the token or cost counter."""
    session = _session_of(record)
    point = _Record(record, session, context)
    leaf = "cost_nanousd" if point.event == "cost.usage" else LEAVES.get(point.text("type"))
    if not session or point.event not in ("token.usage", "cost.usage") or leaf is None:
        return ()
    value = record.get("value")
    amount = nanodollars(value, "/asDouble") if leaf == "cost_nanousd" else token_count(value, "/asDouble")
    start = record.get("start_ms") if isinstance(record.get("start_ms"), int) else None
    names = {name: v for name, v in sorted(point.attrs.items()) if name not in ("developer", "service.version")}
    series = hashlib.sha256(msgspec.json.encode({"metric": point.event, **names}, order="sorted")).hexdigest()[:16]
    is_delta = str(record.get("temporality")) in DELTA
    counter = CounterReading(
        session=session,
        source=Source.OTLP_METRIC,
        key=f"{series}:{start}:{point.at_ms}" if is_delta else f"{series}:{start}",
        leaf=leaf,
        model=point.text("model"),
        query_source=point.text("query_source"),
        value=amount or 0,
        start_ms=start,
        at_ms=point.at_ms,
    )
    facts = SessionReading(
        session=session,
        source=Source.OTLP_METRIC,
        key="session",
        last_ms=point.at_ms,
        received_ms=point.received_ms,
        developer=point.ranked("developer"),
    )
    return (counter, facts)


LOGS = Feed("claude-code-otlp-logs", "claude-code", parse_logs, read_log)
METRICS = Feed("claude-code-otlp-metrics", "claude-code", parse_metrics, read_point)
