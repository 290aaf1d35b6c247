"""Folding: run the pure fold over a session's readings and write what changed."""

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Count, F

from sessions_app.kernel.facts import FoldInput, SessionFold
from sessions_app.kernel.fold import fold
from sessions_app.kernel.readings import CallReading, Reading, decode
from sessions_app.models import Developer, Project, ReadingRow, Session
from sessions_app.services import adhering, explaining, kinship, people, projecting, rows
from sessions_app.services.locks import lock_session
from sessions_app.services.prices import load_price_book
from sessions_app.services.store import cursor, mark_dirty

#: After so many attempts without an end a session is parked until news comes.
MOST_FAILURES = 5
#: What a fold may meet and get over by itself.
PASSING = (OperationalError, InterfaceError)
#: Readings of a session that is large: some 3 KB each while it is folded.
LARGE = 50_000


@dataclass(frozen=True, slots=True)
class _Loaded:
    given: FoldInput
    kin_ids: tuple[int, ...]
    digest: str


def attempt(*, session_id: int, now: datetime) -> bool:
    """Fold one session if it is not parked; what fails is noted and raises nothing but a passing failure.

    An attempt is counted before it starts: one that takes its worker with it can count nothing afterwards,
    and its message comes back for ever.
    """
    if not _begin(session_id, now):
        return False
    done = False
    try:
        done = fold_session(session_id=session_id, now=now)
    except PASSING:
        _withdraw(session_id)
        raise
    except Exception as error:
        park(session_id=session_id, error=error, now=now)
        return False
    if not done:
        _withdraw(session_id)
    return done


#: In plain SQL, as in store.py: a fold comes every few seconds in each busy session. Its commits wait for no disk:
#: what a crash of the machine takes, the dirty mark brings again.
_BEGIN = (
    "UPDATE sessions_app_session SET fold_failures = fold_failures + 1 WHERE id = %b AND revision > folded_revision"
    " AND fold_failures < %b AND set_config('synchronous_commit', 'off', true) = 'off'"
)


def _begin(session_id: int, now: datetime) -> bool:
    with cursor() as cur:
        if cur.execute(_BEGIN, (session_id, MOST_FAILURES)).rowcount:
            return True
    waiting = Session.objects.dirty().filter(pk=session_id)
    waiting.filter(fold_error="").update(fold_error=f"worker lost at {now:%Y-%m-%d %H:%M}")
    return False


def _withdraw(session_id: int) -> None:
    """Take the count of an attempt back: it said nothing about the session."""
    with suppress(*PASSING):
        Session.objects.filter(pk=session_id, fold_failures__gt=0).update(fold_failures=F("fold_failures") - 1)


def fold_session(*, session_id: int, now: datetime) -> bool:
    """Bring one session's projections up to its readings. False when another fold of it is running."""
    with transaction.atomic():
        if not lock_session(session_id):
            return False
        session = _session(session_id)
        if session is None or session.revision <= session.folded_revision:
            return True
        loaded = _load(session)
        book = load_price_book()
        outcome = fold(loaded.given, book)
        if projecting.write(session_id, outcome):
            explaining.explain(session_id=session_id, book=book)
        _sum_up(session, outcome)
        adhering.settle(session=session)
        _finish(session, loaded, outcome, now)
    return True


def park(*, session_id: int, error: Exception, now: datetime) -> None:
    """Note a failed fold where people can see it."""
    with transaction.atomic():
        session = Session.objects.select_for_update(no_key=True).get(pk=session_id)
        # The class and our own sentence only: a message may quote a record.
        session.fold_error = f"{type(error).__name__} at {now:%Y-%m-%d %H:%M}"
        session.save(update_fields=["fold_error"])


def unpark() -> int:
    """Try parked sessions again, as a new version of the fold may get over what stopped the old one."""
    return Session.objects.dirty().filter(fold_failures__gte=MOST_FAILURES).update(fold_failures=0)


#: What a fold reads of a session; the rest of the row is what it writes.
_READ = (
    *("id", "team_id", "host", "host_session_id", "received_at", "revision", "folded_revision"),
    *("identity_digest", "project_id", "developer_id", "parent_id"),
)
_SESSION = (
    f"SELECT {', '.join(f's.{name}' for name in _READ)}, p.id, p.name, d.id, d.identity FROM sessions_app_session s"  # noqa: S608 - names of columns
    " LEFT JOIN sessions_app_project p ON p.id = s.project_id"
    " LEFT JOIN sessions_app_developer d ON d.id = s.developer_id WHERE s.id = %b"
)


