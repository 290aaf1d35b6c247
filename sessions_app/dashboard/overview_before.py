"""The period before, as long as the chosen one: what stands beside each sum of the overview."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import BooleanField, Case, DateTimeField, Sum, Value, When

from ecm_site.common import figures
from sessions_app.dashboard.ledger import Entry, Ledger, ledger
from sessions_app.dashboard.overview_compactions import Compactions
from sessions_app.dashboard.overview_sums import DayRow, totals_of
from sessions_app.dashboard.scope import Scope
from sessions_app.kernel.zones import Zone
from sessions_app.models import MissDay, Viewer


@dataclass(frozen=True, slots=True)
class Before:
    """Sums of the period before; `zones` in percent of the calls that have one."""

    words: str
    calls: int
    cost_usd: Decimal | None
    no_cache_cost_usd: Decimal | None
    saved_usd: Decimal | None
    ledger: Ledger | None
    zones: dict[str, str]
    compactions: Compactions


def earlier_than(since: datetime | None, scope: Scope) -> datetime | None:
    """Where the period before begins; None where the chosen one has no beginning."""
    return None if since is None or scope.period.days is None else since - timedelta(days=scope.period.days)


def entries_of(
    user: Viewer, scope: Scope, since: datetime | None, earlier: datetime | None
) -> tuple[list[Entry], list[Entry]]:
    """Misses and compactions’ own calls by cause, of the period and of the one before: one query."""
    days = MissDay.objects.for_user(user).filter(session__team_id__in=scope.team.ids)
    if since is not None:
        days = days.filter(slot_at__gte=earlier or since)
    is_now = Case(
        When(slot_at__lt=Value(since, output_field=DateTimeField()), then=False),
        default=True,
        output_field=BooleanField(),
    )
    rows = days.values("cause", "part", is_now=is_now).annotate(n=Sum("misses"), sent=Sum("tokens"))
    found: tuple[list[Entry], list[Entry]] = ([], [])
    for row in rows.annotate(usd=Sum("cost_usd")).order_by():
        entry = Entry(row["cause"], row["part"], row["n"], row["sent"], row["usd"])
        found[0 if row["is_now"] else 1].append(entry)
    return found


def before_of(
    rows: Iterable[DayRow], entries: Iterable[Entry], compactions: Compactions, since: datetime | None, scope: Scope
) -> Before | None:
    """The period before; None where nothing was recorded in it, which is not the same as zero."""
    rows = [row for row in rows if since is not None and row["day"] < since.date()]
    if not rows:
        return None
    totals = totals_of(rows, 0)
    days = scope.period.days or 0
    calls = {zone: sum(row[f"{zone.lower()}_sum"] for row in rows) for zone in Zone}
    whole = sum(calls.values())
    return Before(
        words="the day before" if days == 1 else f"the {days} days before",
        calls=totals.calls,
        cost_usd=totals.cost_usd,
        no_cache_cost_usd=totals.no_cache_cost_usd,
        saved_usd=totals.saved_usd,
        ledger=ledger(totals.cost_usd, totals.needed_usd, entries),
        zones={zone: figures.percent(n, whole) if n else "0%" for zone, n in calls.items()} if whole else {},
        compactions=compactions,
    )
