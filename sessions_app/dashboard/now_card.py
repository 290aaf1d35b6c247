"""What is known of a session at this moment, for a session that still speaks: never a bare number."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from ecm_site.common import figures
from sessions_app.dashboard import words
from sessions_app.kernel import live_state
from sessions_app.kernel.live_state import LiveState, Now
from sessions_app.kernel.pricing import PriceBook
from sessions_app.models import Session
from sessions_app.services.living import decode

#: After so long without a word a session is history, not a state.
STILL_SPEAKS = timedelta(hours=2)


@dataclass(frozen=True, slots=True)
class NowCard:
    """The newest reading of the main thread: occupancy with origin and age, and the time to a cold cache."""

    occupancy: int | None
    percent: str
    zone: str
    origin: str
    taken_at: datetime | None
    calls_behind: int
    window: int | None
    window_words: str
    cache: str
    cache_note: str
    cold_costs_usd: Decimal | None


def now_card(session: Session, stored: str | None, book: PriceBook, now: datetime) -> NowCard | None:
    """The card of a session that spoke lately and has not ended; None for all others.

    `stored` is the state of its main thread as ingest keeps it.
    By the clock of what happened, not of its receipt: an imported file of last month arrives today.
    """
    if session.ended_at is not None or session.last_at is None or session.last_at < now - STILL_SPEAKS:
        return None
    state = live_state.now(decode(stored) if stored else LiveState(), book)
    taken = state.occupancy.taken_at
    cache, note = _cache(state, now)
    return NowCard(
        occupancy=state.occupancy.value,
        percent=figures.percent(state.occupancy.value, state.window.tokens),
        zone=str(state.zone),
        origin=words.word(words.ORIGINS, state.occupancy.origin),
        taken_at=datetime.fromisoformat(taken) if taken else None,
        calls_behind=state.occupancy.calls_behind,
        window=state.window.tokens,
        window_words=words.word(words.WINDOW_ORIGINS, str(state.window.origin)) if state.window.tokens else "",
        cache=cache,
        cache_note=note,
        cold_costs_usd=state.cold_costs_usd,
    )


def _cache(state: Now, now: datetime) -> tuple[str, str]:
    """How long the cache stays warm, and how its lifetime is known."""
    if state.cache_expires_at is None:
        return "", ""
    left = (datetime.fromisoformat(state.cache_expires_at) - now).total_seconds()
    minutes = (state.cache_ttl_seconds or 0) // 60
    kind = "assumed, as no source told the lifetime" if state.cache_ttl_assumed else "as it was written"
    note = f"{minutes} minutes after the last call, {kind}"
    return (f"warm for {figures.duration(left)} more" if left > 0 else f"cold since {figures.duration(-left)}"), note
