"""Usage of one Anthropic response as Claude Code writes it: the conversation's call and those inside it.

`iterations` list the passes of a response. The top level sums the passes of the serving model and leaves
out an advisor's, a declined attempt's and a compaction's; those are calls of their own. Occupancy is the
prompt of the last conversation pass: a sum of passes is no occupancy.
"""

from collections.abc import Iterator
from typing import Any

from sessions_app.feeds.base import Husk, Refused
from sessions_app.feeds.husk import SIZE
from sessions_app.feeds.husk_strings import made_id
from sessions_app.feeds.numbers import token_count
from sessions_app.kernel.identity import BY_LINE
from sessions_app.kernel.readings import CallReading, Purpose

CONVERSATION = ("message", "fallback_message")
WHERE = "/message/usage"


def calls_of(message: Husk, base: dict[str, Any], rank: int, line_id: str) -> Iterator[CallReading]:
    """The calls of one assistant line; none when it carries no usage.

    `base` holds the fields that all of them share, `rank` orders lines in time (ms). Refused: usage that
    is no object, and counts that break the rule of `numbers.token_count`.
    """
    usage = message.get("usage")
    if usage is None or usage == {}:
        return
    if type(usage) is not dict or SIZE in usage:
        raise Refused("not_an_object", WHERE, "usage must be an object")
    told = message.get("id")
    message_id = told if type(told) is str and told else None
    if message_id is None and base["request_id"] is None and line_id:
        # The line's own id is all there is; a copy of the line in another session keeps it.
        message_id = made_id(BY_LINE, line_id)
    # Without any id the line's own place names it: two such lines are two calls.
    key = message_id or (made_id(BY_LINE, line_id) if line_id else f"line:{base['first_ms']}:{_numbers(usage)}")
    passes = _passes(usage)
    model, miss = message.get("model"), _miss(message)
    is_compaction = base["thread"][1].startswith("acompact")
    stop_reason = _text(rank, message.get("stop_reason"))
    yield CallReading(
        **base,
        key=key,
        message_id=message_id,
        purpose=(50, Purpose.COMPACTION) if is_compaction else (0, Purpose.TURN),
        model=_text(rank, model),
        **tokens(usage, WHERE),
        occupancy=_occupancy(passes),
        reasoning=_nested(usage, "output_tokens_details", "thinking_tokens"),
        web_searches=_nested(usage, "server_tool_use", "web_search_requests"),
        stop_reason=stop_reason,
        speed=_text(rank, usage.get("speed")),
        miss_reason=_text(rank, miss.get("type")),
        missed_tokens=_safe(miss.get("cache_missed_input_tokens")),
        **_cleared(message),
    )
    if len(passes) > 1 or (passes and passes[0][1].get("type") != "message"):
        shared = {**base, "request_id": None, "uuids": (), "parents": base["uuids"], "stop_reason": stop_reason}
        yield from _inner_calls(passes, shared, key, message_id, rank, model)


def tokens(usage: Husk, pointer: str) -> dict[str, Any]:
    """Token fields of a usage object; absent ones are None, bad ones refuse the record."""
    split = usage.get("cache_creation")
    if type(split) is not dict or SIZE in split:
        split = {}
    where = f"{pointer}/cache_creation"
    return {
        "uncached_input": token_count(usage.get("input_tokens"), f"{pointer}/input_tokens"),
        "cache_read": token_count(usage.get("cache_read_input_tokens"), f"{pointer}/cache_read_input_tokens"),
        "write_total": token_count(usage.get("cache_creation_input_tokens"), f"{pointer}/cache_creation_input_tokens"),
        "write_5m": token_count(split.get("ephemeral_5m_input_tokens"), f"{where}/ephemeral_5m_input_tokens"),
        "write_1h": token_count(split.get("ephemeral_1h_input_tokens"), f"{where}/ephemeral_1h_input_tokens"),
        "output": token_count(usage.get("output_tokens"), f"{pointer}/output_tokens"),
    }


def _numbers(usage: Husk) -> str:
    return "-".join(str(usage.get(n)) for n in ("input_tokens", "cache_read_input_tokens", "output_tokens"))


def _passes(usage: Husk) -> list[tuple[int, Husk]]:
    """The passes of a response with their places in the list."""
    listed = usage.get("iterations")
    if type(listed) is not list:
        return []
    return [(number, inner) for number, inner in enumerate(listed) if type(inner) is dict]


def _occupancy(passes: list[tuple[int, Husk]]) -> int | None:
    """The prompt of the last conversation pass, where there are several."""
    own = [(number, inner) for number, inner in passes if inner.get("type") in CONVERSATION]
    if len(own) < 2:
        return None
    number, last = own[-1]
    counts = tokens(last, f"{WHERE}/iterations/{number}")
    split = (counts["write_5m"] or 0) + (counts["write_1h"] or 0)
    return (counts["uncached_input"] or 0) + (counts["cache_read"] or 0) + max(counts["write_total"] or 0, split)


def _inner_calls(
    passes: list[tuple[int, Husk]], shared: dict[str, Any], key: str, message_id: str | None, rank: int, model: object
) -> Iterator[CallReading]:
    """Advisor passes, compaction passes, and declined attempts that produced output."""
    served = max((number for number, inner in passes if inner.get("type") == "fallback_message"), default=-1)
    for number, inner in passes:
        purpose = _purpose(inner, number < served, model)
        if purpose is not None:
            name = f"#{purpose}{number}"
            yield CallReading(
                **shared,
                key=key + name,
                message_id=made_id("", message_id, name) if message_id else None,
                purpose=(60, purpose),
                model=_text(rank, inner.get("model") or model),
                **tokens(inner, f"{WHERE}/iterations/{number}"),
            )


def _purpose(inner: Husk, is_before_fallback: bool, model: object) -> Purpose | None:
    kind = inner.get("type")
    if kind == "advisor_message":
        return Purpose.ADVISOR
    if kind == "compaction":
        return Purpose.COMPACTION
    # The top level mirrors the serving attempt; an attempt declined before any output is not billed.
    other = kind == "message" and is_before_fallback and inner.get("model") != model
    return Purpose.DECLINED if other and (_safe(inner.get("output_tokens")) or 0) > 0 else None


def _miss(message: Husk) -> Husk:
    diagnostics = message.get("diagnostics")
    reason = diagnostics.get("cache_miss_reason") if type(diagnostics) is dict else None
    return reason if type(reason) is dict else {}


def _cleared(message: Husk) -> dict[str, Any]:
    """What context editing left out of this prompt: counted from the start of the history, so it repeats."""
    management = message.get("context_management")
    edits = management.get("applied_edits") if type(management) is dict else None
    tools = [e for e in edits if type(e) is dict and "cleared_tool_uses" in e] if type(edits) is list else []
    if not tools:
        return {}
    names = ("cleared_tool_uses", "cleared_input_tokens")
    uses, tokens = (sum(_safe(edit.get(name)) or 0 for edit in tools) for name in names)
    return {"cleared_uses": uses, "cleared_tokens": tokens}


def _nested(usage: Husk, outer: str, inner: str) -> int | None:
    tree = usage.get(outer)
    return _safe(tree.get(inner)) if type(tree) is dict else None


def _safe(value: object) -> int | None:
    """A side figure: a bad one is unknown and does not cost the call."""
    try:
        return token_count(value, "")
    except Refused:
        return None


def _text(rank: int, value: object) -> tuple[int, str] | None:
    return (rank, value) if isinstance(value, str) and value else None
