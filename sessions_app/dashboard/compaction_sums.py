"""What a period's compactions come to, as the database sums it. Worth: see kernel/worth.py."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import (
    Aggregate,
    Case,
    Count,
    DecimalField,
    ExpressionWrapper,
    F,
    FloatField,
    IntegerField,
    Q,
    QuerySet,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Least
from django.db.models.lookups import GreaterThanOrEqual

from sessions_app.dashboard.scope import Scope
from sessions_app.models import Compaction, Viewer

#: A session without a sign of life for so long is taken as ended, though its host did not say so.
ENDED_AFTER = timedelta(hours=24)
#: Two compactions with no more calls between them are thrash.
THRASH_CALLS = 5
#: So many compactions make a session a repeat offender.
OFTEN = 3
#: The lower ends of the columns of fullness, in percent of the window.
FULLNESS = (0, 50, 60, 70, 80, 90, 100)

_USD = DecimalField(max_digits=36, decimal_places=12)
DONE = Q(kind="compaction", state="completed")
GREW = DONE & Q(after_tokens__gt=F("before_tokens"))
#: Said by its columns: to subtract them for each count would take longer than all the rest.
KNOWN = DONE & Q(saved_usd__isnull=False, summary_usd__isnull=False, rewrite_usd__isnull=False)
PAID_BACK = KNOWN & Q(saved_usd__gte=F("summary_usd") + F("rewrite_usd"))
IN_THE_RED = KNOWN & Q(saved_usd__lt=F("summary_usd") + F("rewrite_usd"))
#: Back whatever its own call cost: more was saved than that can have come to.
SURELY_BACK = DONE & Q(summary_usd__isnull=True, saved_usd__gte=F("summary_most_usd") + F("rewrite_usd"))


@dataclass(frozen=True, slots=True)
class CompactionSums:
    """Counts and money of a period; money of those alone whose worth is known."""

    completed: int
    by_hand: int
    by_host: int
    failed: int
    unseen_end: int
    grew: int
    compared: int
    known: int
    paid_back: int
    surely_back: int
    still_open: int
    cost_usd: Decimal | None
    saved_usd: Decimal | None
    rewrite_usd: Decimal | None
    #: What later calls cost less after all of them, also those whose own cost is not known.
    lighter_usd: Decimal | None
    cold: int
    thrash: int

    @property
    def not_paid_back(self) -> int:
        """Known, ended or compacted again, and in the red."""
        return self.known - self.paid_back - self.still_open

    @property
    def net_usd(self) -> Decimal | None:
        """What they gave back less what they cost."""
        return None if self.cost_usd is None or self.saved_usd is None else self.saved_usd - self.cost_usd


@dataclass(frozen=True, slots=True)
class FullnessBin:
    """Compactions that found the context so full."""

    label: str
    by_hand: int
    by_host: int
    unknown: int

    @property
    def count(self) -> int:
        """All of them."""
        return self.by_hand + self.by_host + self.unknown


@dataclass(frozen=True, slots=True)
class DepthLine:
    """Compactions of one depth: how much of the context each kept, in the median."""

    depth: str
    count: int
    kept_permille: int | None
    compared: int
    rereads: int | None
    watched: int


def in_period(user: Viewer, scope: Scope, now: datetime) -> QuerySet[Compaction]:
    """Compactions of the chosen teams and time, each with its cost and net."""
    rows = Compaction.objects.for_user(user).filter(session__team_id__in=scope.team.ids)
    since = scope.period.since(now)
    if since is not None:
        rows = rows.filter(at__gte=since)
    return with_worth(rows)


def with_worth(rows: QuerySet[Compaction]) -> QuerySet[Compaction]:
    """Each with its cost and net, null where not all of it is known."""
    cost = ExpressionWrapper(F("summary_usd") + F("rewrite_usd"), output_field=_USD)
    return rows.annotate(
        cost_usd=cost,
        net_usd=ExpressionWrapper(F("saved_usd") - F("summary_usd") - F("rewrite_usd"), output_field=_USD),
    )


def sums_of(rows: QuerySet[Compaction], now: datetime) -> CompactionSums:
    """All counts in one query."""
    running = Q(session__ended_at__isnull=True, session__last_at__gte=now - ENDED_AFTER)
    found = rows.aggregate(
        completed=Count("pk", filter=DONE),
        by_hand=Count("pk", filter=DONE & Q(trigger="manual")),
        by_host=Count("pk", filter=DONE & Q(trigger="auto")),
        failed=Count("pk", filter=Q(kind="compaction", state="failed")),
        unseen_end=Count("pk", filter=Q(kind="compaction", state__in=("attempt", "summary_only"))),
        grew=Count("pk", filter=GREW),
        compared=Count("pk", filter=DONE & Q(before_tokens__isnull=False, after_tokens__isnull=False)),
        known=Count("pk", filter=KNOWN),
        paid_back=Count("pk", filter=PAID_BACK),
        surely_back=Count("pk", filter=SURELY_BACK),
        still_open=Count("pk", filter=IN_THE_RED & running & Q(depth=F("session__depth"))),
        cost=Sum("cost_usd", filter=KNOWN),
        saved=Sum("saved_usd", filter=KNOWN),
        lighter=Sum("saved_usd", filter=DONE),
        rewrite=Sum("rewrite_usd", filter=DONE),
        cold=Count("pk", filter=DONE & Q(is_warm=False)),
        thrash=Count("pk", filter=DONE & Q(later_calls__lte=THRASH_CALLS) & Q(depth__lt=F("session__depth"))),
    )
    cost, saved, rewrite, lighter = (found.pop(name) for name in ("cost", "saved", "rewrite", "lighter"))
    return CompactionSums(**found, cost_usd=cost, saved_usd=saved, rewrite_usd=rewrite, lighter_usd=lighter)


def fullness_of(rows: QuerySet[Compaction]) -> tuple[tuple[FullnessBin, ...], int]:
    """How full the context was, and how many could not be placed."""
    placed = rows.filter(DONE, before_tokens__isnull=False, session__window__gt=0)
    full = F("before_tokens") * 100
    # By multiplying and not by dividing, so that a context at the edge falls where it belongs.
    edges = reversed(list(enumerate(FULLNESS))[1:])
    level = Case(
        *(When(GreaterThanOrEqual(full, F("session__window") * low), then=index) for index, low in edges),
        default=0,
        output_field=IntegerField(),
    )
    found: dict[tuple[int, str], int] = defaultdict(int)
    for index, trigger, n in placed.values_list(level, "trigger").annotate(n=Count("pk")).order_by():
        found[(index, trigger if trigger in ("manual", "auto") else "")] += n
    bins = tuple(
        FullnessBin(_label(index), found[(index, "manual")], found[(index, "auto")], found[(index, "")])
        for index in range(len(FULLNESS))
    )
    return bins, sum(one.count for one in bins)


class Median(Aggregate):
    """The middle of a group's values."""

    function = "percentile_cont"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)%(filter)s"
    output_field = FloatField()


