"""What a team's recorded sessions say in a few sentences. Exact sums; each figure can be looked up in the API."""

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, F, Q, QuerySet, Sum

from sessions_app.kernel.causes import Part
from sessions_app.models import Call, Compaction, Session


@dataclass(frozen=True, slots=True)
class Findings:
    """Sums over sessions; money in USD at list price, None where nothing is priced."""

    sessions: int
    calls: int
    days: int
    cost_usd: Decimal | None
    saved_usd: Decimal | None
    avoidable_usd: Decimal
    unexplained_usd: Decimal
    compactions: int
    compactions_larger: int
    compaction_calls_unseen: int
    unpriced_calls: int
    dearest: Call | None


def findings(sessions: QuerySet[Session]) -> Findings:
    """The findings over these sessions."""
    sums = sessions.aggregate(
        n=Count("pk"),
        calls=Sum("calls"),
        cost=Sum("cost_usd"),
        uncached=Sum("no_cache_cost_usd"),
        unpriced=Sum("unpriced_calls"),
        compactions=Sum("compactions"),
    )
    calls = Call.objects.filter(session__in=sessions)
    misses = calls.exclude(miss_cause="").aggregate(
        avoidable=Sum("miss_cost_usd", filter=Q(miss_part=Part.AVOIDABLE)),
        unexplained=Sum("miss_cost_usd", filter=Q(miss_part=Part.UNEXPLAINED)),
    )
    completed = Compaction.objects.filter(session__in=sessions, kind="compaction", state="completed")
    lost = calls.filter(miss_part__in=(Part.AVOIDABLE, Part.UNEXPLAINED), miss_cost_usd__isnull=False)
    return Findings(
        sessions=sums["n"],
        calls=sums["calls"] or 0,
        days=calls.datetimes("started_at", "day").count(),
        cost_usd=sums["cost"],
        saved_usd=sums["uncached"] - sums["cost"] if sums["cost"] is not None else None,
        avoidable_usd=misses["avoidable"] or Decimal(),
        unexplained_usd=misses["unexplained"] or Decimal(),
        compactions=sums["compactions"] or 0,
        compactions_larger=completed.filter(after_tokens__gt=F("before_tokens")).count(),
        compaction_calls_unseen=completed.filter(summary_call="").count(),
        unpriced_calls=sums["unpriced"] or 0,
        dearest=lost.select_related("session__project").order_by("-miss_cost_usd").first(),
    )
