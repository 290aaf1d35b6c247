"""Compactions of a period and of the one before, as the overview counts them; words as in compaction_sums.py."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db.models import Aggregate, Case, Count, DateTimeField, ExpressionWrapper, F, FloatField, Q, Value, When

from sessions_app.dashboard import compaction_sums as sums
from sessions_app.dashboard.scope import Scope
from sessions_app.models import Compaction, Viewer


@dataclass(frozen=True, slots=True)
class Compactions:
    """Counts; `middle` are the bounds of the middle half of how full (percent) the host's own ones found the window."""

    by_hand: int = 0
    by_host: int = 0
    trigger_unknown: int = 0
    middle: list[float] | None = None
    not_completed: int = 0
    #: Completed ones after which the context was larger, and ones with both figures known.
    grew: int = 0
    compared: int = 0
    #: Completed ones whose cost and gain are known; of them paid back, and not yet while their session goes on.
    known: int = 0
    paid_back: int = 0
    still_open: int = 0
    #: Of the others: saved more than their own call, which no record has, can have cost.
    surely_back: int = 0
    cleared: int = 0

    @property
    def completed(self) -> int:
        """All that replaced a context."""
        return self.by_hand + self.by_host + self.trigger_unknown

    @property
    def back(self) -> int:
        """Paid back, as far as can be known."""
        return self.paid_back + self.surely_back

    @property
    def not_paid_back(self) -> int:
        """Known, ended or compacted again, and in the red."""
        return self.known - self.paid_back - self.still_open

    @property
    def not_known(self) -> int:
        """Completed, but what they cost or gave back is in no record."""
        return self.completed - self.known - self.surely_back

    @property
    def middle_half(self) -> str:
        """How full the window was when the host compacted by itself, in whole percent."""
        if self.middle is None:
            return ""
        low, high = map(int, self.middle)
        return f"{low}%" if low == high else f"{low} to {high}%"


class _MiddleHalf(Aggregate):
    """Half of a group's values lie between these two."""

    function = "percentile_cont"
    template = "%(function)s(ARRAY[0.25, 0.75]) WITHIN GROUP (ORDER BY %(expressions)s)%(filter)s"
    output_field = ArrayField(FloatField())


def compactions_of(
    user: Viewer, scope: Scope, since: datetime | None, earlier: datetime | None, now: datetime
) -> tuple[Compactions, Compactions]:
    """(those of the period, those from `earlier` to its beginning): one query."""
    rows = Compaction.objects.for_user(user).filter(session__team_id__in=scope.team.ids)
    if since is not None:
        rows = rows.filter(at__gte=earlier or since)
    share = ExpressionWrapper(F("before_tokens") * 100.0 / F("session__window"), output_field=FloatField())
    host = sums.DONE & Q(trigger="auto", before_tokens__isnull=False, session__window__gt=0)
    is_now = Case(When(at__lt=Value(since, output_field=DateTimeField()), then=False), default=True)
    running = Q(session__ended_at__isnull=True, session__last_at__gte=now - sums.ENDED_AFTER)
    counted: dict[str, Any] = {
        "by_hand": Count("pk", filter=sums.DONE & Q(trigger="manual")),
        "by_host": Count("pk", filter=sums.DONE & Q(trigger="auto")),
        "trigger_unknown": Count("pk", filter=sums.DONE & ~Q(trigger__in=("manual", "auto"))),
        "middle": _MiddleHalf(share, filter=host),
        "not_completed": Count("pk", filter=Q(kind="compaction") & ~Q(state="completed")),
        "grew": Count("pk", filter=sums.GREW),
        "compared": Count("pk", filter=sums.DONE & Q(before_tokens__isnull=False, after_tokens__isnull=False)),
        "known": Count("pk", filter=sums.KNOWN),
        "paid_back": Count("pk", filter=sums.PAID_BACK),
        "still_open": Count("pk", filter=sums.IN_THE_RED & Q(depth=F("session__depth")) & running),
        "surely_back": Count("pk", filter=sums.SURELY_BACK),
        "cleared": Count("pk", filter=Q(kind="micro")),
    }
    found: dict[bool, Compactions] = {}
    for row in rows.annotate(is_now=is_now).values("is_now").annotate(**counted).order_by():
        sums_of_row: dict[str, Any] = dict(row)
        key = bool(sums_of_row.pop("is_now"))
        found[key] = Compactions(**sums_of_row)
    return found.get(True, Compactions()), found.get(False, Compactions())