def _session(session_id: int) -> Session | None:
    with cursor() as cur:
        row = cur.execute(_SESSION, (session_id,)).fetchone()
    if row is None:
        return None
    session = Session.from_db("default", _READ, row[: len(_READ)])
    project, developer = row[len(_READ) :][:2], row[len(_READ) :][2:]
    session.project = Project.from_db("default", ("id", "name"), project) if session.project_id else None
    session.developer = Developer.from_db("default", ("id", "identity"), developer) if session.developer_id else None
    return session


def _readings(session_id: int) -> list[Reading]:
    with cursor() as cur:
        cur.execute("SELECT kind, body FROM sessions_app_readingrow WHERE session_id = %b", (session_id,))
        return [decode(str(kind), str(body)) for kind, body in cur]


def _load(session: Session) -> _Loaded:
    readings = _readings(session.pk)
    kin = kinship.kin_of(session, [r for r in readings if isinstance(r, CallReading)])
    given = FoldInput(
        session=kinship.label(session.host, session.host_session_id),
        readings=tuple(kinship.labelled(session.host, readings)),
        received_ms=int(session.received_at.timestamp() * 1000),
        kin=tuple(kin.values()),
    )
    return _Loaded(given, tuple(sorted(kin)), kinship.digest(readings, kin.values()) if kin else "")


def _sum_up(session: Session, outcome: SessionFold) -> None:
    """Take over the summary, unsaved."""
    summary = outcome.summary
    _set(session, summary.fields)
    session.project = people.project_of(
        session.team_id, summary.project, strong=summary.project_is_strong, known=session.project
    )
    session.developer = people.developer_of(session.team_id, summary.developer, known=session.developer)
    session.parent = _parent(session, summary.parent_session)
    session.first_line_ms = summary.first_line_ms


_WRITTEN = (
    *("project_id", "developer_id", "parent_id", "first_line_ms", "identity_digest"),
    *("folded_at", "folded_revision", "fold_error", "fold_failures"),
)

#: What arrived during the fold is waiting since then.
_STILL_DIRTY = "dirty_at = CASE WHEN held.revision > told.folded_revision THEN held.dirty_at END"


def _finish(session: Session, loaded: _Loaded, outcome: SessionFold, now: datetime) -> None:
    """Save the summary and, where shared history changed, mark the kin: last, as hooks wait for these rows."""
    kin_must_know = loaded.digest != session.identity_digest
    session.identity_digest = loaded.digest
    session.folded_at, session.folded_revision = now, session.revision
    session.fold_error, session.fold_failures = "", 0
    written = {name: getattr(session, name) for name in (*outcome.summary.fields, *_WRITTEN)}
    if loaded.kin_ids:
        # Own row and kin in one order: two folds of kin would otherwise wait for each other.
        ids = sorted([session.pk, *loaded.kin_ids])
        list(Session.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk").values_list("pk"))
    rows.update(Session, session.pk, written, _STILL_DIRTY)
    if kin_must_know and loaded.kin_ids:
        mark_dirty(loaded.kin_ids, now)


#: Summary fields that a record may fill with more than their column holds.
LONGEST = {"version": 60, "branch": 200, "model": 120}


def _set(session: Session, fields: dict[str, Any]) -> None:
    for name, value in fields.items():
        setattr(session, name, value[: LONGEST[name]] if name in LONGEST else value)
    session.depth = min(session.depth, projecting.DEEPEST)


def _parent(session: Session, label: str | None) -> Session | None:
    if not label:
        return None
    host, name = kinship.named_by(label)
    found = Session.objects.filter(team=session.team_id, host=host, host_session_id=name)
    return found.exclude(pk=session.pk).first()


def dirty_ids(*, limit: int, older_than: datetime | None = None) -> list[int]:
    """Sessions that wait for a fold, the longest waiting first; parked ones are left alone."""
    waiting = Session.objects.dirty().filter(fold_failures__lt=MOST_FAILURES)
    if older_than is not None:
        waiting = waiting.filter(dirty_at__lt=older_than)
    return list(waiting.order_by("dirty_at").values_list("pk", flat=True)[:limit])


def large_ids(ids: Collection[int], most: int = LARGE) -> frozenset[int]:
    """Those of these sessions whose fold takes hundreds of megabytes."""
    found = ReadingRow.objects.filter(session__in=ids).values("session_id").annotate(readings=Count("pk"))
    return frozenset(found.filter(readings__gt=most).values_list("session_id", flat=True))


def fold_all(ids: Iterable[int], now: datetime) -> int:
    """Fold these sessions one after the other; a failing one does not stop the rest."""
    done = 0
    for session_id in ids:
        with suppress(*PASSING):
            done += attempt(session_id=session_id, now=now)
    return done
