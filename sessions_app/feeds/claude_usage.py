"""Usage of one Anthropic response as Claude Code writes it: the conversation's call and those inside it.

`iterations` list the passes of a response. The top level sums the passes of its own model and leaves out
an advisor's, a declined attempt's and a compaction's; those are calls of their own. Occupancy is the
prompt of the last conversation pass (a sum of passes is no occupancy).
"""

from collections.abc import Iterator
from typing import Any

from sessions_app.feeds.base import Husk, Refused
from sessions_app.feeds.numbers import token_count
from sessions_app.kernel.readings import CallReading, Purpose

CONVERSATION = ("message", "fallback_message")


def calls_of(message: Husk, base: dict[str, Any], rank: int, line_id: str) -> Iterator[CallReading]:
    """The calls of one assistant line; none when it carries no usage."""
    usage = message.get("usage")
    if usage is None:
        return
    if not isinstance(usage, dict):
        raise Refused("not_an_object", "/message/usage", "usage must be an object")
    message_id = message.get("id") if isinstance(message.get("id"), str) and message.get("id") else None
    key = message_id or (f"uuid:{line_id}" if line_id else f"line:{base['first_ms']}:{usage_name(usage)}")
    agent = base["thread"][1]
    purpose = (50, Purpose.COMPACTION) if agent.startswith("acompact") else (0, Purpose.TURN)
    model = message.get("model")
    iterations = _iterations(usage)
    yield CallReading(
        **base,
        key=key,
        message_id=message_id,
        purpose=purpose,
        model=(rank, model) if isinstance(model, str) and model else None,
        **tokens(usage, "/message/usage"),
        occupancy=_occupancy(iterations),
        reasoning=_nested(usage, "output_tokens_details", "thinking_tokens"),
        web_searches=_nested(usage, "server_tool_use", "web_search_requests"),
        stop_reason=_text(rank, message.get("stop_reason")),
        speed=_text(rank, usage.get("speed")),
        miss_reason=_text(rank, _miss(message).get("type")),
        missed_tokens=_safe(_miss(message).get("cache_missed_input_tokens")),
    )
    yield from _inner_calls(iterations, base, key, message_id, rank, model)


def usage_name(usage: Husk) -> str:
    """A name for a line without any id: its own numbers."""
    return "-".join(str(usage.get(n)) for n in ("input_tokens", "cache_read_input_tokens", "output_tokens"))


def tokens(usage: Husk, pointer: str) -> dict[str, int | None]:
    """Token fields of a usage object; absent ones are None, bad ones refuse the record."""
    split = usage.get("cache_creation")
    split = split if isinstance(split, dict) else {}
    where = f"{pointer}/cache_creation"
    return {
        "uncached_input": token_count(usage.get("input_tokens"), f"{pointer}/input_tokens"),
        "cache_read": token_count(usage.get("cache_read_input_tokens"), f"{pointer}/cache_read_input_tokens"),
        "write_total": token_count(usage.get("cache_creation_input_tokens"), f"{pointer}/cache_creation_input_tokens"),
        "write_5m": token_count(split.get("ephemeral_5m_input_tokens"), f"{where}/ephemeral_5m_input_tokens"),
        "write_1h": token_count(split.get("ephemeral_1h_input_tokens"), f"{where}/ephemeral_1h_input_tokens"),
        "output": token_count(usage.get("output_tokens"), f"{pointer}/output_tokens"),
    }


def _iterations(usage: Husk) -> list[Husk]:
    listed = usage.get("iterations")
    return [i for i in listed if isinstance(i, dict)] if isinstance(listed, list) else []


def _occupancy(iterations: list[Husk]) -> int | None:
    """The prompt of the last conversation pass, where there are several passes."""
    passes = [i for i in iterations if i.get("type") in CONVERSATION]
    if len(passes) < 2 and len(iterations) < 2:
        return None
    if not passes:
        return None
    counts = tokens(passes[-1], "/message/usage/iterations")
    split = (counts["write_5m"] or 0) + (counts["write_1h"] or 0)
    return (counts["uncached_input"] or 0) + (counts["cache_read"] or 0) + max(counts["write_total"] or 0, split)


def _inner_calls(
    iterations: list[Husk], base: dict[str, Any], key: str, message_id: str | None, rank: int, model: object
) -> Iterator[CallReading]:
    """Advisor passes, compaction passes, and declined attempts that produced output."""
    served = any(i.get("type") == "fallback_message" for i in iterations)
    for number, inner in enumerate(iterations):
        purpose = _purpose(inner, served)
        if purpose is None:
            continue
        name = f"#{purpose}{number}"
        inner_model = inner.get("model") or model
        yield CallReading(
            **{**base, "request_id": None},
            key=key + name,
            message_id=message_id + name if message_id else None,
            purpose=(60, purpose),
            model=(rank, inner_model) if isinstance(inner_model, str) else None,
            stop_reason=(rank, "inner"),
            **tokens(inner, f"/message/usage/iterations/{number}"),
        )


def _purpose(inner: Husk, served: bool) -> Purpose | None:
    kind = inner.get("type")
    if kind == "advisor_message":
        return Purpose.ADVISOR
    if kind == "compaction":
        return Purpose.COMPACTION
    declined = served and kind == "message" and (_safe(inner.get("output_tokens")) or 0) > 0
    return Purpose.DECLINED if declined else None


def _miss(message: Husk) -> Husk:
    diagnostics = message.get("diagnostics")
    reason = diagnostics.get("cache_miss_reason") if isinstance(diagnostics, dict) else None
    return reason if isinstance(reason, dict) else {}


def _nested(usage: Husk, outer: str, inner: str) -> int | None:
    tree = usage.get(outer)
    return _safe(tree.get(inner)) if isinstance(tree, dict) else None


def _safe(value: object) -> int | None:
    """A side figure: a bad one is unknown and does not cost the call."""
    try:
        return token_count(value, "")
    except Refused:
        return None


def _text(rank: int, value: object) -> tuple[int, str] | None:
    return (rank, value) if isinstance(value, str) and value else None
