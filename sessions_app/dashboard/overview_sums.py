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
from sessions_app.dashboard.filters import in_scope
from sessions_app.dashboard.ledger import Entry, Ledger
from sessions_app.dashboard.scope import Scope, link_suffix
from sessions_app.kernel.zones import Zone
from sessions_app.models import Compaction, MissSlot, Session, UsageSlot, Viewer

MOST_DEAREST = 5
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


@dataclass(frozen=True, slots=True)
class Dearest:
    """One of the sessions that cost most in the period."""

    session: Session
    cost_usd: Decimal
    calls: int
    percent: str
    width: str


@dataclass(frozen=True, slots=True)
class Compactions:
    """Compactions of the period by how they came and ended."""

    by_hand: int
    by_host: int
    trigger_unknown: int
    not_completed: int
    #: Completed ones after which the context was larger, and ones with both figures known.
    grew: int
    compared: int
    cleared: int

    @property
    def completed(self) -> int:
        """All that replaced a context."""
        return self.by_hand + self.by_host + self.trigger_unknown


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


def rows_of(slots: QuerySet[UsageSlot], scope: Scope, now: datetime) -> list[DayRow]:
    """Sums by day (UTC) of the period and, before it, of one as long."""
    since = scope.period.since(now)
    if since is not None and scope.period.days is not None:
        slots = slots.filter(slot_at__gte=since - timedelta(days=scope.period.days))
    money = ("cost_usd", "no_cache_cost_usd", "needed_usd")
    sums = ("calls", "aux_calls", *money, "unpriced_calls", *(z.lower() for z in Zone))
    day = TruncDate("slot_at", tzinfo=UTC)
    by_day = slots.values(day=day).annotate(**{f"{name}_sum": Sum(name) for name in sums}).order_by("day")
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


def zones_of(rows: list[DayRow], scope: Scope) -> tuple[ZoneShare, ...]:
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
        )
        for zone, calls in counts.items()
    )


def dearest_of(slots: QuerySet[UsageSlot], whole: Decimal | None) -> tuple[Dearest, ...]:
    """The sessions that cost most in the period, the dearest first."""
    sums = slots.values("session_id").annotate(cost=Sum("cost_usd"), n=Sum("calls") + Sum("aux_calls"))
    rows = list(sums.filter(cost__isnull=False).order_by("-cost", "session_id")[:MOST_DEAREST])
    sessions = Session.objects.select_related("project").in_bulk([row["session_id"] for row in rows])
    largest = rows[0]["cost"] if rows else None
    return tuple(
        Dearest(
            session=sessions[row["session_id"]],
            cost_usd=row["cost"],
            calls=row["n"],
            percent=figures.percent_whole(int(row["cost"] * MICRO), int(whole * MICRO) if whole else None),
            width=shapes.percent(float(row["cost"] / largest * 100)) if largest else "0%",
        )
        for row in rows
        if row["session_id"] in sessions
    )


def entries_of(user: Viewer, scope: Scope, since: datetime | None) -> list[Entry]:
    """Misses and compactions’ own calls of the period by cause."""
    slots = MissSlot.objects.for_user(user).filter(session__team_id__in=scope.team.ids)
    if since is not None:
        slots = slots.filter(slot_at__gte=since)
    rows = slots.values("cause", "part").annotate(n=Sum("misses"), sent=Sum("tokens"), usd=Sum("cost_usd"))
    return [Entry(r["cause"], r["part"], r["n"], r["sent"], r["usd"]) for r in rows.order_by()]


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


def compactions_of(user: Viewer, scope: Scope, since: datetime | None) -> Compactions:
    """Compactions of the period."""
    rows = Compaction.objects.for_user(user).filter(session__team_id__in=scope.team.ids)
    if since is not None:
        rows = rows.filter(at__gte=since)
    done = Q(kind="compaction", state="completed")
    known = done & Q(before_tokens__isnull=False, after_tokens__isnull=False)
    return Compactions(
        **rows.aggregate(
            by_hand=Count("pk", filter=done & Q(trigger="manual")),
            by_host=Count("pk", filter=done & Q(trigger="auto")),
            trigger_unknown=Count("pk", filter=done & ~Q(trigger__in=("manual", "auto"))),
            not_completed=Count("pk", filter=Q(kind="compaction") & ~Q(state="completed")),
            grew=Count("pk", filter=known & Q(after_tokens__gt=F("before_tokens"))),
            compared=Count("pk", filter=known),
            cleared=Count("pk", filter=Q(kind="micro")),
        )
    )


def reasons_of(user: Viewer, scope: Scope, now: datetime) -> tuple[Reason, ...]:
    """Few distinct lists stand for all sessions: they are counted in the database and added here."""
    sessions = in_scope(Session.objects.for_user(user), scope, now).exclude(lower_bound=[])
    cases: dict[str, tuple[int, int]] = {}
    for row in sessions.values("lower_bound").annotate(n=Count("pk")).order_by():
        for code, times in words.counted_reasons(row["lower_bound"]):
            count, among = cases.get(code, (0, 0))
            cases[code] = (count + times * row["n"], among + row["n"])
    return tuple(Reason(count, among, words.lower_bound(code, count)) for code, (count, among) in sorted(cases.items()))


def state_of(user: Viewer, scope: Scope) -> State:
    """Numbers that do not depend on the period."""
    return State(
        **Session.objects.for_user(user)
        .filter(team_id__in=scope.team.ids)
        .aggregate(
            sessions=Count("pk"),
            newest_at=Max("last_at"),
            folded_at=Max("folded_at"),
            waiting=Count("pk", filter=Q(revision__gt=F("folded_revision"), fold_error="")),
            parked=Count("pk", filter=~Q(fold_error="")),
        )
    )
