"""What ECM said in a session, what it put back after compactions, and what that cost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from policy_app.kernel.operations import Operation
from policy_app.kernel.sentences import OPERATION_WORDS
from sessions_app.dashboard.verdict_page import ADHERENCES, told_words
from sessions_app.kernel.facts import Leaves
from sessions_app.kernel.pricing import PriceBook
from sessions_app.kernel.times import when
from sessions_app.models import Compaction, Restoration, Session, Standing, Verdict
from sessions_app.services.bracket import survived

#: The newest verdicts read, and of those that asked for something the ones shown; the API has them all.
MOST_READ, MOST_SHOWN = 500, 20
#: A compaction and what came back after it lie no further apart.
TOGETHER_SECONDS = 120
CLASSES = {
    "path": "paths",
    "line_number": "line numbers",
    "error_string": "error strings",
    "version": "versions",
    "command": "commands",
    "decision_id": "decision ids",
}
SINKS = {
    "crystalium": "written out to CRYSTALIUM before",
    "file": "written out to a file before",
    "server": "written out before",
    "none": "nothing written out before",
}


@dataclass(frozen=True, slots=True)
class VerdictLine:
    """A verdict that asked for something, as it was known then."""

    verdict: Verdict
    told: str
    followed: str

    @property
    def asks(self) -> str:
        """What it asked for, in words."""
        return OPERATION_WORDS[Operation(self.verdict.operation)]


@dataclass(frozen=True, slots=True)
class RestorationLine:
    """What became of pins and specifics in one compaction; `number` is the compaction's, None where it is not known."""

    row: Restoration
    number: int | None
    pins: str
    in_summary: str
    specifics: tuple[tuple[str, int, int], ...]
    sink: str


@dataclass(frozen=True, slots=True)
class VerdictSection:
    """All that the section shows; `cost_usd` is what writing the injected tokens once costs at list price."""

    lines: tuple[VerdictLine, ...]
    given: int
    restorations: tuple[RestorationLine, ...]
    messages: int
    tokens: int
    cost_usd: Decimal | None
    drill_messages: int
    is_muted: bool
    is_live: bool

    @property
    def is_shown(self) -> bool:
        """False where nothing was ever judged here and nobody can be told."""
        return bool(self.given or self.restorations or self.is_muted or self.is_live)


def verdict_section(
    session: Session,
    compactions: Sequence[Compaction],
    restorations: Iterable[Restoration],
    book: PriceBook,
    *,
    is_live: bool,
) -> VerdictSection:
    """The section of one session: two queries."""
    rows = list(Verdict.objects.filter(session=session).order_by("-pk")[:MOST_READ])
    standings = list(Standing.objects.filter(session=session))
    counted = [row for row in standings if not row.is_drill]
    tokens = sum(row.injected_tokens for row in counted)
    shown = [row for row in rows if row.operation != "continue"][:MOST_SHOWN]
    return VerdictSection(
        lines=tuple(VerdictLine(row, told_words(row), ADHERENCES.get(row.adherence, "")) for row in shown),
        given=len(rows),
        restorations=tuple(_restoration(r, compactions) for r in restorations),
        messages=sum(row.messages for row in counted),
        tokens=tokens,
        cost_usd=_cost(session, tokens, book),
        drill_messages=sum(row.messages for row in standings if row.is_drill),
        is_muted=session.muted_at is not None,
        is_live=is_live,
    )


def _cost(session: Session, tokens: int, book: PriceBook) -> Decimal | None:
    if not tokens or session.last_at is None:
        return None
    charge = book.charge(session.model, session.last_at, Leaves(cache_write_5m=tokens))
    return charge.cost_usd if charge else None


def _restoration(row: Restoration, compactions: Sequence[Compaction]) -> RestorationLine:
    found = survived(row)
    specifics = row.specifics or {}
    return RestorationLine(
        row=row,
        number=_number(row, compactions),
        pins=_pins(row),
        in_summary=f"{found[0]} of {found[1]} word for word" if found else "",
        specifics=tuple(
            (words, specifics[name]["kept"], specifics[name]["before"])
            for name, words in CLASSES.items()
            if name in specifics
        ),
        sink=SINKS.get(row.sink, row.sink),
    )


def _pins(row: Restoration) -> str:
    count = len(row.pins) or len(row.survival or ())
    if row.repaired_at is not None:
        return f"{count} of {count} back, repaired at the next prompt"
    if row.delivered_at is not None:
        return f"{count} of {count} back" if count else "back, from the client’s own copy"
    if row.offered_at is not None:
        return f"0 of {count} back: offered, not confirmed yet"
    return "none was offered"


def _number(row: Restoration, compactions: Sequence[Compaction]) -> int | None:
    """The compaction nearest in time, if one is near."""
    at = _moment(row)
    near = [
        (abs((each.at - at).total_seconds()), each.number)
        for each in compactions
        if at is not None and each.at is not None and each.kind == "compaction"
    ]
    return min(near)[1] if near and min(near)[0] <= TOGETHER_SECONDS else None


def _moment(row: Restoration) -> datetime | None:
    ms = row.started_ms if row.started_ms is not None else row.ended_ms
    return when(ms) if ms is not None else row.delivered_at
