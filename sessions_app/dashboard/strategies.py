"""Sessions by what they did about a full context, beside the one published comparison."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Case, CharField, Count, Exists, F, OuterRef, Q, Sum, Value, When

from ecm_site.common import figures
from sessions_app.dashboard.compaction_sums import Median
from sessions_app.dashboard.filters import in_scope
from sessions_app.dashboard.scope import Scope
from sessions_app.models import Clearing, Session, Viewer

#: In the order of the table: (was compacted, was cleared).
NAMES = {
    (False, False): "nothing",
    (False, True): "clearing only",
    (True, False): "compaction only",
    (True, True): "both",
}
#: Sessions whose work another one went on with in a fresh context, whatever else they did.
HANDED_OFF = "handoff"


@dataclass(frozen=True, slots=True)
class StrategyLine:
    """One group of sessions; medians of the group, or one published example."""

    name: str
    sessions: int
    peak: int | None
    final: int | None
    calls: int | None
    events: str
    cost_usd: Decimal | None
    is_published: bool = False


#: Published figures of one provider example (peak input, final context, turns, events).
PUBLISHED = (
    StrategyLine("nothing", 1, 335_279, 335_279, 5, "0", None, True),
    StrategyLine("compaction only", 1, 169_164, 5_829, 7, "1 compaction", None, True),
    StrategyLine("clearing only", 1, 173_137, 173_137, 7, "4 clearings", None, True),
)


def strategies_of(user: Viewer, scope: Scope, now: datetime) -> tuple[StrategyLine, ...]:
    """Groups of sessions that made calls, then the published example: one query."""
    sessions = in_scope(Session.objects.for_user(user), scope, now).filter(calls__gt=0)
    clearing = Clearing.objects.filter(session=OuterRef("pk"))
    successor = Session.objects.filter(parent=OuterRef("pk"), is_handoff=True)
    groups = (
        sessions.annotate(
            was_handed_off=Exists(successor), was_compacted=Q(compactions__gt=0), was_cleared=Exists(clearing)
        )
        .annotate(strategy=_strategy())
        .values("strategy")
        .annotate(
            n=Count("pk"),
            peak=Median(F("peak_occupancy")),
            final=Median(F("last_occupancy")),
            turns=Median(F("calls")),
            events=Sum("compactions"),
            cost=Median(F("cost_usd")),
        )
        .order_by()
    )
    found = {row["strategy"]: row for row in groups}
    own = tuple(
        StrategyLine(
            name=name,
            sessions=found[name]["n"],
            peak=_whole(found[name]["peak"]),
            final=_whole(found[name]["final"]),
            calls=_whole(found[name]["turns"]),
            events=figures.plural(found[name]["events"], "compaction") if found[name]["events"] else "",
            cost_usd=None if found[name]["cost"] is None else Decimal(str(found[name]["cost"])),
        )
        for name in (*NAMES.values(), HANDED_OFF)
        if name in found
    )
    return own + PUBLISHED if own else ()


def _strategy() -> Case:
    """The name of what a session did."""
    cases = [
        When(was_compacted=compacted, was_cleared=cleared, then=Value(name))
        for (compacted, cleared), name in NAMES.items()
    ]
    return Case(When(was_handed_off=True, then=Value(HANDED_OFF)), *cases, output_field=CharField())


def _whole(middle: float | None) -> int | None:
    return None if middle is None else round(middle)
