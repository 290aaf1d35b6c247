"""Calls of any emitter that follows the GenAI conventions, or one of those that came before or beside them.

A model's call is a span of its own; spans of agents, chains and workflows repeat the sums of their
children and count nothing. The log event of the conventions tells the same call again (joined by id).
"""

from collections.abc import Iterable

from sessions_app.feeds import otlp_keys as keys
from sessions_app.feeds.base import Context, Husk, Refused
from sessions_app.feeds.conventions import disjoint
from sessions_app.feeds.numbers import nanodollars, token_count
from sessions_app.feeds.otlp import time_of
from sessions_app.feeds.times import moment
from sessions_app.kernel.joins import Ranked
from sessions_app.kernel.readings import CallReading, Purpose, Reading, SessionReading, Source

HOST = "otlp"
#: `gen_ai.operation.name` and its forerunners, in lower case.
_CALLS = frozenset(("chat", "text_completion", "generate_content", "completion", "responses", "generate", "llm"))
_AUXILIARY = frozenset(("embeddings", "embedding", "rerank", "reranker"))
_OPERATIONS = ("gen_ai.operation.name", "openinference.span.kind", "llm.request.type")
#: The AI SDK wraps each call of a provider (`….doGenerate`) into spans that repeat its usage.
_AI_SDK_CALLS = (".doGenerate", ".doStream", ".doEmbed")
#: The event that repeats a call's usage as a log record.
DETAILS = "gen_ai.client.inference.operation.details"


class Spoken:
    """The attributes of a flat span or log record, under whichever names they came."""

    def __init__(self, flat: Husk, context: Context) -> None:
        attrs = flat.get("attrs")
        self.flat, self.attrs = flat, attrs if isinstance(attrs, dict) else {}
        self.received_ms = context.received_ms
        self.ended, self.start = time_of(flat, context), moment(flat.get("start_ms"), context.received_ms)

    @property
    def at_ms(self) -> int | None:
        return self.start.ms if self.start.ms is not None else self.ended.ms

    @property
    def session(self) -> str:
        """The conversation, by any of its names; spans of no conversation belong to their trace."""
        trace = self.flat.get("trace_id")
        return self.first(keys.GENAI_SESSIONS) or (f"trace:{trace}" if isinstance(trace, str) and trace else "")

    def first(self, names: Iterable[str]) -> str:
        """The first text that is told under one of these names."""
        return next((value for name in names if isinstance(value := self.attrs.get(name), str) and value), "")

    def count(self, names: Iterable[str]) -> int | None:
        """The first count that is told; a bad one refuses the record."""
        name = next((name for name in names if self.attrs.get(name) is not None), "")
        return token_count(self.attrs.get(name), f"/attributes/{name}") if name else None

    def ranked(self, value: str) -> Ranked | None:
        return (self.ended.ms or 0, value) if value else None

    def host_cost(self) -> int | None:
        """What the emitter says it cost; a bad figure is unknown."""
        value = next((v for name in keys.GENAI_COST if (v := self.attrs.get(name)) is not None), None)
        try:
            return nanodollars(value, "")
        except Refused:
            return None


def read_span(flat: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one span; none where it is no model's call."""
    spoken = Spoken(flat, context)
    purpose = _purpose(spoken)
    return () if purpose is None else readings(spoken, Source.OTLP_SPAN, purpose)


def read_log(flat: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one log record: of the conventions' event alone."""
    spoken = Spoken(flat, context)
    if flat.get("event") != DETAILS:
        return ()
    purpose = _purpose(spoken)
    return () if purpose is None or not spoken.session else readings(spoken, Source.OTLP_LOG, purpose)


def readings(spoken: Spoken, source: Source, purpose: Purpose) -> tuple[Reading, ...]:
    """The call with its tokens told apart, and what is said of its session; none without usage."""
    read, written = spoken.count(keys.GENAI_READ), spoken.count(keys.GENAI_WRITE)
    given, output = spoken.count(keys.GENAI_INPUT), spoken.count(keys.GENAI_OUTPUT)
    reasoning, total = spoken.count(keys.GENAI_REASONING), spoken.count(keys.GENAI_TOTAL)
    if given is None and output is None:
        return ()
    counts = disjoint(given=given, read=read, written=written, output=output, reasoning=reasoning, total=total)
    flat, response = spoken.flat, spoken.first(keys.GENAI_RESPONSES)
    place = f"{flat.get('trace_id', '')}:{flat.get('span_id', '')}"
    call = CallReading(
        session=spoken.session,
        source=source,
        key=place if source is Source.OTLP_SPAN else response or f"log:{spoken.ended.ms}:{given}:{read}:{output}",
        message_id=response or None,
        purpose=(0, purpose) if purpose is Purpose.TURN else (40, purpose),
        model=spoken.ranked(spoken.first(keys.GENAI_MODELS)),
        first_ms=spoken.start.ms,
        ended_ms=spoken.ended.ms,
        received_ms=spoken.received_ms if spoken.at_ms is None else None,
        uncached_input=counts.uncached,
        cache_read=read,
        write_total=written,
        output=counts.output,
        reasoning=reasoning,
        host_cost_nanousd=spoken.host_cost(),
        uuids=(place,) if source is Source.OTLP_SPAN else (),
        parents=(f"{flat.get('trace_id')}:{flat.get('parent_span_id')}",) if flat.get("parent_span_id") else (),
        flags=tuple(sorted({*counts.flags, *spoken.ended.flags, *spoken.start.flags})),
    )
    return (call, facts(spoken, source))


def facts(spoken: Spoken, source: Source) -> SessionReading:
    """What a record says of its session."""
    project = spoken.first(("vcs.repository.url.full",))
    return SessionReading(
        session=spoken.session,
        source=source,
        key="session",
        first_ms=spoken.at_ms,
        last_ms=spoken.ended.ms,
        received_ms=spoken.received_ms,
        version=spoken.ranked(spoken.first(("service.version",))),
        entrypoint=spoken.ranked(spoken.first(("service.name",))),
        project=(spoken.ended.ms or 0, project) if project else None,
        branch=spoken.ranked(spoken.first(("vcs.ref.head.name",))),
        developer=spoken.ranked(spoken.first(("developer",))),
    )


def _purpose(spoken: Spoken) -> Purpose | None:
    """What the call is for, or None where the record is no model's call."""
    sdk = spoken.first(("ai.operationId",))
    if sdk:
        called = sdk.endswith(_AI_SDK_CALLS)
        return (Purpose.AUXILIARY if sdk.endswith(".doEmbed") else Purpose.TURN) if called else None
    operation = spoken.first(_OPERATIONS).lower()
    if operation in _AUXILIARY:
        return Purpose.AUXILIARY
    # A record that does not say what it is counts when it names a model and no agent.
    is_bare = not operation and not spoken.first(("gen_ai.agent.name",)) and bool(spoken.first(keys.GENAI_MODELS))
    return Purpose.TURN if operation in _CALLS or is_bare else None
