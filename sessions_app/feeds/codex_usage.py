"""Usage in a Codex rollout: `token_usage_record` names the response, `token_count` tells running totals.

Both tell the same calls; a record of totals is written again at every refresh of the display. Input includes what
was read from and written to the cache, output includes reasoning. A row without usage whose total stands is the
host's own count of the whole prompt after a compaction: a point of occupancy and no call.
"""

from typing import Any

from sessions_app.feeds.base import Husk, Refused
from sessions_app.feeds.codex_line import Line
from sessions_app.feeds.husk_strings import made_id
from sessions_app.feeds.numbers import token_count
from sessions_app.kernel.readings import CallReading, Purpose, Source
from sessions_app.kernel.totals import BY_FIRST, BY_TOTAL

_COUNTS = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
#: Every row is written after its response ended.
DONE = (0, "completed")


def base(line: Line) -> dict[str, Any]:
    """What every call of the line shares."""
    return {
        "session": line.session,
        "source": Source.TRANSCRIPT,
        "thread": line.thread,
        "first_ms": line.ms,
        "received_ms": line.received_if_timeless,
        "flags": line.flags,
    }


def by_thread(key: str, line: Line) -> str:
    """A record's name inside its session: a copy in an agent's file is a record of its own."""
    return f"{key}@{line.thread[1]}" if line.thread[1] else key


def record(line: Line) -> CallReading | None:
    """The call of a `token_usage_record`. Refused: counts that are none."""
    response, usage = line.text("response_id"), line.tree("usage")
    if not response or not usage:
        return None
    turn = line.text("turn_id")
    return CallReading(
        **base(line),
        key=by_thread(response, line),
        message_id=response,
        stop_reason=DONE,
        prompt_id=line.ranked(turn),
        **leaves(usage, "/payload/usage"),
    )


def count(line: Line) -> CallReading | None:
    """The call, or the host's own count, of a `token_count`. Refused: counts that are none."""
    info = line.tree("info")
    total, last = _part(info, "total_token_usage"), _part(info, "last_token_usage")
    running = _counts(total, "/payload/info/total_token_usage")
    if total is None and last is None:
        return None
    window = token_count(info.get("model_context_window"), "/payload/info/model_context_window") or None
    if last is not None and not any(_counts(last, "/payload/info/last_token_usage")):
        return _recount(line, last, running, window)
    if last is None and not any(running):
        return None
    spent = _counts(last, "/payload/info/last_token_usage")
    told = running if total is not None else (*spent, line.ms or 0)
    is_first = total is not None and last is not None and spent == running
    name = made_id(BY_FIRST if is_first else BY_TOTAL, "-".join(map(str, told)))
    return CallReading(
        **base(line),
        key=by_thread(name, line),
        message_id=name,
        stop_reason=DONE,
        window=window,
        running=running if total is not None else None,
        **(leaves(last, "/payload/info/last_token_usage") if last is not None else {}),
    )


def _recount(line: Line, last: Husk, running: tuple[int, ...], window: int | None) -> CallReading | None:
    estimate = token_count(last.get("total_tokens"), "/payload/info/last_token_usage/total_tokens")
    if not estimate:
        return None
    return CallReading(
        **base(line),
        key=by_thread(f"recount:{'-'.join(map(str, running))}:{estimate}", line),
        purpose=(30, Purpose.RECOUNT),
        occupancy=estimate,
        window=window,
        stop_reason=DONE,
    )


def compaction_call(line: Line) -> CallReading | None:
    """That a response wrote the summary of a compaction; its usage is in a record of its own."""
    response = line.text("compaction_response_id")
    if not response:
        return None
    return CallReading(
        **base(line),
        key=by_thread(response, line),
        message_id=response,
        purpose=(50, Purpose.COMPACTION),
        stop_reason=DONE,
    )


def leaves(usage: Husk, pointer: str) -> dict[str, Any]:
    """Disjoint leaves of a `TokenUsage`."""
    given, read, written, output = _counts(usage, pointer)
    inside = read + written <= given
    return {
        # A record in which the parts exceed the whole does not include them.
        "uncached_input": given - read - written if inside else given,
        "cache_read": read,
        "write_total": written,
        "output": output,
        "reasoning": token_count(usage.get("reasoning_output_tokens"), f"{pointer}/reasoning_output_tokens"),
    }


def _counts(usage: Husk | None, pointer: str) -> tuple[int, ...]:
    told = usage or {}
    return tuple(token_count(told.get(name), f"{pointer}/{name}") or 0 for name in _COUNTS)


def _part(info: Husk, name: str) -> Husk | None:
    part = info.get(name)
    if part is None:
        return None
    if not isinstance(part, dict):
        raise Refused("not_an_object", f"/payload/info/{name}", "usage must be an object")
    return part
