"""The sessions that cost most in a period, and how many there are."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.db import connection

from ecm_site.common import figures
from sessions_app.dashboard import shapes
from sessions_app.dashboard.names import session_name
from sessions_app.dashboard.scope import Scope

MOST_DEAREST = 5
MICRO = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Dearest:
    """One of the sessions that cost most in the period."""

    session_id: int
    name: str
    zone: str
    last_at: datetime | None
    cost_usd: Decimal
    calls: int
    percent: str
    width: str


#: A session that began in the period has its sums in its own row; of the few that reach over its beginning the slots
#: are added up. The names are looked up for the few lines alone; the window counts the sessions before they are cut.
_DEAREST = """
WITH spent AS (
    SELECT id AS session_id, cost_usd AS cost, calls + aux_calls AS calls FROM sessions_app_session
    WHERE team_id = ANY(%(teams)s) AND first_at >= %(since)s
      AND (calls > 0 OR aux_calls > 0 OR cost_usd IS NOT NULL)
    UNION ALL
    SELECT u.session_id, sum(u.cost_usd), sum(u.calls + u.aux_calls)
    FROM sessions_app_session o JOIN sessions_app_usageday u ON u.session_id = o.id
    WHERE o.team_id = ANY(%(teams)s) AND o.last_at >= %(since)s AND o.first_at < %(since)s AND u.slot_at >= %(since)s
    GROUP BY u.session_id
)
SELECT top.session_id, p.name, s.branch, s.peak_zone, s.last_at, top.cost, top.calls, top.sessions
FROM (
    SELECT *, count(*) OVER () AS sessions FROM spent ORDER BY cost DESC NULLS LAST, session_id LIMIT %(most)s
) top
JOIN sessions_app_session s ON s.id = top.session_id
LEFT JOIN sessions_app_project p ON p.id = s.project_id
ORDER BY top.cost DESC NULLS LAST, top.session_id
"""
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)


def dearest_of(scope: Scope, since: datetime | None, whole: Decimal | None) -> tuple[tuple[Dearest, ...], int]:
    """(the sessions that cost most in the period, the dearest first; how many sessions there are): one query."""
    with connection.cursor() as cursor:
        given: dict[str, Any] = {"teams": list(scope.team.ids), "since": since or BEGINNING, "most": MOST_DEAREST}
        cursor.execute(_DEAREST, given)
        rows = cursor.fetchall()
    largest = rows[0][5] if rows else None
    found = tuple(
        Dearest(
            session_id=pk,
            name=session_name(project, branch),
            zone=zone,
            last_at=last_at,
            cost_usd=cost,
            calls=calls,
            percent=figures.percent_whole(int(cost * MICRO), int(whole * MICRO) if whole else None),
            width=shapes.percent(float(cost / largest * 100)) if largest else "0%",
        )
        for pk, project, branch, zone, last_at, cost, calls, _ in rows
        if cost is not None
    )
    return found, rows[0][7] if rows else 0
