"""From tokens to a zone by integers; lower boundaries belong to the zone above them (ECM rules, 2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from policy_app.kernel.conditions import Bound, InRange
from policy_app.kernel.errors import Duplicate, OutOfRange, WrongOrder
from policy_app.kernel.names import ModelPattern, id_of, twice
from policy_app.kernel.numbers import decimal_of, exact, plain, whole_of

LINE_NAMES = ("amber", "red", "critical")
MOST_WINDOW = 100_000_000


class Zone(StrEnum):
    """How full a context is by a table's lines; UNKNOWN never escalates."""

    GREEN = "GREEN"
    AMBER = "AMBER"
    RED = "RED"
    CRITICAL = "CRITICAL"
    UNKNOWN = "UNKNOWN"


class HitPolicy(StrEnum):
    """`first`: the earliest matching rule answers. `unique`: exactly one rule may match."""

    FIRST = "first"
    UNIQUE = "unique"


@dataclass(frozen=True, slots=True)
class Lines:
    """Where AMBER, RED and CRITICAL begin, as shares of the window: 0 < amber < red < critical <= 1."""

    amber: Decimal = Decimal("0.5")
    red: Decimal = Decimal("0.75")
    critical: Decimal = Decimal("0.9")

    def __post_init__(self) -> None:
        for name in LINE_NAMES:
            value = decimal_of(f"zones.{name}", getattr(self, name))
            if not 0 < value <= 1:
                raise OutOfRange(f"zones.{name}", plain(value), "must be above 0 and at most 1")
            object.__setattr__(self, name, value)
        if not self.amber < self.red:
            raise WrongOrder("zones.red", plain(self.red), f"must be above the AMBER line of {plain(self.amber)}")
        if not self.red < self.critical:
            raise WrongOrder("zones.critical", plain(self.critical), f"must be above the RED line of {plain(self.red)}")

    def zone_at(self, utilization: Fraction | None) -> Zone:
        """The zone of a share of the window, unclamped above 1; UNKNOWN for None."""
        if utilization is None:
            return Zone.UNKNOWN
        if utilization >= exact(self.critical):
            return Zone.CRITICAL
        if utilization >= exact(self.red):
            return Zone.RED
        return Zone.AMBER if utilization >= exact(self.amber) else Zone.GREEN

    def zone_of(self, tokens: int | None, window: int | None) -> Zone:
        """The zone of `tokens` in a window of `window` tokens; UNKNOWN where one is missing or the window is 0."""
        return self.zone_at(share_of(tokens, window))

    def span(self, zone: Zone) -> InRange:
        """The shares of the window that are in `zone` (not UNKNOWN, which has none)."""
        low = {Zone.AMBER: self.amber, Zone.RED: self.red, Zone.CRITICAL: self.critical}.get(zone)
        high = {Zone.GREEN: self.amber, Zone.AMBER: self.red, Zone.RED: self.critical}.get(zone)
        return InRange(
            "utilization",
            low=None if low is None else Bound(low),
            high=None if high is None else Bound(high, inclusive=False),
        )


def share_of(tokens: int | None, window: int | None) -> Fraction | None:
    """`tokens / window` exactly; None where one is missing or the window is 0."""
    return None if tokens is None or not window else Fraction(tokens, window)


@dataclass(frozen=True, slots=True)
class WorkingWindow:
    """The window that a policy works with for models of a pattern, in tokens."""

    pattern: ModelPattern
    tokens: int

    def __post_init__(self) -> None:
        whole_of("working_windows.tokens", self.tokens, low=1, high=MOST_WINDOW)


def working_window(windows: Sequence[WorkingWindow], model: str | None) -> int | None:
    """The tokens of the first entry that means `model`; None where none does or the model is not known."""
    if model is None:
        return None
    return next((window.tokens for window in windows if window.pattern.matches(model)), None)


@dataclass(frozen=True, slots=True)
class ZoneRow:
    """One row of a zone table: a range of `utilization`, and the zone in it."""

    id: str
    span: InRange
    zone: Zone

    def __post_init__(self) -> None:
        id_of("rules.id", self.id)


@dataclass(frozen=True, slots=True)
class ZoneTable:
    """Zones as free rows, the form in which other tools hold them; analysed for gaps and overlaps."""

    rows: tuple[ZoneRow, ...]
    hit_policy: HitPolicy = HitPolicy.UNIQUE

    def __post_init__(self) -> None:
        repeated = twice(row.id for row in self.rows)
        if repeated is not None:
            raise Duplicate("rules.id", repeated, "must be there once")

    def zone_at(self, utilization: Fraction) -> Zone:
        """The zone of the first row that holds the share; UNKNOWN where none does."""
        return next((row.zone for row in self.rows if row.span.matches(utilization)), Zone.UNKNOWN)

    @classmethod
    def of(cls, lines: Lines) -> "ZoneTable":
        """The four rows that three lines make."""
        zones = (Zone.GREEN, Zone.AMBER, Zone.RED, Zone.CRITICAL)
        return cls(tuple(ZoneRow(zone.value, lines.span(zone), zone) for zone in zones))
