"""The engineer's own page: the sessions of one's own keys, and what is told of persons to others."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import QuerySet, Sum

from sessions_app.dashboard.filters import active_since
from sessions_app.dashboard.prices_page import administered
from sessions_app.dashboard.scope import Scope
from sessions_app.dashboard.sentences import Sentence, count, money, say
from sessions_app.dashboard.session_list import SessionLine, line_of
from sessions_app.models import Membership, Organisation, Session, UsageDay
from sessions_app.services import own_keys, persons

MOST_LINES = 50


@dataclass(frozen=True, slots=True)
class MePage:
    """All that the template shows."""

    now: datetime
    finding: Sentence
    lines: tuple[SessionLine, ...]
    total: int
    has_key: bool
    organisation: Organisation | None
    may_set: bool
    floor: int = persons.FLOOR


def me_page(user: User, scope: Scope, now: datetime) -> MePage:
    """One's own sessions of the chosen teams and period."""
    since = scope.period.since(now)
    mine = persons.own_sessions(user).filter(team_id__in=scope.team.ids)
    rows = mine.filter(active_since(since))
    total = rows.count()
    newest = rows.latest_first().select_related("project", "team")[:MOST_LINES] if total else ()
    member = Membership.objects.filter(user=user).select_related("organisation").order_by("organisation").first()
    administers = administered(user)
    return MePage(
        now=now,
        finding=_finding(mine, total, scope, since) if total else say("No session of yours was seen."),
        lines=tuple(line_of(session) for session in newest),
        total=total,
        has_key=own_keys.keys_of(user).filter(revoked_at=None).exists(),
        organisation=administers or (member.organisation if member else None),
        may_set=administers is not None,
    )


def _finding(mine: QuerySet[Session], total: int, scope: Scope, since: datetime | None) -> Sentence:
    days = UsageDay.objects.filter(session__in=mine.values("pk"))
    if since is not None:
        days = days.filter(slot_at__gte=since)
    sums = days.aggregate(cost=Sum("cost_usd"), avoidable=Sum("avoidable_usd"))
    sessions = count(total, "session", href="#sessions")
    if sums["cost"] is None:
        return say(sessions, " of yours, without a known price.")
    lost = say("; ", money(sums["avoidable"]), " of it could have been avoided") if sums["avoidable"] else ()
    return (*say(sessions, " of yours cost ", money(sums["cost"])), *lost, *say("."))
