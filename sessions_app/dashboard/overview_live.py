"""Sessions that speak now: how full, how long the cache stays warm and what losing it costs, what was advised."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, OuterRef, Subquery, Window
from django.db.models.functions import JSONObject
from django.urls import reverse

from ecm_site.common import figures
from policy_app.kernel.operations import Operation
from policy_app.kernel.sentences import OPERATION_WORDS
from sessions_app.dashboard.names import name_of
from sessions_app.dashboard.scope import Scope
from sessions_app.kernel import live_state
from sessions_app.kernel.live_state import LiveState, Now
from sessions_app.kernel.zones import WindowOrigin, Zone
from sessions_app.models import LiveThread, Session, Standing, Verdict, Viewer
from sessions_app.services.living import decode
from sessions_app.services.prices import load_price_book

#: A session that said something within so long is live.
ALIVE = timedelta(minutes=30)
MOST_LINES = 8
#: Zones in which a cache that is cold anyway is an occasion.
FULL = (Zone.AMBER, Zone.RED, Zone.CRITICAL)


@dataclass(frozen=True, slots=True)
class LiveLine:
    """One session. `seconds_left` is negative since the cache went cold, None where no cache is known."""

    session: Session
    name: str
    zone: Zone
    occupancy: int | None
    percent: str
    window: int | None
    is_window_assumed: bool
    seconds_left: int | None
    is_ttl_assumed: bool
    cold_costs_usd: Decimal | None
    advice: str
    advice_href: str
    advised_at: datetime | None

    @property
    def cache(self) -> str:
        """How long it stays warm, or since when it is cold."""
        if self.seconds_left is None:
            return ""
        if self.seconds_left > 0:
            return f"cold in {self.seconds_left // 60}:{self.seconds_left % 60:02}"
        return f"cold since {figures.duration(-self.seconds_left)}"


@dataclass(frozen=True, slots=True)
class Live:
    """The sessions that spoke last, and how many there are in all."""

    lines: tuple[LiveLine, ...]
    count: int

    @property
    def hidden(self) -> int:
        """Live sessions that are not listed."""
        return self.count - len(self.lines)


def live_of(user: Viewer, scope: Scope, now: datetime) -> Live:
    """Live sessions of the chosen teams, whatever the period: one query, and one for the prices."""
    alive = Session.objects.for_user(user).filter(
        team_id__in=scope.team.ids, ended_at__isnull=True, last_at__gte=now - ALIVE
    )
    main = LiveThread.objects.filter(session=OuterRef("pk"), thread="").values("state")[:1]
    said = Verdict.objects.filter(session=OuterRef("pk"), thread="").counted().spoken().order_by("-pk")
    told = said.values(told=JSONObject(id="public_id", operation="operation", rule="rule", at="at", was="adherence"))
    stands = Standing.objects.filter(session=OuterRef("pk"), thread="", is_drill=False).values("operation")
    rows = alive.select_related("project").annotate(
        state=Subquery(main), told=Subquery(told[:1]), stands=Subquery(stands[:1]), alive=Window(Count("pk"))
    )
    found = list(rows.order_by("-last_at", "-pk")[:MOST_LINES])
    if not found:
        return Live((), 0)
    prices = load_price_book()
    lines = []
    for session in found:
        state = getattr(session, "state", None)
        known = live_state.now(decode(state) if state else LiveState(), prices)
        told_last = getattr(session, "told", None)
        # What was said and no longer stands is history: the context may be another one by now.
        is_standing = told_last is not None and told_last["operation"] == getattr(session, "stands", None)
        lines.append(_line(session, known, told_last if is_standing else None, now))
    return Live(tuple(lines), getattr(found[0], "alive", len(found)))


def _line(session: Session, known: Now, told: dict[str, Any] | None, now: datetime) -> LiveLine:
    left = None
    if known.cache_expires_at is not None:
        left = int((datetime.fromisoformat(known.cache_expires_at) - now).total_seconds())
    advice, href, at = _advice(known, told, left)
    return LiveLine(
        session=session,
        name=name_of(session),
        zone=known.zone,
        occupancy=known.occupancy.value,
        percent=figures.percent(known.occupancy.value, known.window.tokens),
        window=known.window.tokens,
        is_window_assumed=known.window.origin is WindowOrigin.ASSUMED,
        seconds_left=left,
        is_ttl_assumed=known.cache_ttl_assumed,
        cold_costs_usd=known.cold_costs_usd,
        advice=advice,
        advice_href=href,
        advised_at=at,
    )


def _advice(known: Now, told: dict[str, Any] | None, left: int | None) -> tuple[str, str, datetime | None]:
    """(what was advised and not followed, else what this moment is good for; its page; when it was said)."""
    if known.occupancy.value is None:
        why = "no usage since the last compaction" if known.occupancy.origin == "compaction" else "no usage yet"
        return f"{why}: unknown until the next call", "", None
    if told and told["operation"] != Operation.CONTINUE and told["was"] != "followed":
        words = OPERATION_WORDS[Operation(told["operation"])]
        rule = f" ({told['rule']})" if told["rule"] else ""
        return f"{words}{rule}", reverse("verdict", args=[told["id"]]), datetime.fromisoformat(told["at"])
    if left is not None and left <= 0 and known.zone in FULL:
        return "a good moment to compact: nothing is left to lose", "", None
    return "", "", None
