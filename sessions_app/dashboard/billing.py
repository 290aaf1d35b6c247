"""How what is shown is paid for: whether list prices need a remark, and how much of a subscription is used."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import OuterRef, Subquery, Value
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


def billing_of_session(session: Session) -> BillingNote:
    """Of one session, with the limits as its host last told them: two queries."""
    stated = Billing.objects.filter(team=session.team_id, host=session.host).first()
    return BillingNote(stated.mode if stated else UNKNOWN, _last_quota(session))


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


def _last_quota(session: Session) -> Quota | None:
    rows = ReadingRow.objects.filter(session=session, kind="meter", body__contains="_permille")
    for row in rows.order_by("-received_at", "-pk")[:1]:
        reading = decode(row.kind, row.body)
        if isinstance(reading, MeterReading):
            return Quota(row.received_at, reading.five_hour_permille, reading.seven_day_permille)
    return None
