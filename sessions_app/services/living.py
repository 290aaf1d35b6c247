"""Live state: advanced by what a delivery told, inside its transaction; read in one row."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from sessions_app.kernel import live_state
from sessions_app.kernel.live_state import LiveState, Now
from sessions_app.kernel.readings import Reading
from sessions_app.models import LiveThread, Session
from sessions_app.services.prices import load_price_book
from sessions_app.services.store import Name, cursor

LONGEST_THREAD = 120

type Place = tuple[int, str]


def advance(changed: Mapping[Name, Reading], received_ms: int, now: datetime) -> None:
    """Join what these readings say into the live rows of their threads. The session rows are locked."""
    news: dict[Place, list[LiveState]] = {}
    for name, reading in changed.items():
        told = live_state.told_by(reading, received_ms)
        if told is not None:
            thread, state = told
            news.setdefault((name.session_id, thread[:LONGEST_THREAD]), []).append(state)
    if not news:
        return
    places = sorted(news)
    ids, threads = [p[0] for p in places], [p[1] for p in places]
    with cursor() as cur:
        cur.execute(
            "SELECT session_id, thread, state FROM sessions_app_livethread"
            " JOIN unnest(%b::bigint[], %b::text[]) AS given (s, t) ON session_id = s AND thread = t",
            (ids, threads),
        )
        held = {(int(str(s)), str(t)): decode(str(state)) for s, t, state in cur}
        states = [live_state.advanced(held.get(place, LiveState()), news[place]) for place in places]
        cur.execute(
            "INSERT INTO sessions_app_livethread (session_id, thread, state, updated_at)"
            " SELECT s, t, j, %b FROM unnest(%b::bigint[], %b::text[], %b::text[]) AS given (s, t, j)"
            " ON CONFLICT (session_id, thread) DO UPDATE SET state = EXCLUDED.state, updated_at = EXCLUDED.updated_at",
            (now, ids, threads, [msgspec.json.encode(state, order="sorted").decode() for state in states]),
        )


def decode(state: str) -> LiveState:
    """A stored state."""
    return msgspec.json.decode(state, type=LiveState)


def state_of(session_id: int, thread: str = "") -> LiveState:
    """The stored state of a thread; an empty one where nothing was told."""
    row = LiveThread.objects.filter(session=session_id, thread=thread[:LONGEST_THREAD])
    state = row.values_list("state", flat=True).first()
    return decode(state) if state else LiveState()


#: In plain SQL: composing the query takes longer than running it, and each hook waits for it.
_SESSION = (
    "SELECT s.*, l.state AS live_state FROM sessions_app_session s"
    " LEFT JOIN sessions_app_livethread l ON l.session_id = s.id AND l.thread = ''"
    " WHERE s.team_id = %s AND s.host = %s AND s.host_session_id = %s"
)


def session_with_state(*, team_id: int, host: str, name: str) -> tuple[Session, LiveState] | None:
    """A session by the host's name of it, and the state of its main thread."""
    for session in Session.objects.raw(_SESSION, (team_id, host, name)):
        state = vars(session)["live_state"]
        return session, decode(state) if state else LiveState()
    return None


def now_of(session: Session, thread: str = "") -> Now:
    """What is known of a thread now; nothing where nothing was told."""
    return live_state.now(state_of(session.pk, thread), load_price_book())
