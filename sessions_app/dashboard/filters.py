"""The filter of the sessions list: from an address to a query and back. What is not understood is ignored."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime

from django.db.models import F, Q

from sessions_app.dashboard.scope import Scope, link_suffix
from sessions_app.kernel.zones import Zone
from sessions_app.models import Host
from sessions_app.models.session import SessionQuerySet

SORTS = {"last": "last sign of life", "cost": "cost", "peak": "peak context"}
#: Zones to ask for: one, or the two that matter together.
ZONE_CHOICES = {**{zone.value: zone.value for zone in Zone}, "HIGH": "RED or CRITICAL"}
MARKS = {
    "compacted": "was compacted",
    "lower": "sums are a lower bound",
    "unpriced": "has calls without a price",
    "parked": "could not be worked out",
}
_MARK_QUERIES = {
    "compacted": Q(compactions__gt=0),
    "lower": ~Q(lower_bound=[]),
    "unpriced": Q(unpriced_calls__gt=0),
    "parked": ~Q(fold_error=""),
}
MOST_TEXT = 200


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Empty strings choose nothing."""

    host: str = ""
    project: str = ""
    zone: str = ""
    mark: str = ""
    text: str = ""
    sort: str = "last"
    page: int = 1

    @property
    def is_narrow(self) -> bool:
        """True when anything but order and page was chosen."""
        return any((self.host, self.project, self.zone, self.mark, self.text))

    @property
    def query(self) -> dict[str, str]:
        """The parameters of this filter that are not usual."""
        usual = SessionFilter()
        return {f.name: str(v) for f in fields(self) if (v := getattr(self, f.name)) != getattr(usual, f.name)}

    def suffix(self, scope: Scope, *, sort: str = "", page: int = 1) -> str:
        """The end of this filter's address at `page`, in its own order or in that of `sort`."""
        return link_suffix({**scope.query, **replace(self, sort=sort or self.sort, page=page).query})

    def apply(self, sessions: SessionQuerySet) -> SessionQuerySet:
        """The sessions that it lets through, in its order."""
        if self.host:
            sessions = sessions.filter(host=self.host)
        if self.project:
            sessions = sessions.filter(project_id=int(self.project))
        if self.zone:
            zones = ["RED", "CRITICAL"] if self.zone == "HIGH" else [self.zone]
            sessions = sessions.filter(peak_zone__in=zones)
        if self.mark:
            sessions = sessions.filter(_MARK_QUERIES[self.mark])
        if self.text:
            sessions = sessions.filter(host_session_id__icontains=self.text)
        return self._ordered(sessions)

    def _ordered(self, sessions: SessionQuerySet) -> SessionQuerySet:
        if self.sort == "cost":
            return sessions.order_by(F("cost_usd").desc(nulls_last=True), "-pk")
        if self.sort == "peak":
            return sessions.order_by(F("peak_occupancy").desc(nulls_last=True), "-pk")
        return sessions.latest_first()


def filter_of(parameters: Mapping[str, str]) -> SessionFilter:
    """The filter that an address names."""
    project, page = parameters.get("project", ""), parameters.get("page", "1")
    return SessionFilter(
        host=_one_of(Host.values, parameters.get("host")),
        project=project if _is_small_number(project) else "",
        zone=_one_of(ZONE_CHOICES, parameters.get("zone")),
        mark=_one_of(MARKS, parameters.get("mark")),
        text=parameters.get("text", "").replace("\0", "").strip()[:MOST_TEXT],
        sort=_one_of(SORTS, parameters.get("sort")) or "last",
        page=max(int(page), 1) if _is_small_number(page) else 1,
    )


def _one_of(allowed: Iterable[str], value: str | None) -> str:
    return value if value is not None and value in allowed else ""


def _is_small_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 9


def in_scope(sessions: SessionQuerySet, scope: Scope, now: datetime) -> SessionQuerySet:
    """Sessions of the chosen teams with a sign of life in the period."""
    return sessions.filter(active_since(scope.period.since(now)), team_id__in=scope.team.ids)


def active_since(since: datetime | None) -> Q:
    """Sessions with a sign of life since then; all of them for None."""
    return Q() if since is None else Q(last_at__gte=since) | Q(last_at__isnull=True, created_at__gte=since)
