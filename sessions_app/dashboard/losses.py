"""Cache losses of a session: what was expected, what was read, what it cost, why, and what is ruled out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from sessions_app.dashboard import cause_words
from sessions_app.dashboard.call_lines import PAGE_SIZE, href_of
from sessions_app.dashboard.cause_words import CheckLine
from sessions_app.kernel.causes import Cause, Confidence, Part
from sessions_app.models import Call

MOST_CARDS = 12

SAYS = {
    "provider": "said by the provider",
    "record": "by the host’s own record",
    "arithmetic": "from usage and time",
}


@dataclass(frozen=True, slots=True)
class LossCard:
    """One call that read less than it could have."""

    call: Call
    expected: int
    cause: str
    #: "proved, said by the provider", "likely, from usage and time", "guess, from usage and time".
    standing: str
    is_proved: bool
    also: tuple[str, ...]
    ruled_out: tuple[CheckLine, ...]
    open: tuple[CheckLine, ...]
    settles: str
    fix: str
    href: str
    #: The dearest is shown open.
    is_open: bool = False

    @property
    def extra_usd(self) -> Decimal | None:
        """What the missed tokens cost above a read."""
        return self.call.miss_cost_usd


def is_loss(call: Call) -> bool:
    """Tokens sent again that no compaction or clearing explains, enough of them to look into."""
    wanted = (Cause.COMPACTION, Cause.CONTEXT_EDIT, Cause.SUMMARY, Cause.SMALL)
    return bool(call.miss_cause) and call.miss_cause not in wanted


def loss_cards(calls: Sequence[Call], host: str) -> tuple[tuple[LossCard, ...], int]:
    """The largest losses in the order of calls, and how many smaller ones are left out."""
    is_paged = len(calls) > PAGE_SIZE
    lost = [call for call in calls if is_loss(call)]
    chosen = sorted(lost, key=lambda call: (-call.missed_tokens, call.number))[:MOST_CARDS]
    cards = [card_of(call, host, href_of(call, is_paged=is_paged)) for call in chosen]
    cards[:1] = [replace(card, is_open=True) for card in cards[:1]]
    return tuple(sorted(cards, key=lambda card: card.call.number)), len(lost) - len(chosen)


def card_of(call: Call, host: str, href: str = "") -> LossCard:
    """What is known of one miss."""
    detail: Mapping[str, Any] = call.miss_detail or {}
    is_proved = call.miss_part != Part.UNEXPLAINED
    return LossCard(
        call=call,
        expected=int(detail.get("expected", 0)),
        cause=cause_words.sentence(call.miss_cause),
        standing=f"{call.miss_confidence}, {SAYS.get(call.miss_says, call.miss_says)}",
        is_proved=is_proved,
        also=tuple(cause_words.name(str(check[0])) for check in detail.get("also", ())),
        ruled_out=_lines(detail.get("ruled_out", ())),
        open=() if call.miss_confidence == Confidence.PROVED else _lines(detail.get("open", ())),
        settles="" if is_proved else cause_words.settles(host),
        fix=cause_words.fix(call.miss_cause, host),
        href=href,
    )


def _lines(checks: Sequence[cause_words.Check]) -> tuple[CheckLine, ...]:
    return tuple(cause_words.check_line(check) for check in checks)
