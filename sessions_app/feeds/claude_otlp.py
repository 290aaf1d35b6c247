"""Telemetry of Claude Code: log events (calls, compactions, tool results) and token counters.

Telemetry does not split cache writes by lifetime, and a compaction's token figures there are estimates
of the message text. `event.sequence` starts anew with each resume, so it names nothing by itself.
"""

from sessions_app.feeds import otlp
from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.claude_counters import read_point
from sessions_app.feeds.claude_line import MINUTE_MS
from sessions_app.feeds.claude_record import Record
from sessions_app.feeds.husk_strings import made_id
from sessions_app.kernel.identity import BY_CLIENT
from sessions_app.kernel.joins import Ranked
from sessions_app.kernel.readings import (
    CallReading,
    CompactionReading,
    Mark,
    MarkReading,
    Purpose,
    Reading,
    Signal,
    Source,
    StepsReading,
    ToolSize,
)

MAIN = frozenset(("", "sdk", "repl_main_thread", "main"))
#: Newer hosts name the main loop by its surface: `repl_main_thread:outputStyle:…`.
MAIN_STARTS = ("repl_main_thread", "sdk", "cli")
#: A call that took longer was asleep; its start is not its end less that.
LONGEST_MS = 86_400_000


def parse_logs(body: bytes, context: Context) -> Parsed:
    """An export to `/v1/logs`."""
    return otlp.parse(body, context, otlp.Kind.LOGS, read_log)


def parse_metrics(body: bytes, context: Context) -> Parsed:
    """An export to `/v1/metrics`."""
    return otlp.parse(body, context, otlp.Kind.METRICS, read_point)


def read_log(flat: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one log record; what others write says nothing here. Refused: bad counts, `missing_session`."""
    record = Record(flat, context, Source.OTLP_LOG)
    reader = READERS.get(record.name)
    # A resumed host first speaks under an id that it then throws away: other events open no session.
    if reader is None or not record.is_ours:
        return ()
    if not record.session:
        if reader is _api_request:
            raise Refused("missing_session", "/attributes", "an api_request without session.id belongs to no session")
        return ()
    thread = thread_of(record)[1]
    agents = {thread: thread.removeprefix("agent:")} if thread and reader is _api_request else {}
    return (*reader(record), record.facts(record.at_ms, agents))


def _api_request(record: Record) -> tuple[Reading, ...]:
    request, client = record.text("request_id"), record.text("client_request_id")
    request_id = request or (made_id(BY_CLIENT, client) if client else None)
    took_ms = record.side("duration_ms")
    start_ms = record.at_ms
    if start_ms is not None and took_ms is not None and took_ms <= LONGEST_MS:
        start_ms -= took_ms
    # The micro-dollars beside it are rounded.
    cost, micros = record.dollars("cost_usd"), record.side("cost_usd_micros")
    call = CallReading(
        **record.base(),
        key=request_id or f"{record.session}:{record.attrs.get('event.sequence', '')}:{record.at_ms}",
        request_id=request_id,
        thread=thread_of(record),
        purpose=purpose_of(record),
        model=record.ranked("model"),
        first_ms=start_ms,
        ended_ms=record.at_ms,
        duration_ms=took_ms,
        received_ms=record.received_if_timeless,
        uncached_input=record.count("input_tokens"),
        cache_read=record.count("cache_read_tokens"),
        write_total=record.count("cache_creation_tokens"),
        output=record.count("output_tokens"),
        host_cost_nanousd=micros * 1000 if cost is None and micros is not None else cost,
        prompt_id=record.ranked("prompt.id"),
        query_source=record.ranked("query_source"),
        speed=record.ranked("speed"),
        flags=record.flags if record.at_ms is not None else ("impossible_time",),
    )
    return (call,)


def _is_main(source: str) -> bool:
    return source in MAIN or source.startswith(MAIN_STARTS)


def _is_agent(record: Record) -> bool:
    """A subagent's call, by its source (`agent:builtin:…`, `subagent`, the agent's own name)."""
    source = record.text("query_source")
    if source.startswith("agent") or source == "subagent":
        return True
    # With --agent the main loop has an agent's name too.
    return bool(record.text("agent.name")) and source != "compact" and not _is_main(source)


def thread_of(record: Record) -> Ranked:
    if _is_agent(record):
        return (4, f"agent:{record.text('agent.name') or record.text('query_source')}")
    return (5, "")


def purpose_of(record: Record) -> Ranked:
    """Main chain and agents converse; everything else that the host asks is auxiliary."""
    source = record.text("query_source")
    if source == "compact":
        return (40, Purpose.COMPACTION)
    if _is_main(source) or _is_agent(record):
        return (0, Purpose.TURN)
    return (40, Purpose.TITLE if "title" in source else Purpose.AUXILIARY)


def _compaction(record: Record) -> tuple[Reading, ...]:
    success = record.word("success")
    compaction = CompactionReading(
        **record.base(),
        key=record.own_name,
        signal=Signal.TELEMETRY,
        trigger=record.ranked("trigger"),
        at_ms=record.at_ms,
        received_ms=record.received_if_timeless,
        duration_ms=record.side("duration_ms"),
        before_tokens=record.side("pre_tokens"),
        after_tokens=record.side("post_tokens"),
        succeeded=(0, success) if success else None,
        prompt_id=record.ranked("prompt.id"),
    )
    return (compaction,)


def _tool_result(record: Record) -> tuple[Reading, ...]:
    use = record.text("tool_use_id")
    if not use:
        return ()
    size = ToolSize(
        name=record.text("tool_name") or None,
        result_bytes=record.side("tool_result_size_bytes"),
        input_bytes=record.side("tool_input_size_bytes"),
        failed=int(record.word("success") == "false"),
        at_ms=record.at_ms,
    )
    minute = (record.received_ms if record.at_ms is None else record.at_ms) // MINUTE_MS
    return (StepsReading(**record.base(), key=str(minute), tools={use: size}),)


def _user_prompt(record: Record) -> tuple[Reading, ...]:
    # A command of the host, as /compact is, asks the model nothing.
    if record.text("command_source") == "builtin":
        return ()
    prompt = record.text("prompt.id")
    return (_mark(record, Mark.PROMPT, f"prompt:{prompt}" if prompt else record.own_name, ""),)


def _api_error(record: Record) -> tuple[Reading, ...]:
    request = record.text("request_id") or record.text("client_request_id")
    key = f"{record.name}:{request}:{record.word('attempt')}" if request else record.own_name
    return (_mark(record, Mark.API_ERROR, key, record.word("status_code") or record.text("error_type")),)


def _mark(record: Record, mark: Mark, key: str, detail: str) -> MarkReading:
    return MarkReading(
        **record.base(),
        key=key,
        mark=mark,
        at_ms=record.at_ms,
        received_ms=record.received_if_timeless,
        detail=(0, detail) if detail else None,
        prompt_id=record.ranked("prompt.id"),
    )


READERS = {
    "api_request": _api_request,
    "compaction": _compaction,
    "tool_result": _tool_result,
    "user_prompt": _user_prompt,
    "api_error": _api_error,
}

LOGS = Feed("claude-code-otlp-logs", "claude-code", parse_logs, read_log)
METRICS = Feed("claude-code-otlp-metrics", "claude-code", parse_metrics, read_point)
