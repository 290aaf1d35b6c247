"""The version in force in a scope, held in memory and renewed when the organisation's audit log has grown."""

import threading
import time
from dataclasses import dataclass, field
from datetime import datetime

from policy_app.kernel.table import Table
from policy_app.models import Assignment, AuditEntry, Policy, ScopeKind, Version
from policy_app.services import tables

#: The policy of an organisation that assigned none.
DEFAULT_SLUG = "default"
#: Another process' change is seen after at most so long.
CHECK_SECONDS = 1.0
MOST_HELD = 1_000


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a verdict is asked for; the narrowest part that has an assignment decides."""

    organisation_id: int
    team_id: int | None = None
    project_id: int | None = None

    def parts(self) -> tuple[tuple[ScopeKind, int], ...]:
        """From narrowest to widest."""
        pairs = (
            (ScopeKind.PROJECT, self.project_id),
            (ScopeKind.TEAM, self.team_id),
            (ScopeKind.ORGANISATION, self.organisation_id),
        )
        return tuple((kind, id_) for kind, id_ in pairs if id_ is not None)


@dataclass(frozen=True, slots=True)
class Live:
    """A version in force: what a verdict must name to be replayed, and the table itself."""

    policy: str
    version_id: int
    number: int
    digest: str
    table: Table


@dataclass(slots=True)
class _Held:
    """What is known of one organisation at audit entry `stamp`."""

    stamp: int
    checked_at: float
    assignments: dict[tuple[str, int], list[Assignment]]
    live: dict[str, Live]
    pinned: dict[int, Live] = field(default_factory=dict)


_lock = threading.Lock()
_held: dict[int, _Held] = {}


def live_table(*, scope: Scope, now: datetime) -> Live | None:
    """The version in force; None before the organisation has any. No query while the memory is fresh."""
    held = _fresh(scope.organisation_id)
    for kind, id_ in scope.parts():
        found = _begun(held.assignments.get((kind.value, id_), []), now)
        if found is not None and found.policy is not None:
            return held.pinned[found.version_id] if found.version_id else held.live.get(found.policy.slug)
    return held.live.get(DEFAULT_SLUG)


def forget(organisation_id: int) -> None:
    """Read anew at the next question."""
    with _lock:
        _held.pop(organisation_id, None)


def stamp_of(organisation_id: int) -> int:
    """Number of the newest audit entry: every act writes one, and acts of an organisation are a line."""
    numbers = AuditEntry.objects.filter(organisation_id=organisation_id).order_by("-number")
    return numbers.values_list("number", flat=True).first() or 0


def assignment_at(organisation_id: int, kind: ScopeKind, scope_id: int, now: datetime) -> Assignment | None:
    """The assignment of exactly this scope that counts at `now`."""
    rows = Assignment.objects.filter(organisation_id=organisation_id, scope_kind=kind, scope_id=scope_id)
    return rows.filter(from_at__lte=now).select_related("policy", "version").order_by("-from_at", "-pk").first()


def live_of(version: Version, slug: str) -> Live:
    """A version as verdicts use it."""
    return Live(slug, version.pk, version.number, version.digest, tables.parsed(version.content))


def _fresh(organisation_id: int) -> _Held:
    at = time.monotonic()
    held = _held.get(organisation_id)
    if held is not None and at - held.checked_at < CHECK_SECONDS:
        return held
    # Before reading: what is written meanwhile then has a newer stamp, and is read next time.
    stamp = stamp_of(organisation_id)
    if held is not None and held.stamp == stamp:
        held.checked_at = at
        return held
    read = _read(organisation_id, stamp, at)
    with _lock:
        if len(_held) >= MOST_HELD:
            _held.clear()
        _held[organisation_id] = read
    return read


def _read(organisation_id: int, stamp: int, at: float) -> _Held:
    assignments: dict[tuple[str, int], list[Assignment]] = {}
    rows = Assignment.objects.filter(organisation_id=organisation_id).select_related("policy", "version__policy")
    for row in rows.order_by("-from_at", "-pk"):
        assignments.setdefault((row.scope_kind, row.scope_id), []).append(row)
    newest = Version.objects.filter(policy__in=Policy.objects.of(organisation_id)).order_by("policy", "-number")
    live = [live_of(each, each.policy.slug) for each in newest.distinct("policy").select_related("policy")]
    versions = [row.version for each in assignments.values() for row in each if row.version is not None]
    return _Held(
        stamp,
        at,
        assignments,
        {each.policy: each for each in live},
        {version.pk: live_of(version, version.policy.slug) for version in versions},
    )


def _begun(rows: list[Assignment], now: datetime) -> Assignment | None:
    return next((row for row in rows if row.from_at <= now), None)
