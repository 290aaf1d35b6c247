"""A session that speaks now, with what ingest keeps of it."""

from datetime import datetime, timedelta

import msgspec

from sessions_app.kernel.live_state import LiveState, Use
from sessions_app.models import LiveThread, Session, Team
from tests.support.story import MODEL
from tests.support.world import session_in


def live_in(
    team: Team, name: str, now: datetime, *, ago: timedelta, held: int = 100_000, ttl: int | None = 300
) -> Session:
    """A session whose last call was so long ago, with `held` tokens in its cache."""
    session = session_in(team, name, at=now - ago, last_at=now - ago, branch=name)
    at_ms = int((now - ago).timestamp() * 1000)
    use = Use(at_ms, "m:1", at_ms, held, held, MODEL, "transcript")
    state = LiveState(use=use, written=(at_ms, ttl) if ttl else None)
    body = msgspec.json.encode(state).decode()
    LiveThread.objects.create(session=session, thread="", state=body, updated_at=now)
    return session
