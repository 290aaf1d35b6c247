"""What the finding of a session may speak of, gathered from its rows."""

from collections.abc import Mapping, Sequence

from ecm_site.common import figures
from sessions_app.dashboard.call_lines import PAGE_SIZE, href_of
from sessions_app.dashboard.compaction_cards import counts
from sessions_app.dashboard.findings import Loss, SessionFacts
from sessions_app.dashboard.losses import is_loss
from sessions_app.models import Call, Compaction, Session


def facts_of(session: Session, calls: Sequence[Call], compactions: Sequence[Compaction]) -> SessionFacts:
    """Facts of a session; calls and compactions in order."""
    window = {call.key: call.window for call in calls}
    before = {c.key: _window_before(c, calls, window) for c in compactions}
    main = [call for call in calls if call.zone]
    peak = next((call for call in main if call.zone == session.peak_zone), None)
    return SessionFacts(
        calls=session.calls + session.aux_calls,
        cost_usd=session.cost_usd,
        unpriced_calls=session.unpriced_calls,
        is_lower_bound=bool(session.lower_bound),
        peak_zone=session.peak_zone,
        peak_percent=figures.percent(session.peak_occupancy, session.window),
        peak_call=peak.number if peak else None,
        peak_href=href_of(peak, is_paged=len(calls) > PAGE_SIZE) if peak else "",
        losses=_large_losses(calls),
        compactions=tuple(
            (c.trigger, figures.percent(c.before_tokens, before[c.key])) for c in compactions if counts(c)
        ),
        is_open_after_compaction=bool(main) and session.zone == "UNKNOWN",
        gauge=_gauge(session),
    )


def _window_before(compaction: Compaction, calls: Sequence[Call], window: Mapping[str, int | None]) -> int | None:
    """The window in which the context stood that was compacted: that of the call before, else after."""
    after = next((c.number for c in calls if c.key == compaction.next_call), None)
    before = [c for c in calls if c.thread == compaction.thread and c.window and (after is None or c.number < after)]
    return window[before[-1].key] if before else window.get(compaction.next_call)


def _gauge(session: Session) -> str:
    """What the host's own meter says, where no call was seen."""
    if session.calls:
        return ""
    occupancy, why = session.current.get("occupancy"), session.current.get("why")
    peak = f"; {session.peak_zone} at its fullest" if session.peak_zone != session.zone else ""
    if isinstance(occupancy, int):
        share = figures.percent(occupancy, session.window)
        return f"says {figures.tokens(occupancy)} tokens, {share} of its window, {session.zone}{peak}"
    return f"is silent now ({why}){peak}" if why else ""


def _large_losses(calls: Sequence[Call]) -> tuple[Loss, ...]:
    found = (
        Loss(call.number, call.missed_tokens, call.cache_read, call.miss_cost_usd) for call in calls if is_loss(call)
    )
    return tuple(loss for loss in found if loss.is_large)
