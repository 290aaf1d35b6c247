"""The sessions that cost most in a period, and how many there are."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, OuterRef, QuerySet, Subquery, Sum, Window
from django.db.models.functions import JSONObject

from ecm_site.common import figures
from sessions_app.dashboard import shapes
from sessions_app.dashboard.names import session_name
from sessions_app.models import Session, UsageSlot

MOST_DEAREST = 5
MICRO = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Dearest:
    """One of the sessions that cost most in the period."""

    session_id: int
    name: str
    zone: str
    last_at: datetime | None
    cost_usd: Decimal
    calls: int
    percent: str
    width: str


def dearest_of(slots: QuerySet[UsageSlot], whole: Decimal | None) -> tuple[tuple[Dearest, ...], int]:
    """(the sessions that cost most in the period, the dearest first; how many sessions there are): one query."""
    of_session = Session.objects.filter(pk=OuterRef("session_id"))
    named = JSONObject(project="project__name", branch="branch", zone="peak_zone", last="last_at")
    rows = list(
        slots.values("session_id")
        .annotate(
            cost=Sum("cost_usd"),
            n=Sum("calls") + Sum("aux_calls"),
            sessions=Window(Count("*")),
            named=Subquery(of_session.values(named=named)),
        )
        .order_by(F("cost").desc(nulls_last=True), "session_id")[:MOST_DEAREST]
    )
    priced = [row for row in rows if row["cost"] is not None]
    largest = priced[0]["cost"] if priced else None
    found = tuple(_dearest(row, whole, largest) for row in priced)
    return found, rows[0]["sessions"] if rows else 0


def _dearest(row: Mapping[str, Any], whole: Decimal | None, largest: Decimal | None) -> Dearest:
    named = row["named"]
    return Dearest(
        session_id=row["session_id"],
        name=session_name(named["project"], named["branch"]),
        zone=named["zone"],
        last_at=datetime.fromisoformat(named["last"]) if named["last"] else None,
        cost_usd=row["cost"],
        calls=row["n"],
        percent=figures.percent_whole(int(row["cost"] * MICRO), int(whole * MICRO) if whole else None),
        width=shapes.percent(float(row["cost"] / largest * 100)) if largest else "0%",
    )
