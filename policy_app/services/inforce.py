"""The versions in force in a scope, held in memory and renewed when the organisation's audit log has grown."""

import threading
import time
from dataclasses import dataclass, field
from datetime import datetime

from policy_app.kernel.pins import PinSet
from policy_app.kernel.table import Table
from policy_app.models import Assignment, AuditEntry, PolicyKind, ScopeKind, Version
from policy_app.services import contents, tables

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


@dataclass(frozen=True, slots=True)
class LiveSet:
    """A version of a pin set in force."""

    slug: str
    version_id: int
    number: int
    digest: str
    pins: PinSet


@dataclass(frozen=True, slots=True)
class _Line[T]:
    """The policies of one kind: assignments by scope (the latest to begin first), newest versions, versions by id."""

    assignments: dict[tuple[str, int], list[Assignment]] = field(default_factory=dict)
    newest: dict[str, T] = field(default_factory=dict)
    versions: dict[int, T] = field(default_factory=dict)

    def assigned(self, kind: ScopeKind, scope_id: int, now: datetime) -> T | None:
        """What exactly this scope says; None where it says nothing."""
        rows = self.assignments.get((kind.value, scope_id), [])
        found = next((row for row in rows if row.from_at <= now), None)
        if found is None or found.policy is None:
            return None
        return self.versions[found.version_id] if found.version_id else self.newest.get(found.policy.slug)


@dataclass(slots=True)
class _Held:
    """What is known of one organisation at audit entry `stamp`."""

    stamp: int
    checked_at: float
    tables: _Line[Live] = field(default_factory=_Line)
    pins: _Line[LiveSet] = field(default_factory=_Line)


_lock = threading.Lock()
_held: dict[int, _Held] = {}


def live_table(*, scope: Scope, now: datetime) -> Live | None:
    """The version in force; None before the organisation has any. No query while the memory is fresh."""
    line = _fresh(scope.organisation_id).tables
    for kind, id_ in scope.parts():
        found = line.assigned(kind, id_, now)
        if found is not None:
            return found
    return line.newest.get(DEFAULT_SLUG)


def live_sets(*, scope: Scope, now: datetime) -> tuple[LiveSet, ...]:
    """The pin sets in force, the organisation's (or the default one) first, then what team and project add to it.

    Unlike tables, a narrower set never takes the place of a wider one.
    """
    line = _fresh(scope.organisation_id).pins
    assigned = [line.assigned(kind, id_, now) for kind, id_ in reversed(scope.parts())]
    base = assigned[0] or line.newest.get(DEFAULT_SLUG)
    by_slug: dict[str, LiveSet] = {}
    for each in (base, *assigned[1:]):
        if each is not None:
            by_slug.setdefault(each.slug, each)
    return tuple(by_slug.values())


def forget(organisation_id: int) -> None:
    """Read anew at the next question."""
    with _lock:
        _held.pop(organisation_id, None)


def stamp_of(organisation_id: int) -> int:
    """Number of the newest audit entry: every act writes one, and acts of an organisation are a line."""
    numbers = AuditEntry.objects.filter(organisation_id=organisation_id).order_by("-number")
    return numbers.values_list("number", flat=True).first() or 0


def assignment_at(
    organisation_id: int, scope: ScopeKind, scope_id: int, now: datetime, kind: PolicyKind = PolicyKind.TABLE
) -> Assignment | None:
    """The assignment of exactly this scope that counts at `now`."""
    rows = Assignment.objects.filter(organisation_id=organisation_id, kind=kind, scope_kind=scope, scope_id=scope_id)
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
    held = _Held(stamp, at)
    newest = Version.objects.filter(policy__organisation_id=organisation_id).order_by("policy", "-number")
    for version in newest.distinct("policy").select_related("policy"):
        _keep(version, held.tables.newest, held.pins.newest, version.policy.slug)
    rows = Assignment.objects.filter(organisation_id=organisation_id).select_related("policy", "version__policy")
    for row in rows.order_by("-from_at", "-pk"):
        line = held.tables if row.kind == PolicyKind.TABLE else held.pins
        line.assignments.setdefault((row.scope_kind, row.scope_id), []).append(row)
        if row.version is not None:
            _keep(row.version, held.tables.versions, held.pins.versions, row.version.pk)
    return held


def _keep[K](version: Version, tables_by: dict[K, Live], sets_by: dict[K, LiveSet], key: K) -> None:
    slug = version.policy.slug
    if version.policy.kind == PolicyKind.TABLE:
        tables_by[key] = live_of(version, slug)
    else:
        pins = contents.pin_set(version.content)
        sets_by[key] = LiveSet(slug, version.pk, version.number, version.digest, pins)
