"""The sums behind the overview, one query each, whatever the size."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.urls import reverse

from ecm_site.common import figures
from sessions_app.dashboard import shapes, sparks, words
from sessions_app.dashboard.filters import active_since
from sessions_app.dashboard.ledger import Ledger
from sessions_app.dashboard.scope import Scope, link_suffix
from sessions_app.kernel.zones import Zone
from sessions_app.models import Session, UsageDay, Viewer

#: At most so many columns in the small chart; longer periods are drawn by groups of days.
MOST_COLUMNS = 92
MICRO = Decimal(1_000_000)

#: Sums of one day, as the database gives them.
type DayRow = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Day:
    """One day, or a few that share a column."""

    first: date
    last: date
    calls: int
    cost_usd: Decimal | None
    no_cache_cost_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class ZoneShare:
    """Calls of main threads that ended in one zone."""

    zone: str
    calls: int
    percent: str
    width: str
    href: str
    #: The same share in the period before; empty where nothing was recorded.
    before: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why sums are lower bounds: how many cases in how many sessions."""

    count: int
    sessions: int
    words: str


@dataclass(frozen=True, slots=True)
class State:
    """What is true of the team's sessions whatever the period."""

    sessions: int
    newest_at: datetime | None
    folded_at: datetime | None
    waiting: int
    parked: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums of the period; money in USD, None where nothing has a price."""

    sessions: int
    calls: int
    aux_calls: int
    cost_usd: Decimal | None
    no_cache_cost_usd: Decimal | None
    unpriced_calls: int
    needed_usd: Decimal | None = None

    @property
    def saved_usd(self) -> Decimal | None:
        """What caching saved against sending every prompt uncached."""
        if self.cost_usd is None or self.no_cache_cost_usd is None:
            return None
        return self.no_cache_cost_usd - self.cost_usd


def rows_of(usage: QuerySet[UsageDay], scope: Scope, now: datetime) -> list[DayRow]:
    """Sums by day (UTC) of the period and, before it, of one as long."""
    since = scope.period.since(now)
    if since is not None and scope.period.days is not None:
        usage = usage.filter(slot_at__gte=since - timedelta(days=scope.period.days))
    money = ("cost_usd", "no_cache_cost_usd", "needed_usd")
    sums = ("calls", "aux_calls", *money, "unpriced_calls", *(z.lower() for z in Zone))
    day = TruncDate("slot_at", tzinfo=UTC)
    by_day = usage.values(day=day).annotate(**{f"{name}_sum": Sum(name) for name in sums}).order_by("day")
    return [dict(row) for row in by_day]


def _money(rows: Iterable[Mapping[str, Any]], name: str) -> Decimal | None:
    known = [row[name] for row in rows if row[name] is not None]
    return sum(known, Decimal()) if known else None


def totals_of(rows: list[DayRow], sessions: int) -> Totals:
    """Sums of the period."""
    return Totals(
        sessions=sessions,
        calls=sum(row["calls_sum"] for row in rows),
        aux_calls=sum(row["aux_calls_sum"] for row in rows),
        cost_usd=_money(rows, "cost_usd_sum"),
        no_cache_cost_usd=_money(rows, "no_cache_cost_usd_sum"),
        unpriced_calls=sum(row["unpriced_calls_sum"] for row in rows),
        needed_usd=_money(rows, "needed_usd_sum"),
    )


def change_of(rows: list[DayRow], totals: Totals, since: datetime | None, scope: Scope) -> str:
    """Against the period before, where there was one."""
    before = None if since is None else _money([r for r in rows if r["day"] < since.date()], "cost_usd_sum")
    if not before or totals.cost_usd is None:
        return ""
    days = figures.plural(scope.period.days or 0, "day")
    share = int((totals.cost_usd - before) * 100 / before)
    if before * 3 < totals.cost_usd:
        return f"{figures.usd(before)} in the {days} before"
    if share == 0:
        return f"about as much as in the {days} before ({figures.usd(before)})"
    return f"{abs(share):,}% {'more' if share > 0 else 'less'} than in the {days} before ({figures.usd(before)})"


def days_of(rows: list[DayRow], first: date | None, today: date) -> tuple[Day, ...]:
    """Every day of the period, the empty ones too; neighbours share a column when there are many."""
    first = first or (rows[0]["day"] if rows else today)
    length = max((today - first).days + 1, 1)
    size = -(-length // MOST_COLUMNS)
    grouped: dict[int, list[DayRow]] = {}
    for row in rows:
        grouped.setdefault(min((row["day"] - first).days, length - 1) // size, []).append(row)
    return tuple(
        Day(
            first=first + timedelta(days=index * size),
            last=min(first + timedelta(days=index * size + size - 1), today),
            calls=sum(row["calls_sum"] + row["aux_calls_sum"] for row in grouped.get(index, ())),
            cost_usd=_money(grouped.get(index, ()), "cost_usd_sum"),
            no_cache_cost_usd=_money(grouped.get(index, ()), "no_cache_cost_usd_sum"),
        )
        for index in range(-(-length // size))
    )


def spark_of(days: Iterable[Day], today: date) -> sparks.Spark:
    """The days as columns."""
    return sparks.spark([sparks.SparkValue(_height(d), _day_title(d, today)) for d in days])


def _height(entry: Day) -> int | None:
    """Micro-dollars; a day with calls but without prices has no height that is known."""
    if entry.cost_usd is None:
        return None if entry.calls else 0
    return int(entry.cost_usd * MICRO)


def _day_title(entry: Day, today: date) -> str:
    name = figures.day(entry.first, today)
    if entry.last != entry.first:
        name += f" to {figures.day(entry.last, today)}"
    cost = "no calls" if not entry.calls else figures.usd(entry.cost_usd)
    return f"{name}: {cost}"


def zones_of(rows: list[DayRow], scope: Scope, before: Mapping[str, str]) -> tuple[ZoneShare, ...]:
    """How the calls of main threads are spread over the zones, each with the sessions that peaked there."""
    counts = {zone: sum(row[f"{zone.lower()}_sum"] for row in rows) for zone in Zone}
    whole = sum(counts.values())
    return tuple(
        ZoneShare(
            zone=zone,
            calls=calls,
            percent=figures.percent(calls, whole) if calls else "",
            width=shapes.percent(calls * 100 / whole) if whole else "0%",
            href=reverse("sessions") + link_suffix({**scope.query, "zone": zone}),
            before=before.get(zone, ""),
        )
        for zone, calls in counts.items()
    )


def strip_of(parts: Ledger | None) -> sparks.Strip:
    """The bill as parts of one strip."""
    if parts is None:
        return sparks.Strip()
    amounts = {
        "needed": parts.needed_usd,
        "expected": parts.expected.usd,
        "avoidable": parts.avoidable.usd,
        "unexplained": parts.not_explained.usd,
    }
    return sparks.strip([(name, int(usd * MICRO)) for name, usd in amounts.items()], height=18)


def state_of(user: Viewer, scope: Scope, now: datetime) -> tuple[State, tuple[Reason, ...]]:
    """What is true whatever the period, and why the period's sums are lower bounds.

    Few distinct lists of reasons stand for all sessions: they are counted in the database and added here.
    """
    mine = Session.objects.for_user(user).filter(team_id__in=scope.team.ids)
    rows = mine.values("lower_bound").annotate(
        inside=Count("pk", filter=active_since(scope.period.since(now))),
        sessions=Count("pk"),
        newest_at=Max("last_at"),
        folded_at=Max("folded_at"),
        waiting=Count("pk", filter=Q(revision__gt=F("folded_revision"), fold_error="")),
        parked=Count("pk", filter=~Q(fold_error="")),
    )
    found = list(rows.order_by())
    cases: dict[str, tuple[int, int]] = {}
    for row in (row for row in found if row["inside"]):
        for code, times in words.counted_reasons(row["lower_bound"]):
            count, among = cases.get(code, (0, 0))
            cases[code] = (count + times * row["inside"], among + row["inside"])
    state = State(
        sessions=sum(row["sessions"] for row in found),
        newest_at=max((row["newest_at"] for row in found if row["newest_at"]), default=None),
        folded_at=max((row["folded_at"] for row in found if row["folded_at"]), default=None),
        waiting=sum(row["waiting"] for row in found),
        parked=sum(row["parked"] for row in found),
    )
    return state, tuple(
        Reason(count, among, words.lower_bound(code, count)) for code, (count, among) in sorted(cases.items())
    )
