"""Spans of Claude Code (beta): `llm_request` tells a call as its log event does, input without the cached part."""

from sessions_app.feeds.base import Context, Husk, Refused
from sessions_app.feeds.claude_otlp import purpose_of, thread_of
from sessions_app.feeds.claude_record import Record
from sessions_app.feeds.times import moment
from sessions_app.kernel.joins import Ranked
from sessions_app.kernel.readings import CallReading, Reading, Source


def read_span(flat: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one span. Refused: bad counts, `missing_session`."""
    record = Record(flat, context, Source.OTLP_SPAN)
    if record.name != "llm_request":
        return ()
    if not record.session:
        raise Refused("missing_session", "/attributes", "an llm_request without session.id belongs to no session")
    start_ms = moment(flat.get("start_ms"), context.received_ms).ms
    call = CallReading(
        **record.base(),
        key=f"{flat.get('trace_id')}:{flat.get('span_id')}",
        request_id=record.text("request_id") or None,
        thread=_thread(record),
        purpose=purpose_of(record),
        model=record.ranked("model"),
        first_ms=start_ms,
        ended_ms=record.at_ms,
        received_ms=record.received_ms if start_ms is None and record.at_ms is None else None,
        uncached_input=record.count("input_tokens"),
        cache_read=record.count("cache_read_tokens"),
        write_total=record.count("cache_creation_tokens"),
        output=record.count("output_tokens"),
        query_source=record.ranked("query_source"),
        speed=record.ranked("speed"),
        flags=record.flags,
    )
    return (call, record.facts(start_ms, {}))


def _thread(record: Record) -> Ranked:
    """The agent by its id, as transcripts name it, before what telemetry calls it."""
    agent = record.text("agent_id")
    return (6, agent) if agent else thread_of(record)
