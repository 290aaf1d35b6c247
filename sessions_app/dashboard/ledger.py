"""The bill in four parts: needed + expected rebuild + avoidable + not explained. Pure.

Each part is a sum of its own; what is left between them and the bill is told, and is zero. A part that no
call belongs to is zero; a bill without any price is None.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from ecm_site.common import figures
from sessions_app.kernel.causes import Cause, Part

ZERO = Decimal()
MICRO = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Entry:
    """Misses of one cause: how many, their tokens, and what they cost more (None: no price)."""

    cause: str
    part: str
    calls: int
    tokens: int
    usd: Decimal | None


@dataclass(frozen=True, slots=True)
class Amount:
    """Extra dollars, and the number of calls and tokens behind them."""

    usd: Decimal = ZERO
    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Shares:
    """Percentages of the bill, as text."""

    needed: str
    expected: str
    avoidable: str
    not_explained: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """The bill and what it went for, in USD at list price; `entries` by cause, the dearest first."""

    billed_usd: Decimal
    needed_usd: Decimal
    entries: tuple[Entry, ...] = ()

    @property
    def expected(self) -> Amount:
        """Compactions' own calls, and prefixes that somebody wanted new."""
        return self._amount(part=Part.EXPECTED)

    @property
    def avoidable(self) -> Amount:
        """Losses whose cause is known and could have been avoided."""
        return self._amount(part=Part.AVOIDABLE)

    @property
    def not_explained(self) -> Amount:
        """Losses for which there is no evidence of a cause."""
        return self._amount(part=Part.UNEXPLAINED)

    @property
    def summaries(self) -> Amount:
        """Compactions' own calls."""
        return self._amount(cause=Cause.SUMMARY)

    @property
    def rebuilds(self) -> Amount:
        """Writing the prefix again after compactions."""
        return self._amount(cause=Cause.COMPACTION)

    def of(self, part: str) -> tuple[Entry, ...]:
        """The causes of one part, the dearest first."""
        return tuple(entry for entry in self.entries if entry.part == part)

    @property
    def expected_causes(self) -> tuple[Entry, ...]:
        """What was rebuilt beside compactions."""
        return tuple(e for e in self.of(Part.EXPECTED) if e.cause not in (Cause.SUMMARY, Cause.COMPACTION))

    @property
    def avoidable_causes(self) -> tuple[Entry, ...]:
        """Why it could have been avoided."""
        return self.of(Part.AVOIDABLE)

    @property
    def expected_is_bound(self) -> bool:
        """True when writing after compactions was seen without the compactions' own calls: those are not zero."""
        return self.rebuilds.calls > self.summaries.calls

    @property
    def parts(self) -> tuple[Decimal, Decimal, Decimal, Decimal]:
        """Needed, expected, avoidable, not explained."""
        return (self.needed_usd, self.expected.usd, self.avoidable.usd, self.not_explained.usd)

    @property
    def residual_usd(self) -> Decimal:
        """The bill less its parts: zero, unless calls wait to be worked out."""
        return self.billed_usd - sum(self.parts, ZERO)

    @property
    def shares(self) -> Shares:
        """Each part of the bill in percent."""
        return Shares(*(_percent(usd, self.billed_usd) for usd in self.parts))

    def _amount(self, *, part: str = "", cause: str = "") -> Amount:
        chosen = [e for e in self.entries if (not part or e.part == part) and (not cause or e.cause == cause)]
        return Amount(
            sum((e.usd for e in chosen if e.usd is not None), ZERO),
            sum(e.calls for e in chosen),
            sum(e.tokens for e in chosen),
        )


def _percent(part: Decimal, whole: Decimal) -> str:
    return figures.percent(int(part * MICRO), int(whole * MICRO)) if part else ""


def ledger(billed_usd: Decimal | None, needed_usd: Decimal | None, entries: Iterable[Entry]) -> Ledger | None:
    """The ledger of a bill; None where nothing is priced. Entries of one cause are added up."""
    if billed_usd is None:
        return None
    found: dict[str, Entry] = {}
    for entry in entries:
        held = found.get(entry.cause)
        found[entry.cause] = _plus(held, entry) if held else entry
    dearest = sorted(found.values(), key=lambda e: (-(e.usd or ZERO), e.cause))
    return Ledger(billed_usd, ZERO if needed_usd is None else needed_usd, tuple(dearest))


def _plus(a: Entry, b: Entry) -> Entry:
    usd = b.usd if a.usd is None else a.usd if b.usd is None else a.usd + b.usd
    return Entry(a.cause, a.part, a.calls + b.calls, a.tokens + b.tokens, usd)
