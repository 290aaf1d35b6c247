"""Cache losses of a session: what was expected, what was read, what it cost, what the numbers rule out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from ecm_site.common import figures
from sessions_app.dashboard import words
from sessions_app.dashboard.call_lines import PAGE_SIZE, href_of
from sessions_app.dashboard.findings import LEAST_TOKENS
from sessions_app.kernel.misses import TTL_1H_SECONDS, TTL_5M_SECONDS, Cause
from sessions_app.models import Call

MOST_CARDS = 12


@dataclass(frozen=True, slots=True)
class LossCard:
    """One call that read less than it could have."""

    call: Call
    expected: int
    cause: str
    #: True where usage, time and model prove the cause.
    is_proved: bool
    ruled_out: tuple[str, ...]
    href: str
    #: The dearest is shown open.
    is_open: bool = False

    @property
    def extra_usd(self) -> Decimal | None:
        """What the missed tokens cost above a read."""
        return self.call.miss_cost_usd


def loss_cards(calls: Sequence[Call]) -> tuple[tuple[LossCard, ...], int]:
    """The largest losses in the order of calls, and how many smaller ones are left out.

    A loss after a compaction is part of that compaction's cost; below the smallest cacheable prompt there is none.
    """
    before: dict[str, Call] = {}
    found: list[LossCard] = []
    is_paged = len(calls) > PAGE_SIZE
    for call in calls:
        if call.purpose != "turn":
            continue
        previous = before.get(call.thread)
        before[call.thread] = call
        explained = call.miss_cause in ("", Cause.COMPACTION)
        if previous is not None and not explained and call.missed_tokens >= LEAST_TOKENS:
            found.append(_card(previous, call, href_of(call, is_paged=is_paged)))
    largest = sorted(found, key=lambda card: (-card.call.missed_tokens, card.call.number))[:MOST_CARDS]
    largest[:1] = [replace(card, is_open=True) for card in largest[:1]]
    return tuple(sorted(largest, key=lambda card: card.call.number)), len(found) - len(largest)


def _card(previous: Call, call: Call, href: str) -> LossCard:
    return LossCard(
        call=call,
        expected=call.cache_read + call.missed_tokens,
        cause=words.word(words.CAUSES, call.miss_cause),
        is_proved=call.miss_cause != Cause.UNEXPLAINED,
        ruled_out=_ruled_out(previous, call) if call.miss_cause == Cause.UNEXPLAINED else _shown(previous, call),
        href=href,
    )


def _pause(previous: Call, call: Call) -> str:
    seconds = max((call.started_at - (previous.ended_at or previous.started_at)).total_seconds(), 0.0)
    return figures.duration(seconds)


def _limit(previous: Call) -> str:
    hourly = previous.cache_write_1h > previous.cache_write_5m
    return figures.duration(TTL_1H_SECONDS if hourly else TTL_5M_SECONDS)


def _ruled_out(previous: Call, call: Call) -> tuple[str, ...]:
    return (
        f"a pause (call {previous.number} ended {_pause(previous, call)} before; the limit is {_limit(previous)})",
        f"another model ({call.model or 'the same'}, as before)",
        "a compaction (none between the two)",
    )


def _shown(previous: Call, call: Call) -> tuple[str, ...]:
    if call.miss_cause == Cause.MODEL_SWITCH:
        return (f"call {previous.number} ran on {previous.model}, this one on {call.model}",)
    return (f"call {previous.number} ended {_pause(previous, call)} before; the cache lives {_limit(previous)}",)
