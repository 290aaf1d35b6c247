"""Live state: advanced by what a delivery told, inside its transaction; read in one row."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import msgspec

from sessions_app.kernel import live_state
from sessions_app.kernel.live_state import LiveState, Now
from sessions_app.kernel.readings import Reading
from sessions_app.models import LiveThread, Project, Session
from sessions_app.services.prices import load_price_book
from sessions_app.services.store import Name, Rows, cursor

LONGEST_THREAD = 120

type Place = tuple[int, str]


def places(session_id: int, reading: Reading, received_ms: int) -> tuple[Place, ...]:
    """The thread whose live state a reading may advance."""
    told = live_state.told_by(reading, received_ms)
    return () if told is None else ((session_id, told[0][:LONGEST_THREAD]),)


def ask_states(wanted: Iterable[Place]) -> Rows:
    """Ask for the live states of these threads."""
    ordered = sorted(wanted)
    return cursor().execute(
        "SELECT session_id, thread, state FROM sessions_app_livethread"
        " JOIN unnest(%b::bigint[], %b::text[]) AS given (s, t) ON session_id = s AND thread = t",
        ([p[0] for p in ordered], [p[1] for p in ordered]),
    )


def states_in(rows: Rows) -> dict[Place, LiveState]:
    """Live states as they were asked for."""
    return {(int(str(s)), str(t)): decode(str(state)) for s, t, state in rows}


def advance(changed: Mapping[Name, Reading], held: Mapping[Place, LiveState], received_ms: int, now: datetime) -> None:
    """Join what these readings say into the live rows of their threads. The session rows are locked.

    `held` are the states so far of the threads that the delivery itself names.
    """
    news: dict[Place, list[LiveState]] = {}
    for name, reading in changed.items():
        told = live_state.told_by(reading, received_ms)
        if told is not None:
            thread, state = told
            news.setdefault((name.session_id, thread[:LONGEST_THREAD]), []).append(state)
    if not news:
        return
    ordered = sorted(news)
    # Merged with what was stored, a reading may tell of another thread than it did alone.
    if others := [place for place in ordered if place not in held]:
        held = {**held, **states_in(ask_states(others))}
    states = [live_state.advanced(held.get(place, LiveState()), news[place]) for place in ordered]
    with cursor() as cur:
        cur.execute(
            "INSERT INTO sessions_app_livethread (session_id, thread, state, updated_at)"
            " SELECT s, t, j, %b FROM unnest(%b::bigint[], %b::text[], %b::text[]) AS given (s, t, j)"
            " ON CONFLICT (session_id, thread) DO UPDATE SET state = EXCLUDED.state, updated_at = EXCLUDED.updated_at",
            (
                now,
                [p[0] for p in ordered],
                [p[1] for p in ordered],
                [msgspec.json.encode(state, order="sorted").decode() for state in states],
            ),
        )


def decode(state: str) -> LiveState:
    """A stored state."""
    return msgspec.json.decode(state, type=LiveState)


def state_of(session_id: int, thread: str = "") -> LiveState:
    """The stored state of a thread; an empty one where nothing was told."""
    row = LiveThread.objects.filter(session=session_id, thread=thread[:LONGEST_THREAD])
    state = row.values_list("state", flat=True).first()
    return decode(state) if state else LiveState()


#: What a verdict reads of a session; the sums of a long row would cost more than the rest of the answer.
_READ = frozenset(
    (
        *("id", "team_id", "host", "host_session_id", "project_id", "revision", "folded_revision", "folded_at"),
        *("muted_at", "depth", "compactions", "window", "window_origin", "cost_usd", "current"),
    )
)
_OF_SESSION = tuple(f.attname for f in Session._meta.concrete_fields if f.attname in _READ)
_OF_PROJECT = tuple(f.attname for f in Project._meta.concrete_fields)
_HELD = (
    f"SELECT {', '.join(f's.{name}' for name in _OF_SESSION)}, {', '.join(f'p.{name}' for name in _OF_PROJECT)},"  # noqa: S608 - names of columns
    " l.state, st.operation, EXISTS (SELECT FROM sessions_app_restoration r WHERE r.session_id = s.id),"
    " EXISTS (SELECT FROM policy_app_suppliedpin x WHERE x.team_id = s.team_id)"
    " FROM sessions_app_session s LEFT JOIN sessions_app_project p ON p.id = s.project_id"
    " LEFT JOIN sessions_app_livethread l ON l.session_id = s.id AND l.thread = ''"
    " LEFT JOIN sessions_app_standing st ON st.session_id = s.id AND st.thread = '' AND NOT st.is_drill"
    " WHERE s.team_id = %b AND s.host = %b AND s.host_session_id = %b"
)


@dataclass(frozen=True, slots=True)
class Held:
    """A session as far as a verdict reads it, the state of its main thread, and what operation stands there.

    `was_compacted`: whether a hook told of a compaction; `may_supply`: whether clients of its team supplied pins.
    """

    session: Session
    state: LiveState
    stands: str | None
    was_compacted: bool
    may_supply: bool


def ask_held(*, team_id: int, host: str, name: str) -> Rows:
    """Ask for a session by the host's name of it, in one row: each hook waits for this."""
    return cursor().execute(_HELD, (team_id, host, name))


def held_in(rows: Rows) -> Held | None:
    """The session as it was asked for; None where it is not known."""
    row = rows.fetchone()
    if row is None:
        return None
    *told, state, stands, was_compacted, may_supply = row
    of_session, of_project = told[: len(_OF_SESSION)], told[len(_OF_SESSION) :]
    session = Session.from_db("default", _OF_SESSION, of_session)
    session.current = msgspec.json.decode(str(session.current))
    if session.project_id is not None:
        session.project = Project.from_db("default", _OF_PROJECT, of_project)
    known = decode(str(state)) if state else LiveState()
    return Held(session, known, None if stands is None else str(stands), bool(was_compacted), bool(may_supply))


def now_of(session: Session, thread: str = "") -> Now:
    """What is known of a thread now; nothing where nothing was told."""
    return live_state.now(state_of(session.pk, thread), load_price_book())
