"""Spans of Copilot: `chat` is a call, `invoke_agent` repeats the sums of its calls and tells of the session.

Written tokens are `gen_ai.usage.cache_write.input_tokens`, input includes them. The response's id is the one that
`events.jsonl` has, so the same call is found there.
"""

from collections.abc import Iterator

import msgspec

from sessions_app.feeds import genai
from sessions_app.feeds.base import Context, Husk, Refused
from sessions_app.feeds.copilot_transcript import TRIGGERS
from sessions_app.feeds.copilot_usage import purpose_of
from sessions_app.feeds.numbers import token_count
from sessions_app.feeds.times import moment
from sessions_app.kernel.readings import CallReading, CompactionReading, MeterReading, Purpose, Reading, Signal, Source

PREFIX = "github.copilot."


def read_span(flat: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one span. Refused: bad counts."""
    spoken = genai.Spoken(flat, context)
    operation = spoken.first(("gen_ai.operation.name",))
    if operation == "chat":
        purpose = purpose_of(spoken.first((f"{PREFIX}initiator",)), "")
        return tuple(_with_purpose(r, purpose) for r in genai.readings(spoken, Source.OTLP_SPAN, Purpose.TURN))
    if operation != "invoke_agent" or not spoken.first(("gen_ai.conversation.id",)):
        return ()
    events = flat.get("events")
    told = [r for event in (events if isinstance(events, list) else ()) for r in _event(event, spoken, context)]
    return (*told, genai.facts(spoken, Source.OTLP_SPAN)) if told else ()


def _with_purpose(reading: Reading, purpose: tuple[int, Purpose]) -> Reading:
    return msgspec.structs.replace(reading, purpose=purpose) if isinstance(reading, CallReading) else reading


def _event(event: Husk, spoken: genai.Spoken, context: Context) -> Iterator[Reading]:
    """The window that the host holds to, and the end of a compaction."""
    name, attrs = event.get("event"), event.get("attrs")
    told = attrs if isinstance(attrs, dict) else {}
    at_ms = moment(event.get("time"), context.received_ms).ms
    if name == f"{PREFIX}session.usage_info":
        window = _figure(told, "token_limit")
        if window:
            # The tokens beside it are the host's estimate of the text alone.
            yield MeterReading(
                session=spoken.session,
                source=Source.OTLP_SPAN,
                key=f"window:{window}",
                received_ms=context.received_ms if at_ms is None else at_ms,
                window=window,
            )
    elif name == f"{PREFIX}session.compaction_complete":
        trigger, success = told.get(f"{PREFIX}trigger"), told.get(f"{PREFIX}success")
        known = TRIGGERS.get(trigger) if isinstance(trigger, str) else None
        yield CompactionReading(
            session=spoken.session,
            source=Source.OTLP_SPAN,
            key=f"compaction:{at_ms}",
            signal=Signal.TELEMETRY,
            trigger=(0, known) if known else None,
            at_ms=at_ms,
            received_ms=context.received_ms if at_ms is None else None,
            before_tokens=_figure(told, "pre_tokens"),
            after_tokens=_figure(told, "post_tokens"),
            succeeded=(0, str(success).lower()) if isinstance(success, bool | str) else None,
        )


def _figure(attrs: Husk, name: str) -> int | None:
    """A side figure; a bad one is unknown and does not cost the record."""
    try:
        return token_count(attrs.get(f"{PREFIX}{name}"), "")
    except Refused:
        return None
