"""Read what is known of a session at a hook: its row, one live row, prices in memory."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from policy_app.kernel.errors import Refused
from policy_app.kernel.quiet import SOON_CALLS
from policy_app.kernel.signals import CATALOGUE, Signals, Value
from sessions_app.kernel import situation
from sessions_app.kernel.live_state import LiveState, Now
from sessions_app.kernel.situation import Folded, Situation
from sessions_app.models import Session


def situation_of(session: Session, state: LiveState, known: Now, thread: str, now: datetime) -> Situation:
    """The situation of a thread of the session."""
    folded = Folded(
        depth=session.depth,
        compactions=session.compactions,
        window=session.window,
        window_origin=session.window_origin,
        tool_share_permille=session.current.get("tool_share_permille"),
        at=session.folded_at,
        is_behind=session.revision > session.folded_revision,
    )
    return situation.situation(
        state, known, folded, host=session.host, subagent=bool(thread), now=now, soon_calls=SOON_CALLS
    )


def signals_of(found: Situation) -> Signals:
    """Its values as signals; what no signal can hold is unknown."""
    taken: dict[str, Value] = {}
    for name, raw in found.values.items():
        try:
            taken[name] = CATALOGUE[name].take(raw)
        except Refused:
            continue
    return Signals(taken)


def origins_of(found: Situation) -> dict[str, dict[str, Any]]:
    """Origins as they are stored, without those that say nothing."""
    return {name: asdict(origin) for name, origin in found.origins.items() if origin.origin}
