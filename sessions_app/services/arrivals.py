"""What arrived lately by each way, with the number it brought: how a newly connected host is told to speak."""

from dataclasses import dataclass
from datetime import datetime

from sessions_app.kernel.readings import CallReading, MarkReading, MeterReading, Source, decode
from sessions_app.kernel.usage import leaves_of
from sessions_app.models import ReadingRow, Session

#: Sessions looked at: the ones that spoke last.
LATEST_SESSIONS = 5


@dataclass(frozen=True, slots=True)
class Arrival:
    """One way in: when it last spoke, of which session, and the tokens it told (None where it has none)."""

    way: str
    at: datetime
    session: str
    project: str
    what: str
    tokens: int | None


WAYS = {
    Source.HOOK: "hook",
    Source.STATUSLINE: "status line",
    Source.OTLP_LOG: "telemetry",
    Source.OTLP_SPAN: "traces",
    Source.TRANSCRIPT: "transcript",
}


def arrivals(*, team_id: int, since: datetime) -> list[Arrival]:
    """The newest arrival of each way after `since`."""
    sessions = Session.objects.filter(team=team_id, received_at__gte=since).select_related("project")
    latest = {s.pk: s for s in sessions.order_by("-received_at")[:LATEST_SESSIONS]}
    rows = ReadingRow.objects.filter(session__in=latest, received_at__gte=since, kind__in=("call", "mark", "meter"))
    newest: dict[str, Arrival] = {}
    for row in rows.order_by("received_at", "pk"):
        way = WAYS.get(Source(row.source))
        what, tokens = _told(row)
        # A gauge before the first call and telemetry of a prompt bring no number to compare yet.
        if way and (tokens or way == WAYS[Source.HOOK]):
            session = latest[row.session_id]
            project = session.project.name if session.project else ""
            newest[way] = Arrival(way, row.received_at, session.host_session_id, project, what, tokens)
    return [newest[way] for way in WAYS.values() if way in newest]


def _told(row: ReadingRow) -> tuple[str, int | None]:
    reading = decode(row.kind, row.body)
    if isinstance(reading, CallReading):
        return "call", leaves_of(reading).prompt
    if isinstance(reading, MeterReading):
        return "gauge", reading.occupancy
    return (str(reading.mark), None) if isinstance(reading, MarkReading) else ("", None)
