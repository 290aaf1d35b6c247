"""What a compaction was worth: its own call and the new prefix against the cheaper calls after it.

The calls after it are held fixed: each is priced again with the context that the compaction took away,
read from the cache, or written anew where the call met a cold one. Whether the work went on as well as it
would have is not in these numbers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from sessions_app.kernel import money
from sessions_app.kernel.charges import Prices
from sessions_app.kernel.compactions import Kind, State
from sessions_app.kernel.facts import CallFact, CompactionFact, Leaves, Worth
from sessions_app.kernel.money import EXACT
from sessions_app.kernel.parts import as_read
from sessions_app.kernel.pauses import is_late
from sessions_app.kernel.readings import Purpose

#: No host that we know lets a summary be longer, in tokens.
LONGEST_SUMMARY = 32_000
#: What took the place of a conversation; attempts and failures took nothing.
REPLACED = (State.COMPLETED, State.SUMMARY_ONLY)


def with_worths(
    compactions: Sequence[CompactionFact], calls: Sequence[CallFact], prices: Prices
) -> list[CompactionFact]:
    """The compactions, each with its worth; `calls` and `compactions` of one session in causal order."""
    by_key = {call.key: call for call in calls}
    turns: dict[str, list[CallFact]] = {}
    for call in calls:
        if call.purpose is Purpose.TURN:
            turns.setdefault(call.thread, []).append(call)
    place = {call.key: index for chain in turns.values() for index, call in enumerate(chain)}
    ends = _ends(compactions, place)
    return [
        replace(fact, worth=_worth(fact, by_key, turns[fact.thread], place[fact.next_call], ends[fact.key], prices))
        if fact.key in ends
        else fact
        for fact in compactions
    ]


def _ends(compactions: Iterable[CompactionFact], place: dict[str, int]) -> dict[str, int | None]:
    """For each compaction that a call followed: the place where the next one of its thread begins."""
    ends: dict[str, int | None] = {}
    last: dict[str, str] = {}
    for fact in compactions:
        if fact.kind is not Kind.COMPACTION or fact.state not in REPLACED or fact.next_call not in place:
            continue
        if fact.thread in last:
            ends[last[fact.thread]] = place[fact.next_call]
        ends[fact.key] = None
        last[fact.thread] = fact.key
    return ends


def _worth(
    fact: CompactionFact,
    by_key: dict[str, CallFact],
    turns: Sequence[CallFact],
    first: int,
    end: int | None,
    prices: Prices,
) -> Worth:
    later = turns[first:end]
    before = turns[first - 1] if first else None
    summary = by_key.get(fact.summary_call)
    gone = None if fact.before_tokens is None or fact.after_tokens is None else fact.before_tokens - fact.after_tokens
    cold = [_is_cold(earlier, call) for earlier, call in zip([before, *later], later, strict=False)]
    savings = [saving(call, gone, is_cold, prices) for call, is_cold in zip(later, cold, strict=True)]
    known = [saving for saving in savings if saving is not None]
    return Worth(
        summary_usd=summary.cost_usd if summary else None,
        summary_most_usd=None if summary else _most(before, fact.before_tokens, prices),
        rewrite_usd=_rewrite(later[0], prices),
        per_call_usd=saving(later[0], gone, False, prices),
        later_calls=len(later),
        cold_calls=sum(cold),
        saved_usd=money.total(known) if len(known) == len(later) else None,
        is_warm=None if before is None else not is_late(before, summary or later[0]),
    )


def _most(before: CallFact | None, tokens: int | None, prices: Prices) -> Decimal | None:
    """The whole context written anew for an hour, and the longest summary that a host asks for."""
    if before is None or tokens is None:
        return None
    sent = Leaves(cache_write_1h=tokens, output=LONGEST_SUMMARY)
    charge = prices.charge(before.model, before.started_at, sent)
    return charge.cost_usd if charge else None


def _rewrite(call: CallFact, prices: Prices) -> Decimal | None:
    """What writing the new prefix cost above reading it."""
    written = call.leaves.cache_write_5m + call.leaves.cache_write_1h
    cold = prices.charge(call.model, call.started_at, call.leaves)
    warm = prices.charge(call.model, call.started_at, as_read(call.leaves, written))
    return EXACT.subtract(cold.cost_usd, warm.cost_usd) if cold and warm else None


def saving(call: CallFact, gone: int | None, is_cold: bool, prices: Prices) -> Decimal | None:
    """What the call would have cost more with `gone` tokens more; below zero where the context grew."""
    if gone is None:
        return None
    larger, smaller = (gone, 0) if gone > 0 else (0, -gone)
    with_them = call.leaves + _carried(call.leaves, larger, is_cold)
    without = call.leaves + _carried(call.leaves, smaller, is_cold)
    dear, cheap = (prices.charge(call.model, call.started_at, leaves) for leaves in (with_them, without))
    return EXACT.subtract(dear.cost_usd, cheap.cost_usd) if dear and cheap else None


def _carried(leaves: Leaves, tokens: int, is_cold: bool) -> Leaves:
    """Tokens as this call would have carried them: read, or written for the time that it writes for."""
    if not is_cold:
        return Leaves(cache_read=tokens)
    hourly = leaves.cache_write_1h > leaves.cache_write_5m
    return Leaves(cache_write_1h=tokens) if hourly else Leaves(cache_write_5m=tokens)


def _is_cold(before: CallFact | None, call: CallFact) -> bool:
    """Whether the pause before the call outlived what was written."""
    return before is not None and is_late(before, call)
