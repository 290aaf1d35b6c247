"""Cache misses by arithmetic: what a call should have read again, what it did not, and what that cost.

Expected read E = min(read + written of the call before, prompt of this one); missed M = max(0, E - read).
After a compaction the prefix is new: what is written then is rebuild. A cause is named only where usage,
time and model prove it; the rest stays `unexplained`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING

from sessions_app.kernel.facts import CallFact, Leaves
from sessions_app.kernel.money import EXACT
from sessions_app.kernel.readings import Purpose

if TYPE_CHECKING:
    from sessions_app.kernel.fold import Prices

TTL_5M_SECONDS = 300
TTL_1H_SECONDS = 3_600


class Cause(StrEnum):
    """Why tokens were sent again."""

    COMPACTION = "compaction"
    MODEL_SWITCH = "model_switch"
    PAUSE = "pause"
    UNEXPLAINED = "unexplained"


@dataclass(frozen=True, slots=True)
class Miss:
    """Tokens of one call that a warm cache would have held, why it did not, and the extra cost."""

    tokens: int
    cause: Cause
    cost_usd: Decimal | None


def misses(calls: Sequence[CallFact], after_compaction: frozenset[str], prices: "Prices") -> dict[str, Miss]:
    """Misses by call key; `calls` in causal order, `after_compaction` the first calls after one."""
    before: dict[str, CallFact] = {}
    found: dict[str, Miss] = {}
    for call in calls:
        if call.purpose is not Purpose.TURN:
            continue
        previous = before.get(call.thread)
        before[call.thread] = call
        if previous is None:
            continue
        if call.key in after_compaction:
            tokens, cause = call.leaves.cache_write_5m + call.leaves.cache_write_1h, Cause.COMPACTION
        else:
            tokens, cause = _missed(previous, call), _cause(previous, call)
        if tokens:
            found[call.key] = Miss(tokens, cause, _extra(call, tokens, prices))
    return found


def _missed(previous: CallFact, call: CallFact) -> int:
    held = previous.leaves.cache_read + previous.leaves.cache_write_5m + previous.leaves.cache_write_1h
    return max(0, min(held, call.leaves.prompt) - call.leaves.cache_read)


def _cause(previous: CallFact, call: CallFact) -> Cause:
    if previous.model != call.model:
        return Cause.MODEL_SWITCH
    return Cause.PAUSE if is_late(previous, call) else Cause.UNEXPLAINED


def is_late(previous: CallFact, call: CallFact) -> bool:
    """Whether the pause between two calls outlived what the first one wrote or read."""
    seconds = (call.started_at - (previous.ended_at or previous.started_at)).total_seconds()
    hourly = previous.leaves.cache_write_1h > previous.leaves.cache_write_5m
    return seconds > (TTL_1H_SECONDS if hourly else TTL_5M_SECONDS)


def _extra(call: CallFact, tokens: int, prices: "Prices") -> Decimal | None:
    """The price of the call less its price had the missed tokens been read."""
    if call.cost_usd is None:
        return None
    warm = prices.charge(call.model, call.started_at, as_read(call.leaves, tokens))
    cold = prices.charge(call.model, call.started_at, call.leaves)
    return EXACT.subtract(cold.cost_usd, warm.cost_usd) if warm and cold else None


def as_read(leaves: Leaves, tokens: int) -> Leaves:
    """The same prompt with `tokens` read from the cache: taken from the larger class of writes first."""
    classes = sorted(("cache_write_5m", "cache_write_1h"), key=lambda name: -getattr(leaves, name))
    moved: dict[str, int] = {}
    rest = tokens
    for name in (*classes, "uncached_input"):
        taken = min(rest, getattr(leaves, name))
        moved[name] = getattr(leaves, name) - taken
        rest -= taken
    unknown = min(leaves.cache_write_unknown_ttl, moved["cache_write_5m"])
    return replace(leaves, **moved, cache_read=leaves.cache_read + tokens - rest, cache_write_unknown_ttl=unknown)


def with_misses(calls: Sequence[CallFact], found: Mapping[str, Miss]) -> list[CallFact]:
    """The calls with their miss written in."""
    return [
        replace(
            call,
            missed_tokens=found[call.key].tokens,
            miss_cause=str(found[call.key].cause),
            miss_cost_usd=found[call.key].cost_usd,
        )
        if call.key in found
        else call
        for call in calls
    ]
