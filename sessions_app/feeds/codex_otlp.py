"""Telemetry of Codex: log events. Numbers are text, `timeUnixNano` is 0, some records have no event name.

A response's end is told twice: bare, and with tokens. Input includes what was cached, `tool_token_count` is the sum
of both sides. There is no id of the response: a record joins the rollout by conversation, usage and time.
"""

from sessions_app.feeds.base import Context, Husk, Refused
from sessions_app.feeds.claude_record import Record
from sessions_app.feeds.times import moment
from sessions_app.kernel.readings import CallReading, Mark, MarkReading, Reading, SessionReading, Source

PREFIX = "codex."


class CodexRecord(Record):
    """A record with its conversation, its own time and the version of the app."""

    def __init__(self, flat: Husk, context: Context) -> None:
        super().__init__(flat, context, Source.OTLP_LOG)
        self.name = self.name.removeprefix(PREFIX)
        self.session = self.text("conversation.id")
        own = moment(self.attrs.get("event.timestamp"), context.received_ms)
        if own.ms is not None:
            self.at_ms, self.flags = own.ms, own.flags

    def facts(self, first_ms: int | None, agents: dict[str, str]) -> SessionReading:
        """What the record says of its session."""
        version = self.text("app.version") or self.text("service.version")
        return SessionReading(
            **self.base(),
            key="session",
            first_ms=first_ms,
            last_ms=self.at_ms,
            received_ms=self.received_ms,
            version=(self.at_ms or 0, version) if version else None,
            developer=self.ranked("developer"),
            model=self.ranked("model"),
            agents=agents,
        )


def read_log(flat: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one log record. Refused: bad counts, `missing_session`."""
    record = CodexRecord(flat, context)
    given = record.count("input_token_count")
    if given is None and record.name not in ("conversation_starts", "user_prompt"):
        return ()
    if not record.session:
        if given is not None:
            raise Refused("missing_session", "/attributes", "usage without conversation.id belongs to no session")
        return ()
    told: list[Reading] = []
    if given is not None:
        told.append(_call(record, given))
    elif record.name == "user_prompt":
        told.append(_prompt(record))
    return (*told, record.facts(record.at_ms, {}))


def _call(record: CodexRecord, given: int) -> CallReading:
    read, written = record.count("cached_token_count") or 0, record.count("cache_write_token_count") or 0
    output, inside = record.count("output_token_count") or 0, read + written
    return CallReading(
        **record.base(),
        key=f"{record.at_ms}:{given}:{read}:{written}:{output}",
        model=record.ranked("model"),
        first_ms=record.at_ms,
        ended_ms=record.at_ms,
        received_ms=record.received_if_timeless,
        uncached_input=given - inside if inside <= given else given,
        cache_read=read,
        write_total=written,
        output=output,
        reasoning=record.side("reasoning_token_count"),
        flags=record.flags,
    )


def _prompt(record: CodexRecord) -> MarkReading:
    return MarkReading(
        **record.base(),
        key=f"prompt:{record.at_ms}",
        mark=Mark.PROMPT,
        at_ms=record.at_ms,
        received_ms=record.received_if_timeless,
    )
