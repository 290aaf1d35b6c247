"""Telemetry of Gemini CLI. `api_response` tells a call; the inference details beside it tell it again, and before it.

Records carry no id of the response: a call is joined by session, counts and time. `service.version` is Node's.
"""

from collections.abc import Callable, Mapping

from sessions_app.feeds.base import Context, Husk, Refused
from sessions_app.feeds.claude_record import Record
from sessions_app.feeds.gemini_usage import TELEMETRY, leaves
from sessions_app.kernel.joins import Ranked
from sessions_app.kernel.readings import (
    CallReading,
    CompactionReading,
    Mark,
    MarkReading,
    Purpose,
    Reading,
    SessionReading,
    Signal,
    Source,
)

HOST, PREFIX = "gemini", "gemini_cli."
COMPRESSOR = "utility_compressor"


def read_log(flat: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one log record. Refused: bad counts, `missing_session`."""
    record = Record(flat, context, Source.OTLP_LOG)
    event = flat.get("event")
    name = event.removeprefix(PREFIX) if isinstance(event, str) else ""
    reader = READERS.get(name)
    if reader is None:
        return ()
    if not record.session:
        if reader is _api_response:
            raise Refused("missing_session", "/attributes", "an api_response without session.id belongs to no session")
        return ()
    facts = SessionReading(
        **record.base(), key="session", first_ms=record.at_ms, last_ms=record.at_ms, received_ms=record.received_ms
    )
    return (*reader(record), facts)


def _api_response(record: Record) -> tuple[Reading, ...]:
    told = leaves(record.attrs, TELEMETRY, "/attributes")
    if told is None:
        return ()
    counts, flags = told
    took_ms, at_ms = record.side("duration_ms"), record.at_ms
    call = CallReading(
        **record.base(),
        key=f"{record.text('prompt_id')}:{at_ms}:{counts['uncached_input']}:{counts['output']}",
        thread=_thread(record),
        purpose=_purpose(record),
        model=record.ranked("model"),
        first_ms=at_ms - took_ms if at_ms is not None and took_ms is not None and took_ms < at_ms else at_ms,
        ended_ms=at_ms,
        duration_ms=took_ms,
        received_ms=record.received_if_timeless,
        prompt_id=record.ranked("prompt_id"),
        query_source=record.ranked("role"),
        flags=tuple(sorted({*record.flags, *flags})),
        **counts,
    )
    return (call,)


def _thread(record: Record) -> Ranked:
    return (4, "agent:subagent") if record.text("role") == "subagent" else (5, "")


def _purpose(record: Record) -> Ranked:
    """The main loop and agents converse; compressing, routing and summarising are auxiliary."""
    role = record.text("role")
    if role == COMPRESSOR:
        return (40, Purpose.COMPACTION)
    return (40, Purpose.AUXILIARY) if role.startswith("utility_") else (0, Purpose.TURN)


def _compression(record: Record) -> tuple[Reading, ...]:
    """The host tells of each try; one that made the context larger was thrown away."""
    before, after = record.side("tokens_before"), record.side("tokens_after")
    failed = before is not None and after is not None and after > before
    compaction = CompactionReading(
        **record.base(),
        key=f"compression:{record.at_ms}:{before}",
        signal=Signal.TELEMETRY,
        at_ms=record.at_ms,
        received_ms=record.received_if_timeless,
        before_tokens=before,
        after_tokens=after,
        succeeded=(0, "false" if failed else "true"),
    )
    return (compaction,)


def _prompt(record: Record) -> tuple[Reading, ...]:
    # In print mode the prompt's id is the session's.
    return (_mark(record, Mark.PROMPT, f"prompt:{record.text('prompt_id')}:{record.at_ms}", ""),)


def _error(record: Record) -> tuple[Reading, ...]:
    return (_mark(record, Mark.API_ERROR, f"error:{record.at_ms}", record.word("status_code")),)


def _mark(record: Record, mark: Mark, key: str, detail: str) -> MarkReading:
    return MarkReading(
        **record.base(),
        key=key,
        mark=mark,
        at_ms=record.at_ms,
        received_ms=record.received_if_timeless,
        detail=(0, detail) if detail else None,
    )


READERS: Mapping[str, Callable[[Record], tuple[Reading, ...]]] = {
    "api_response": _api_response,
    "chat_compression": _compression,
    "user_prompt": _prompt,
    "api_error": _error,
}
