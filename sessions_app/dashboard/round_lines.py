"""Content blocks that come new with a call: rounds near and over what a cache looks back, and what they cost."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Count, Q, Sum

from ecm_site.common import figures
from sessions_app.dashboard.filters import in_scope
from sessions_app.dashboard.scope import Scope
from sessions_app.kernel.causes import Part
from sessions_app.kernel.mechanisms import LOOKBACK_BLOCKS, WIDE_BLOCKS
from sessions_app.models import Call, Session, UsageDay, Viewer


@dataclass(frozen=True, slots=True)
class ToolChanges:
    """Changes of the tools within sessions, and what the calls after them sent again without another cause."""

    count: int
    at_boundary: int
    missed: int
    missed_tokens: int
    lost_usd: Decimal

    @property
    def mid_turn(self) -> int:
        """Those while the model was at work."""
        return self.count - self.at_boundary


@dataclass(frozen=True, slots=True)
class Rounds:
    """Rounds whose blocks are known; `lost_usd` was sent again, without a known cause, in those over the limit."""

    known: int
    wide: int
    over: int
    missed: int
    lost_usd: Decimal

    wide_blocks = WIDE_BLOCKS
    lookback = LOOKBACK_BLOCKS

    @property
    def wide_share(self) -> str:
        """Rounds near the limit or over it, of those known."""
        return figures.percent(self.wide, self.known)

    @property
    def over_share(self) -> str:
        """Rounds over the limit, of those known."""
        return figures.percent(self.over, self.known)

    @property
    def most_tools(self) -> int:
        """Tools at once that stay below: a use and a result each, and the text around them."""
        return (self.wide_blocks - 1) // 2


def rounds_of(user: Viewer, scope: Scope, now: datetime) -> Rounds | None:
    """All rounds of a scope: two queries. None where no record tells of blocks."""
    sessions = in_scope(Session.objects.for_user(user), scope, now).order_by()
    days = UsageDay.objects.filter(session__in=sessions)
    told = days.aggregate(known=Sum("rounds"), wide=Sum("wide_rounds"), over=Sum("over_rounds"))
    if not told["known"]:
        return None
    over = Call.objects.filter(session__in=sessions, evidence__blocks__gt=LOOKBACK_BLOCKS)
    unexplained = Q(miss_part=Part.UNEXPLAINED)
    lost = over.aggregate(n=Count("pk", filter=unexplained), usd=Sum("miss_cost_usd", filter=unexplained))
    return Rounds(told["known"], told["wide"], told["over"], lost["n"], lost["usd"] or Decimal())


def tool_changes_of(user: Viewer, scope: Scope, now: datetime) -> ToolChanges:
    """All changes of a scope: one query."""
    sessions = in_scope(Session.objects.for_user(user), scope, now).order_by()
    calls = Call.objects.filter(session__in=sessions, evidence__has_key="tools")
    unexplained = Q(miss_part=Part.UNEXPLAINED)
    told = calls.aggregate(
        n=Count("pk"),
        boundary=Count("pk", filter=Q(evidence__tools__2=1)),
        missed=Count("pk", filter=unexplained),
        tokens=Sum("missed_tokens", filter=unexplained),
        usd=Sum("miss_cost_usd", filter=unexplained),
    )
    return ToolChanges(told["n"], told["boundary"], told["missed"], told["tokens"] or 0, told["usd"] or Decimal())
