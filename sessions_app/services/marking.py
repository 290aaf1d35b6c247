"""Markers: moments at which something changed, set by hand or noticed; and figures before and after them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import F, Min, Sum, Window
from django.db.models.functions import Lag

from ecm_site.common.problems import DomainError
from policy_app.models import Version
from sessions_app.kernel import times
from sessions_app.kernel.before_after import Comparison, compare
from sessions_app.models import InstructionFile, Marker, Project, Session, SourceRow, Team, UsageSlot

KINDS = ("note", "config", "host_version", "model", "policy")
#: So long before and after a marker is compared.
SPAN = timedelta(days=7)
MOST_TITLE = 200
_FILE = ("name", "at", "digest", "before")


@transaction.atomic
def mark(
    *, team: Team, at: datetime, kind: str, title: str, project: Project | None, by: str, now: datetime
) -> tuple[Marker, bool]:
    """Set a marker; the same one told again is one. Returns it and whether it is new."""
    title = title.strip()
    if kind not in KINDS:
        raise DomainError("bad_kind", f"kind is one of: {', '.join(KINDS)}.", pointer="/kind")
    if not title or len(title) > MOST_TITLE or "\0" in title:
        raise DomainError(
            "bad_title", f"title says what changed, in at most {MOST_TITLE} characters.", pointer="/title"
        )
    if at > now + timedelta(minutes=5) or not times.is_kept(at):
        raise DomainError("bad_at", "at is not in the future, and not before 1970.", pointer="/at")
    key = f"{kind}:{project.pk if project else ''}:{int(at.timestamp())}:{title}"[:MOST_TITLE]
    values = {"project": project, "at": at, "kind": kind, "title": title, "made_at": now, "made_by": by[:150]}
    return Marker.objects.get_or_create(team=team, key=key, defaults=values)


def notice(*, now: datetime) -> int:
    """Markers for what the records themselves show.

    New host versions, first uses of a model, published policies, instruction files that changed.
    """
    found = [*_versions(now), *_models(now), *_policies(now), *_instructions(now)]
    return len(Marker.objects.bulk_create(found, ignore_conflicts=True))


def noticed(*, session: Session, title: str, at: datetime) -> None:
    """A marker for a change of what surrounds sessions, as a hook told it; told by many at once it is one."""
    marker = _of_surroundings(session.team_id, session.project_id, title, at, at)
    Marker.objects.bulk_create([marker], ignore_conflicts=True)


def _of_surroundings(team_id: int, project_id: int | None, title: str, at: datetime, now: datetime) -> Marker:
    marker = _marker(team_id, at, "config", title, now)
    marker.project_id, marker.key = project_id, f"config:{at:%Y-%m-%dT%H}:{title}"[:MOST_TITLE]
    return marker


def _instructions(now: datetime) -> Iterable[Marker]:
    """Instruction files of a project that the same machine loaded otherwise the time before.

    Looked for afterwards: when the file is loaded, nobody knows yet which project the session is of.
    """
    rows = InstructionFile.objects.filter(kind="project", session__project__isnull=False, at__gte=now - SPAN)
    place = ("session__project_id", "name", "machine")
    told = rows.annotate(before=Window(Lag("digest"), partition_by=place, order_by=("at", "id")))
    for row in told.values("session__team_id", "session__project_id", "session__project__name", *_FILE).order_by("at"):
        if row["before"] not in (None, row["digest"]):
            title = f"{row['name']} of {row['session__project__name']} changed"
            yield _of_surroundings(row["session__team_id"], row["session__project_id"], title, row["at"], now)


def _versions(now: datetime) -> Iterable[Marker]:
    """The first sight of a version where an earlier one was seen before it."""
    rows = SourceRow.objects.exclude(version="").values("team_id", "host", "version")
    first: dict[tuple[int, str], datetime] = {}
    for row in rows.annotate(at=Min("first_received_at")).order_by("at", "version"):
        place = (row["team_id"], row["host"])
        if place in first:
            title = f"{row['host']} {row['version']} first seen"
            yield _marker(row["team_id"], row["at"], "host_version", title, now)
        first.setdefault(place, row["at"])


def _models(now: datetime) -> Iterable[Marker]:
    rows = UsageSlot.objects.exclude(model="").values("session__team_id", "model")
    seen: set[int] = set()
    for row in rows.annotate(at=Min("slot_at")).order_by("at", "model"):
        if row["session__team_id"] in seen:
            yield _marker(row["session__team_id"], row["at"], "model", f"{row['model'][:120]} first used", now)
        seen.add(row["session__team_id"])


def _policies(now: datetime) -> Iterable[Marker]:
    for version in Version.objects.select_related("policy").order_by("published_at"):
        for team in Team.objects.filter(organisation_id=version.policy.organisation_id):
            title = f"policy {version.policy.slug} v{version.number} published"
            yield _marker(team.pk, version.published_at, "policy", title, now)


def _marker(team_id: int, at: datetime, kind: str, title: str, now: datetime) -> Marker:
    return Marker(
        team_id=team_id, at=at, kind=kind, title=title[:MOST_TITLE], key=f"{kind}:{title}"[:MOST_TITLE], made_at=now
    )


def before_after(marker: Marker) -> Comparison:
    """The share of prompt tokens that was read from the cache, a week before and a week after."""
    return compare(_reads(marker, marker.at - SPAN, marker.at), _reads(marker, marker.at, marker.at + SPAN))


def _reads(marker: Marker, since: datetime, until: datetime) -> list[tuple[int, int]]:
    slots = UsageSlot.objects.filter(session__team=marker.team_id, slot_at__gte=since, slot_at__lt=until)
    if marker.project_id is not None:
        slots = slots.filter(session__project=marker.project_id)
    prompt = F("uncached_input") + F("cache_read") + F("cache_write_5m") + F("cache_write_1h")
    rows = slots.values("session_id").annotate(read=Sum("cache_read"), whole=Sum(prompt)).filter(whole__gt=0)
    return [(row["read"], row["whole"]) for row in rows.order_by()]


@dataclass(frozen=True, slots=True)
class Marked:
    """A marker as it is shown, compared a week before and after."""

    at: datetime
    title: str
    project: str
    comparison: Comparison


#: Of each marker its sessions: tokens read and tokens of the whole prompt, before and after. Whole days by their sums;
#: quarters where a week begins, at the marker itself, and where the other week ends.
_NEWEST = """
WITH m AS MATERIALIZED (
    SELECT id, team_id, project_id, at, title, at - %(span)s::interval AS since, at + %(span)s::interval AS until,
           date_trunc('day', at - %(span)s::interval + INTERVAL '1 day - 1 us', 'UTC') AS first,
           date_trunc('day', at, 'UTC') AS middle, date_trunc('day', at + %(span)s::interval, 'UTC') AS last
    FROM sessions_app_marker
    WHERE team_id = ANY(%(teams)s) AND (%(since)s::timestamptz IS NULL OR at >= %(since)s)
    ORDER BY at DESC, id DESC LIMIT %(limit)s
), slots AS MATERIALIZED (
    SELECT m.id, m.team_id, m.project_id, u.session_id, u.slot_at < m.at AS is_before,
           uncached_input, cache_read, cache_write_5m, cache_write_1h
    FROM m CROSS JOIN LATERAL (
        SELECT session_id, slot_at, uncached_input, cache_read, cache_write_5m, cache_write_1h
        FROM sessions_app_usageday WHERE slot_at >= m.first AND slot_at < m.last AND slot_at <> m.middle
        UNION ALL SELECT session_id, slot_at, uncached_input, cache_read, cache_write_5m, cache_write_1h
        FROM sessions_app_usageslot WHERE slot_at >= m.since AND slot_at < m.first
            OR slot_at >= m.middle AND slot_at < m.middle + INTERVAL '1 day' OR slot_at >= m.last AND slot_at < m.until
    ) u
), halves AS (
    SELECT id, team_id, project_id, session_id, is_before, sum(cache_read) AS read,
           sum(cache_read) + sum(uncached_input) + sum(cache_write_5m) + sum(cache_write_1h) AS prompt
    FROM slots GROUP BY id, team_id, project_id, session_id, is_before
), sides AS (
    SELECT h.id, array_agg(read) FILTER (WHERE is_before) AS read_before,
           array_agg(prompt) FILTER (WHERE is_before) AS before,
           array_agg(read) FILTER (WHERE NOT is_before) AS read_after,
           array_agg(prompt) FILTER (WHERE NOT is_before) AS after
    FROM halves h JOIN sessions_app_session s ON s.id = h.session_id AND s.team_id = h.team_id
        AND (h.project_id IS NULL OR s.project_id = h.project_id)
    GROUP BY h.id
)
SELECT m.at, m.title, coalesce(p.name, ''), coalesce(read_before, '{}'), coalesce(before, '{}'),
       coalesce(read_after, '{}'), coalesce(after, '{}')
FROM m LEFT JOIN sides ON sides.id = m.id LEFT JOIN sessions_app_project p ON p.id = m.project_id
ORDER BY m.at DESC, m.id DESC
"""


def newest(*, team_ids: Iterable[int], since: datetime | None, limit: int) -> list[Marked]:
    """The newest markers of these teams, each compared as by `before_after`: one query for all."""
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST, {"teams": list(team_ids), "since": since, "limit": limit, "span": str(SPAN)})
        return [
            Marked(at, title, project, compare(_pairs(read_before, before), _pairs(read_after, after)))
            for at, title, project, read_before, before, read_after, after in cursor.fetchall()
        ]


def _pairs(read: Iterable[int], whole: Iterable[int]) -> list[tuple[int, int]]:
    return [(int(part), int(all_)) for part, all_ in zip(read, whole, strict=True) if all_]
