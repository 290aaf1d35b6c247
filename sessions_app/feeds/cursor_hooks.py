"""Hooks of Cursor. Only two carry numbers: `preCompact` the context and its window, `stop` the sums of a turn.

A turn may be many calls, so its sums are no occupancy and no calls: they count as tokens without a price. There is
no clock, and nothing tells that a compaction has ended.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.bodies import parse_records, unwrapped
from sessions_app.feeds.claude_hooks import Hook, event_of, readings_of
from sessions_app.feeds.husk import husk
from sessions_app.feeds.numbers import token_count
from sessions_app.kernel.readings import CounterReading, MeterReading, Reading, SessionReading, Signal, Source

EVENTS: Mapping[str, str] = {
    "sessionStart": "SessionStart",
    "sessionEnd": "SessionEnd",
    "beforeSubmitPrompt": "UserPromptSubmit",
    "postToolUse": "PostToolUse",
    "postToolUseFailure": "PostToolUseFailure",
    "subagentStart": "SubagentStart",
    "subagentStop": "SubagentStop",
    "preCompact": "PreCompact",
    "stop": "Stop",
}
#: Fields by Cursor's name, with the name under which a husk keeps such a value.
NAMES = {
    **{name: name for name in ("hook_event_name", "generation_id", "model", "trigger", "tool_name", "tool_use_id")},
    **{name: name for name in ("reason", "status", "session_id", "conversation_id", "context_tokens", "tool_input")},
    **{name: name for name in ("context_window_size", "input_tokens", "output_tokens", "cache_read_tokens")},
    "cache_write_tokens": "cache_write_tokens",
    "cursor_version": "version",
    "version": "version",
    "tool_output": "tool_response",
    "tool_response": "tool_response",
    "subagent_id": "agent_id",
    "agent_id": "agent_id",
    "subagent_type": "agent_type",
    "agent_type": "agent_type",
    "cwd": "cwd",
}


def reduce(record: Any) -> Husk:
    """The husk of a payload: what is named here. Refused: `not_an_object`."""
    if not isinstance(record, dict):
        raise Refused("not_an_object", "", f"expected an object, got {type(record).__name__}")
    held = record.get("payload")
    if isinstance(held, dict):
        return {**husk({"received_at": record.get("received_at")}), "payload": _picked(held)}
    return _picked(record)


def _picked(payload: Mapping[str, Any]) -> Husk:
    told = {kept: payload[name] for name, kept in NAMES.items() if payload.get(name) is not None}
    roots = payload.get("workspace_roots")
    if not told.get("cwd") and isinstance(roots, list) and roots and isinstance(roots[0], str):
        told["cwd"] = roots[0]
    return husk(told)


def parse(body: bytes, context: Context) -> Parsed:
    """One payload, a list of them, or one a line; each may be wrapped as `{"received_at", "payload"}`."""
    return parse_records(body, context, _reduce_and_read)


def _reduce_and_read(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
    reduced = reduce(record)
    return reduced, read(reduced, context)


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one payload. Refused: `missing_session`, bad counts."""
    payload, received_ms, where = unwrapped(record, context)
    session = payload.get("conversation_id") or payload.get("session_id")
    if not isinstance(session, str) or not session:
        raise Refused("missing_session", f"{where}/conversation_id", "a hook payload needs conversation_id, a string")
    name = event_of(payload, context)
    event = EVENTS.get(name, "")
    turn = payload.get("generation_id")
    # A turn's id makes a prompt and its end one turn, as the prompt's id does elsewhere.
    hook = Hook({**payload, "hook_event_name": event, "prompt_id": turn}, session, event, received_ms)
    signal = Signal.PRE_HOOK if event == "PreCompact" else None
    try:
        numbers = [*_gauge(payload, session, received_ms, name), *_sums(payload, session, received_ms, name)]
    except Refused as refused:
        raise Refused(refused.code, where + refused.pointer, refused.message) from None
    return (*readings_of(hook, signal), *numbers, *_facts(payload, session, received_ms))


def _gauge(payload: Husk, session: str, received_ms: int, name: str) -> Iterator[MeterReading]:
    if name != "preCompact":
        return
    occupancy = token_count(payload.get("context_tokens"), "/context_tokens")
    window = token_count(payload.get("context_window_size"), "/context_window_size")
    model = payload.get("model")
    if occupancy is not None or window is not None:
        yield MeterReading(
            session=session,
            source=Source.HOOK,
            key=f"gauge:{payload.get('generation_id')}:{occupancy}:{window}",
            received_ms=received_ms,
            model=(received_ms, model) if isinstance(model, str) and model else None,
            window=window,
            occupancy=occupancy,
        )


def _sums(payload: Husk, session: str, received_ms: int, name: str) -> Iterator[CounterReading]:
    """A turn's sums by leaf; input holds what was read and written."""
    if name != "stop":
        return
    given, read, written, output = (
        token_count(payload.get(key), f"/{key}")
        for key in ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
    )
    inside = (read or 0) + (written or 0)
    fresh = None if given is None else given - inside if given >= inside else given
    model = payload.get("model")
    leaves = {"uncached_input": fresh, "cache_read": read, "cache_write": written, "output": output}
    for leaf, value in leaves.items():
        if value:
            yield CounterReading(
                session=session,
                source=Source.HOOK,
                key=f"{payload.get('generation_id')}:{payload.get('loop_count', '')}:{leaf}",
                leaf=leaf,
                model=model if isinstance(model, str) else "",
                value=value,
                start_ms=received_ms,
            )


def _facts(payload: Husk, session: str, received_ms: int) -> Iterator[SessionReading]:
    version = payload.get("version")
    if isinstance(version, str) and version:
        yield SessionReading(
            session=session,
            source=Source.HOOK,
            key="version",
            received_ms=received_ms,
            version=(received_ms, version),
        )


FEED = Feed("cursor-hook", "cursor", parse, read)
