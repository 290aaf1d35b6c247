"""The stream of the Claude Agent SDK and of `claude -p --output-format stream-json`, one JSON object a line.

Its lines are those of a transcript in snake case, without a clock; they are ordered by their place in the delivery.
The output of a step is a placeholder there (the result alone has the sum), so the sums are a lower bound until the
transcript or the telemetry of the same session arrives.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sessions_app.feeds import claude_transcript
from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.claude_line import FOLDER_RANK
from sessions_app.feeds.husk import SIZE, husk
from sessions_app.feeds.lines import parse_lines
from sessions_app.feeds.numbers import nanodollars, token_count
from sessions_app.kernel.readings import Mark, MarkReading, MeterReading, Reading, SessionReading, Source


def parse(body: bytes, context: Context) -> Parsed:
    """Read a stream or a piece of it. Refused lines: as of a transcript."""
    number = 0

    def read_one(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
        nonlocal number
        number += 1
        reduced = reduce(record)
        # Lines have no time: each is later than the one before it, also when it is read from the vault again.
        if SIZE not in reduced:
            reduced.setdefault("received_at", context.received_ms + number)
        return reduced, read(reduced, context)

    return parse_lines(body, context, read_one)


def reduce(record: Any) -> Husk:
    """The husk of a line; of a result also its usage by model, whose names are keys there."""
    reduced = husk(record)
    # A record that calls itself reduced holds nothing beside its size.
    if SIZE in reduced:
        return reduced
    models = record.get("modelUsage")
    if isinstance(models, dict):
        reduced["models"] = [
            husk({"model": name, "window": used.get("contextWindow")})
            for name, used in models.items()
            if isinstance(name, str) and isinstance(used, dict)
        ]
    version = record.get("claude_code_version")
    if isinstance(version, str):
        reduced.update(husk({"version": version}))
    return reduced


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one line. Refused: bad usage, and usage that belongs to no session."""
    at = record.get("received_at")
    here = replace(context, received_ms=at) if type(at) is int else context
    told = claude_transcript.read(record, here)
    session = record.get("session_id")
    if not isinstance(session, str) or not session:
        return told
    if record.get("type") == "result":
        return (*told, *_result(record, session, here.received_ms))
    if record.get("type") == "system" and record.get("subtype") == "init":
        return (*told, *_init(record, session, here.received_ms))
    return told


def _init(record: Husk, session: str, received_ms: int) -> Iterator[Reading]:
    version, model, folder = record.get("version"), record.get("model"), record.get("cwd")
    yield SessionReading(
        session=session,
        source=Source.TRANSCRIPT,
        key="init",
        received_ms=received_ms,
        version=(received_ms, version) if isinstance(version, str) and version else None,
        model=(received_ms, model) if isinstance(model, str) and model else None,
        project=(FOLDER_RANK - received_ms, folder) if isinstance(folder, str) and folder else None,
        entrypoint=(0, "sdk"),
    )


def _result(record: Husk, session: str, received_ms: int) -> Iterator[Reading]:
    """The end of a turn: the host's own cost so far, and the windows that it knows."""
    name = record.get("uuid") or received_ms
    try:
        cost = nanodollars(record.get("total_cost_usd"), "/total_cost_usd")
    except Refused:
        cost = None
    models = record.get("models")
    for used in models if isinstance(models, list) else ():
        model, window = used.get("model"), token_count(used.get("window"), "/modelUsage")
        if isinstance(model, str) and window:
            yield MeterReading(
                session=session,
                source=Source.TRANSCRIPT,
                key=f"window:{model}:{window}",
                received_ms=received_ms,
                model=(received_ms, model),
                window=window,
            )
    if cost:
        yield MeterReading(
            session=session,
            source=Source.TRANSCRIPT,
            key=f"cost:{name}",
            received_ms=received_ms,
            host_cost_nanousd=cost,
        )
    mark = Mark.API_ERROR if record.get("is_error") is True else Mark.STOP
    yield MarkReading(
        session=session, source=Source.TRANSCRIPT, key=f"{mark}:{name}", mark=mark, received_ms=received_ms
    )


FEED = Feed("claude-sdk-transcript", "claude-code", parse, read)
