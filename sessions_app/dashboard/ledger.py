"""The bill in four parts: needed + expected rebuild + avoidable + not explained. Pure.

Needed is what a cache without any loss would have cost. A part that no call belongs to is zero; a bill
without any price is None.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from ecm_site.common import figures
from sessions_app.kernel.misses import Cause
from sessions_app.kernel.readings import Purpose

ZERO = Decimal()
MICRO = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Entry:
    """Calls of one purpose and one cause of miss: how many, their cost, the extra cost of the misses."""

    purpose: str
    cause: str
    calls: int
    cost_usd: Decimal | None
    miss_cost_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class Part:
    """One cause within the ledger: extra dollars and the number of calls behind them."""

    usd: Decimal = ZERO
    calls: int = 0

    def __add__(self, other: "Part") -> "Part":
        return Part(self.usd + other.usd, self.calls + other.calls)


@dataclass(frozen=True, slots=True)
class Shares:
    """Percentages of the bill, as text."""

    needed: str
    expected: str
    avoidable: str
    not_explained: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """The bill and what it went for, in USD at list price."""

    billed_usd: Decimal
    summaries: Part = Part()
    rebuilds: Part = Part()
    model_switches: Part = Part()
    pauses: Part = Part()
    not_explained: Part = Part()

    @property
    def expected(self) -> Part:
        """Compactions' own calls, writing the prefix again after them, and after a change of model."""
        return self.summaries + self.rebuilds + self.model_switches

    @property
    def avoidable(self) -> Part:
        """Losses whose cause is proved and could have been avoided: pauses beyond the cache's life."""
        return self.pauses

    @property
    def expected_is_bound(self) -> bool:
        """True when writing after compactions was seen without the compactions' own calls: those are not zero."""
        return self.rebuilds.calls > self.summaries.calls

    @property
    def shares(self) -> "Shares":
        """Each part of the bill in percent."""
        return Shares(*(_percent(usd, self.billed_usd) for usd in self.parts))

    @property
    def parts(self) -> tuple[Decimal, Decimal, Decimal, Decimal]:
        """Needed, expected, avoidable, not explained."""
        return (self.needed_usd, self.expected.usd, self.avoidable.usd, self.not_explained.usd)

    @property
    def needed_usd(self) -> Decimal:
        """What is left of the bill."""
        return self.billed_usd - self.expected.usd - self.avoidable.usd - self.not_explained.usd


def _percent(part: Decimal, whole: Decimal) -> str:
    return figures.percent(int(part * MICRO), int(whole * MICRO)) if part else ""


def ledger(billed_usd: Decimal | None, entries: Iterable[Entry]) -> Ledger | None:
    """Divide a bill; `entries` need to hold only compactions' own calls and calls with a miss."""
    if billed_usd is None:
        return None
    found: dict[str, Part] = {}
    for entry in entries:
        if entry.purpose == Purpose.COMPACTION:
            name, usd = "summary", entry.cost_usd
        else:
            name, usd = entry.cause, entry.miss_cost_usd
        found[name] = found.get(name, Part()) + Part(usd or ZERO, entry.calls)
    return Ledger(
        billed_usd,
        summaries=found.get("summary", Part()),
        rebuilds=found.get(Cause.COMPACTION, Part()),
        model_switches=found.get(Cause.MODEL_SWITCH, Part()),
        pauses=found.get(Cause.PAUSE, Part()),
        not_explained=found.get(Cause.UNEXPLAINED, Part()),
    )
