"""Compactions of a session: each figure beside its origin, and which one counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sessions_app.dashboard import words
from sessions_app.dashboard.call_lines import PAGE_SIZE, href_of
from sessions_app.models import Call, Compaction


@dataclass(frozen=True, slots=True)
class BeforeFigure:
    """One figure of the context before, who said it, and why it counts or not."""

    tokens: int | None
    origin: str
    why: str
    counts: bool


@dataclass(frozen=True, slots=True)
class CompactionCard:
    """A compaction in words and figures."""

    compaction: Compaction
    name: str
    trigger: str
    state: str
    before: tuple[BeforeFigure, ...]
    summary_call: Call | None
    next_call: Call | None
    signals: str
    grew: bool
    summary_href: str
    next_href: str

    @property
    def rebuild_usd(self) -> Decimal | None:
        """What writing the new prefix cost above reading it."""
        return self.next_call.miss_cost_usd if self.next_call else None

    @property
    def rebuilt_tokens(self) -> int | None:
        """Tokens that the next call wrote."""
        return self.next_call.written_tokens if self.next_call else None

    @property
    def cost_usd(self) -> Decimal | None:
        """Summary call and rebuild; None unless both are known."""
        if self.summary_call is None or self.summary_call.cost_usd is None or self.rebuild_usd is None:
            return None
        return self.summary_call.cost_usd + self.rebuild_usd


def counts(compaction: Compaction) -> bool:
    """True for what is counted as a compaction: completed, by an explicit marker."""
    return compaction.kind == "compaction" and compaction.state == "completed"


def compaction_cards(compactions: Sequence[Compaction], calls: Sequence[Call]) -> tuple[CompactionCard, ...]:
    """Cards in the order of compactions."""
    by_key = {call.key: call for call in calls}
    is_paged = len(calls) > PAGE_SIZE

    def href(key: str) -> str:
        return href_of(by_key[key], is_paged=is_paged) if key in by_key else ""

    return tuple(
        CompactionCard(
            compaction=compaction,
            name="Clearing" if compaction.kind == "micro" else "Compaction",
            trigger=words.word(words.TRIGGERS, compaction.trigger),
            state=words.word(words.STATES, compaction.state),
            before=_before(compaction),
            summary_call=by_key.get(compaction.summary_call),
            next_call=by_key.get(compaction.next_call),
            signals=words.listed([words.word(words.SIGNALS, str(s)) for s in dict.fromkeys(compaction.signals)]),
            grew=_grew(compaction),
            summary_href=href(compaction.summary_call),
            next_href=href(compaction.next_call),
        )
        for compaction in compactions
    )


def _grew(compaction: Compaction) -> bool:
    before, after = compaction.before_tokens, compaction.after_tokens
    return before is not None and after is not None and after > before


def _before(compaction: Compaction) -> tuple[BeforeFigure, ...]:
    """The host's count heads the list when there is one; telemetry counts text only and never does."""
    by_host = compaction.before_tokens if compaction.before_origin == "transcript" else None
    by_call = compaction.before_by_last_call
    return (
        BeforeFigure(
            by_host,
            "the transcript",
            "counts: the host’s own count, taken as it compacted" if by_host is not None else "did not say",
            by_host is not None,
        ),
        BeforeFigure(
            by_call,
            "the last call before",
            _why_call(by_call, by_host),
            by_host is None and by_call is not None,
        ),
        BeforeFigure(
            compaction.before_by_telemetry,
            "telemetry",
            "does not count: text only, without tools and system prompt"
            if compaction.before_by_telemetry is not None
            else "did not say",
            False,
        ),
    )


def _why_call(by_call: int | None, by_host: int | None) -> str:
    if by_call is None:
        return "no call before it was seen"
    if by_host is None:
        return "counts: what the last call was billed for"
    return "billed; what came after the call is not in it"
