"""The ledger of clearings: what left the context, what it cost at once, and what it has saved since."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from statistics import quantiles

from django.db.models import Count, F, Q, QuerySet, Sum
from django.urls import reverse

from sessions_app.dashboard.names import name_of
from sessions_app.dashboard.scope import Scope
from sessions_app.kernel.breakeven import least_worth_clearing, pays_back_in
from sessions_app.models import Call, Clearing, Viewer

KINDS = {
    "edit": "context editing",
    "micro": "the host, old tool results",
    "front": "the front was cut, call after call",
}
#: So many of the dearest are listed.
MOST_LINES = 25
#: Fewer sessions than this give no advice.
LEAST_SESSIONS = 5
#: The newest so many are looked at.
MOST_ADVISING = 1_000


@dataclass(frozen=True, slots=True)
class ClearingLine:
    """One clearing of the table."""

    clearing: Clearing
    name: str
    href: str
    kind: str
    net_usd: Decimal | None
    pays_back_in: int | None


@dataclass(frozen=True, slots=True)
class Advice:
    """`clear_at_least` from the team's own warm clearings: the middle, the middle half, and on what it rests."""

    tokens: int
    low: int
    high: int
    clearings: int
    sessions: int


@dataclass(frozen=True, slots=True)
class ClearingPart:
    """Sums and lines."""

    count: int
    sessions: int
    tokens: int
    cost_usd: Decimal | None
    saved_usd: Decimal | None
    cold: int
    lines: tuple[ClearingLine, ...]
    advice: Advice | None = None

    @property
    def least(self) -> int:
        """How many sessions advice takes."""
        return LEAST_SESSIONS


def clearing_part(user: Viewer, scope: Scope, now: datetime) -> ClearingPart:
    """Clearings of a scope: two queries, three where there are any."""
    rows = Clearing.objects.for_user(user).filter(session__team_id__in=scope.team.ids)
    since = scope.period.since(now)
    if since is not None:
        rows = rows.filter(at__gte=since)
    found = rows.aggregate(
        count=Count("pk"),
        sessions=Count("session", distinct=True),
        tokens=Sum("cleared_tokens"),
        cost_usd=Sum("cost_usd"),
        saved_usd=Sum("saved_usd"),
        cold=Count("pk", filter=Q(is_warm=False)),
    )
    found["tokens"] = found["tokens"] or 0
    if not found["count"]:
        return ClearingPart(**found, lines=())
    top = rows.select_related("session__project").order_by(F("cost_usd").desc(nulls_last=True), "-at")
    listed = list(top[:MOST_LINES])
    calls = Call.objects.filter(session__in={one.session_id for one in listed}, key__in={one.call for one in listed})
    numbers = {(session, key): number for session, key, number in calls.values_list("session", "key", "number")}
    return ClearingPart(**found, lines=tuple(_line(one, numbers) for one in listed), advice=_advice(rows))


def _advice(rows: QuerySet[Clearing]) -> Advice | None:
    """From warm clearings that calls followed; None below the floor of sessions."""
    warm = rows.filter(is_warm=True, cost_usd__isnull=False, per_call_usd__gt=0, later_calls__gt=0)
    found: list[tuple[int, int]] = []
    for one in warm.order_by("-at")[:MOST_ADVISING]:
        if one.cost_usd is not None and one.per_call_usd is not None:
            least = least_worth_clearing(one.cleared_tokens, one.cost_usd, one.per_call_usd, one.later_calls + 1)
            if least is not None:
                found.append((least, one.session_id))
    sessions = len({session for _, session in found})
    if sessions < LEAST_SESSIONS:
        return None
    low, middle, high = quantiles((least for least, _ in found), n=4)
    return Advice(round(middle), round(low), round(high), len(found), sessions)


def _line(one: Clearing, numbers: dict[tuple[int, str], int]) -> ClearingLine:
    number = numbers.get((one.session_id, one.call))
    known = one.cost_usd is not None and one.saved_usd is not None
    return ClearingLine(
        clearing=one,
        name=name_of(one.session),
        href=reverse("session", args=[one.session_id]) + (f"#c{number}" if number else ""),
        kind=KINDS.get(one.kind, one.kind),
        net_usd=(one.saved_usd or Decimal()) - (one.cost_usd or Decimal()) if known else None,
        pays_back_in=pays_back_in(one.cost_usd, one.per_call_usd),
    )