def depths_of(rows: QuerySet[Compaction]) -> tuple[DepthLine, ...]:
    """How much of the context the first, the second and the later compactions of a thread left."""
    kept = F("after_tokens") * 1000.0 / F("before_tokens")
    groups = (
        rows.filter(DONE, depth__gte=1)
        .annotate(level=Least(F("depth"), Value(3)))
        .values("level")
        .annotate(
            n=Count("pk"),
            compared=Count("pk", filter=Q(before_tokens__gt=0, after_tokens__isnull=False)),
            again=Sum("rereads"),
            watched=Count("rereads"),
            kept=Median(kept, filter=Q(before_tokens__gt=0, after_tokens__isnull=False)),
        )
        .order_by("level")
    )
    names = {1: "first", 2: "second", 3: "third and later"}
    return tuple(
        DepthLine(
            depth=names[row["level"]],
            count=row["n"],
            kept_permille=None if row["kept"] is None else round(row["kept"]),
            compared=row["compared"],
            rereads=row["again"],
            watched=row["watched"],
        )
        for row in groups
    )


def _label(index: int) -> str:
    low = FULLNESS[index]
    if index + 1 == len(FULLNESS):
        return "over 100%"
    return f"{low} to {FULLNESS[index + 1]}%" if low else f"under {FULLNESS[1]}%"
