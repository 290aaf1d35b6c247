"""Tool results by tool and what subagents kept out of their parents."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.urls import reverse

from sessions_app.dashboard.filters import in_scope
from sessions_app.dashboard.names import name_of
from sessions_app.dashboard.scope import Scope
from sessions_app.kernel.points import BYTES_PER_TOKEN
from sessions_app.models import Session, Thread, ToolUse, Viewer

MOST_TOOLS, MOST_KINDS, MOST_RETURNS = 20, 12, 10
#: What a subagent should return at most: above it the parent pays for what it was to be spared.
LARGE_RETURN = 2_000


@dataclass(frozen=True, slots=True)
class ToolLine:
    """One tool in all sessions of the scope; tokens are estimated from bytes."""

    name: str
    uses: int
    failed: int
    sessions: int
    tokens: int
    largest_tokens: int
    percent_width: str


@dataclass(frozen=True, slots=True)
class AgentLine:
    """One kind of subagent: the contexts that it filled, what it told, what stayed out of the parent."""

    kind: str
    runs: int
    explored: int
    returned: int
    large: int

    @property
    def kept_out(self) -> int:
        """Tokens that the parent did not have to carry."""
        return max(0, self.explored - self.returned)


@dataclass(frozen=True, slots=True)
class LargeReturn:
    """A subagent that told its parent a lot."""

    name: str
    kind: str
    tokens: int
    href: str


def tool_lines(user: Viewer, scope: Scope, now: datetime) -> tuple[ToolLine, ...]:
    """The tools whose results were largest: one query."""
    sessions = in_scope(Session.objects.for_user(user), scope, now).order_by()
    rows = (
        ToolUse.objects.filter(session__in=sessions)
        .values("key")
        .annotate(
            n=Sum("uses"),
            bad=Sum("failed"),
            among=Count("session"),
            size=Sum("result_bytes"),
            largest=Max("largest_bytes"),
        )
        .order_by("-size", "key")[:MOST_TOOLS]
    )
    found = list(rows)
    most = max((row["size"] for row in found), default=0) or 1
    return tuple(
        ToolLine(
            name=row["key"] or "not named",
            uses=row["n"],
            failed=row["bad"],
            sessions=row["among"],
            tokens=row["size"] // BYTES_PER_TOKEN,
            largest_tokens=row["largest"] // BYTES_PER_TOKEN,
            percent_width=f"{row['size'] * 100 / most:.2f}%",
        )
        for row in found
    )


def agent_lines(user: Viewer, scope: Scope, now: datetime) -> tuple[AgentLine, ...]:
    """Kinds of subagents by what they explored: one query."""
    rows = (
        _agents(user, scope, now)
        .values("agent_type")
        .annotate(
            runs=Count("pk"),
            explored=Sum("peak_occupancy"),
            returned=Sum("returned_tokens"),
            large=Count("pk", filter=Q(returned_tokens__gt=LARGE_RETURN)),
        )
        .order_by("-explored")[:MOST_KINDS]
    )
    return tuple(
        AgentLine(
            row["agent_type"] or "not named", row["runs"], row["explored"] or 0, row["returned"] or 0, row["large"]
        )
        for row in rows
    )


def large_returns(user: Viewer, scope: Scope, now: datetime) -> tuple[LargeReturn, ...]:
    """The largest answers of subagents above the mark: one query."""
    rows = _agents(user, scope, now).filter(returned_tokens__gt=LARGE_RETURN).select_related("session__project")
    return tuple(
        LargeReturn(
            name_of(row.session),
            row.agent_type or "not named",
            row.returned_tokens or 0,
            reverse("session", args=[row.session_id]),
        )
        for row in rows.order_by(F("returned_tokens").desc(), "pk")[:MOST_RETURNS]
    )


def _agents(user: Viewer, scope: Scope, now: datetime) -> QuerySet[Thread]:
    sessions = in_scope(Session.objects.for_user(user), scope, now).order_by()
    return Thread.objects.filter(session__in=sessions, calls__gt=0).exclude(key="")
