"""Consider: what is known of a thread when a hook arrives, and what the version in force says; nothing is stored."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from policy_app.kernel import messages, quiet
from policy_app.kernel.evaluate import Verdict as Judged
from policy_app.kernel.evaluate import evaluate
from policy_app.kernel.messages import Telling
from policy_app.kernel.quiet import SOON_CALLS
from policy_app.kernel.signals import Signals
from policy_app.kernel.situation import situate
from policy_app.kernel.zones import Zone
from policy_app.services import inforce
from policy_app.services.inforce import Live, Scope
from sessions_app.kernel import live_state
from sessions_app.kernel.live_state import LiveState, Now
from sessions_app.kernel.situation import Situation
from sessions_app.models import Project, Session
from sessions_app.services import living, prices, situations, verdicts
from sessions_app.services.living import Held


@dataclass(frozen=True, slots=True)
class Known:
    """What is known when the hook arrives.

    `live` is the version in force, None where there is none; `stands` the operation that stands in the main thread,
    `was_compacted` whether a hook told of a compaction.
    """

    session: Session
    state: LiveState
    now: Now
    live: Live | None
    stands: str | None = None
    was_compacted: bool = False
    has_crystalium: bool = False
    pins: int = 0
    pins_digest: str = ""


@dataclass(frozen=True, slots=True)
class Considered:
    """What the version says of it."""

    live: Live
    found: Situation
    signals: Signals
    judged: Judged


def known(*, organisation_id: int, held: Held, now: datetime) -> Known:
    """What is known of the main thread of a session."""
    session, state = held.session, held.state
    scope = Scope(organisation_id, session.team_id, session.project_id)
    return Known(
        session=session,
        state=state,
        now=live_state.now(state, prices.recent_price_book()),
        stands=held.stands,
        was_compacted=held.was_compacted,
        live=inforce.live_table(scope=scope, now=now),
        has_crystalium=_has_crystalium(session, state),
    )


def of_thread(whole: Known, thread: str) -> Known:
    """The same of a subagent's thread."""
    state = living.state_of(whole.session.pk, thread)
    return replace(whole, state=state, now=live_state.now(state, prices.recent_price_book()))


def _has_crystalium(session: Session, state: LiveState) -> bool:
    """Whether the memory service is at work in the project; a use of it is noted there."""
    project, path = session.project, state.trail
    seen = bool(path and path.externalized and path.externalized[1].startswith("mcp__crystalium__"))
    if project is None or project.has_crystalium:
        return seen or project is not None
    if seen:
        Project.objects.filter(pk=project.pk).update(has_crystalium=True)
    return seen


def consider(
    known: Known, *, now: datetime, drill: Mapping[str, int] | None = None, thread: str = ""
) -> Considered | None:
    """What the version in force says; None where none is."""
    if known.live is None:
        return None
    found = situations.situation_of(known.session, known.state, known.now, thread, now)
    table = verdicts.table_for(known.live.table, drill)
    signals = situations.signals_of(found)
    since = found.calls_since_compaction
    if since is not None and since <= SOON_CALLS and situate(table, signals).zone in (Zone.RED, Zone.CRITICAL):
        signals = signals.having(thrash=True)
    return Considered(known.live, found, signals, evaluate(table, signals))


def advice(known: Known, considered: Considered | None, drill: Mapping[str, int] | None) -> str:
    """The verdict of this moment in the words of a status line."""
    if considered is None or known.session.muted_at is not None:
        return ""
    live, judged = considered.live, considered.judged
    if quiet.is_too_soon(judged.operation, considered.found.calls_since_compaction):
        return ""
    lines = verdicts.drill_lines(drill) if drill else None
    return messages.advice(judged, Telling(live.policy, live.number, "", "", drill=lines))
