"""How what is shown is paid for: whether list prices need a remark, and how much of a subscription is used."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from sessions_app.kernel.readings import MeterReading, decode
from sessions_app.models import Billing, BillingMode, ReadingRow, Session, SourceRow

#: A share is told while its window may still be the same one.
FIVE_HOURS, SEVEN_DAYS = timedelta(hours=5), timedelta(days=7)
MIXED, UNKNOWN = "mixed", "unknown"


@dataclass(frozen=True, slots=True)
class Quota:
    """Permille of a subscription's limits that were used, as told at `at`."""

    at: datetime
    five_hour_permille: int | None
    seven_day_permille: int | None


@dataclass(frozen=True, slots=True)
class BillingNote:
    """`mode` is metered, subscription, mixed or unknown; `quota` the fullest that was told lately."""

    mode: str
    quota: Quota | None = None

    @property
    def is_metered(self) -> bool:
        """True when the list price is what is paid."""
        return self.mode == BillingMode.METERED


def billing_of_teams(team_ids: Iterable[int], now: datetime) -> BillingNote:
    """Over all hosts that report in these teams: one query."""
    stated = Billing.objects.filter(team=OuterRef("team"), host=OuterRef("host")).values("mode")
    rows = list(
        SourceRow.objects.filter(team__in=list(team_ids))
        .annotate(mode=Coalesce(Subquery(stated), Value(UNKNOWN)))
        .values_list("mode", "quota_at", "five_hour_permille", "seven_day_permille")
        .distinct()
    )
    quotas = [_fresh(Quota(at, five, seven), now) for _, at, five, seven in rows if at is not None]
    return BillingNote(_together({mode for mode, *_ in rows}), _fullest(quota for quota in quotas if quota))


def with_billing(rows: QuerySet[Session]) -> QuerySet[Session]:
    """Sessions with how they are paid, and the limits as their host last told them."""
    stated = Billing.objects.filter(team=OuterRef("team"), host=OuterRef("host")).values("mode")
    told = ReadingRow.objects.filter(session=OuterRef("pk"), kind="meter", body__contains="_permille")
    last = told.order_by("-received_at", "-pk")
    return rows.annotate(
        billing_mode=Subquery(stated[:1]),
        quota_at=Subquery(last.values("received_at")[:1]),
        quota_body=Subquery(last.values("body")[:1]),
    )


def billed(session: Session) -> BillingNote:
    """Of a session `with_billing`."""
    at, body = getattr(session, "quota_at", None), getattr(session, "quota_body", None)
    return BillingNote(getattr(session, "billing_mode", None) or UNKNOWN, _quota(at, body) if at and body else None)


def _together(modes: set[str]) -> str:
    if len(modes) == 1:
        return next(iter(modes))
    return MIXED if modes - {UNKNOWN} else UNKNOWN


def _fresh(quota: Quota, now: datetime) -> Quota | None:
    """The shares whose window has not ended for certain."""
    age = now - quota.at
    five = quota.five_hour_permille if age < FIVE_HOURS else None
    seven = quota.seven_day_permille if age < SEVEN_DAYS else None
    return Quota(quota.at, five, seven) if (five, seven) != (None, None) else None


def _fullest(quotas: Iterable[Quota]) -> Quota | None:
    """Of several people's limits the one that ends the work first."""
    return max(quotas, key=lambda q: (max(q.five_hour_permille or 0, q.seven_day_permille or 0), q.at), default=None)


def _quota(at: datetime, body: str) -> Quota | None:
    reading = decode("meter", body)
    if isinstance(reading, MeterReading):
        return Quota(at, reading.five_hour_permille, reading.seven_day_permille)
    return None
