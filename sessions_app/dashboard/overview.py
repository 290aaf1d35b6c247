"""The overview: what a team's period came to, each figure with the place of its parts."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal

from django.urls import reverse

from ecm_site.common import figures
from sessions_app.dashboard import cause_words, findings, sparks
from sessions_app.dashboard import overview_sums as sums
from sessions_app.dashboard.ledger import ZERO, Ledger, ledger
from sessions_app.dashboard.overview_before import Before, before_of, earlier_than, entries_of
from sessions_app.dashboard.overview_changes import Change, changes_of
from sessions_app.dashboard.overview_compactions import Compactions, compactions_of
from sessions_app.dashboard.overview_dearest import Dearest, dearest_of
from sessions_app.dashboard.overview_live import Live, live_of
from sessions_app.dashboard.overview_sums import Day, Reason, State, Totals, ZoneShare
from sessions_app.dashboard.scope import PERIODS, Period, Scope, link_suffix
from sessions_app.dashboard.sentences import Sentence
from sessions_app.kernel.causes import Cause
from sessions_app.kernel.zones import Zone
from sessions_app.models import UsageDay, Viewer


@dataclass(frozen=True, slots=True)
class OverviewPage:
    """All that the template shows."""

    scope: Scope
    now: datetime
    state: State
    totals: Totals
    finding: Sentence
    beside: Sentence
    change: str
    ledger: Ledger | None
    parts: sparks.Strip
    days: tuple[Day, ...]
    spark: sparks.Spark
    zones: tuple[ZoneShare, ...]
    dearest: tuple[Dearest, ...]
    compactions: Compactions
    reasons: tuple[Reason, ...]
    before: Before | None
    live: Live
    changes: tuple[Change, ...]

    @property
    def is_empty(self) -> bool:
        """True when nothing happened in the period."""
        return self.totals.sessions == 0

    @property
    def spark_caption(self) -> str:
        """What a column is, and what the highest stands for."""
        first = self.days[0] if self.days else None
        length = (first.last - first.first).days + 1 if first else 1
        highest = max((day.cost_usd for day in self.days if day.cost_usd is not None), default=None)
        unit = "day" if length == 1 else f"{length} days"
        return f"spend by {unit}" + (f", highest {figures.usd(highest)}" if highest else "")

    @property
    def sessions_href(self) -> str:
        """The sessions behind all sums."""
        return reverse("sessions") + self.scope.suffix

    @property
    def wider_period(self) -> Period | None:
        """The shortest period that reaches the newest session, where this one is empty; else None."""
        newest = self.state.newest_at
        if self.totals.sessions or newest is None:
            return None
        reached = (p for p in PERIODS if (since := p.since(self.now)) is None or since <= newest)
        return next((p for p in reached if p != self.scope.period), None)

    @property
    def compacted_href(self) -> str:
        """The sessions that were compacted."""
        return self._marked("compacted")

    @property
    def lower_href(self) -> str:
        """The sessions whose sums are lower bounds."""
        return self._marked("lower")

    @property
    def unpriced_href(self) -> str:
        """The sessions with calls that have no price."""
        return self._marked("unpriced")

    @property
    def parked_href(self) -> str:
        """The sessions that could not be worked out."""
        return self._marked("parked")

    def _marked(self, mark: str) -> str:
        return reverse("sessions") + link_suffix({**self.scope.query, "mark": mark})


def overview(user: Viewer, scope: Scope, now: datetime) -> OverviewPage:
    """The page of a scope: eight queries, whatever the size."""
    since = scope.period.since(now)
    earlier = earlier_than(since, scope)
    usage = UsageDay.objects.for_user(user).filter(session__team_id__in=scope.team.ids)
    rows = sums.rows_of(usage, scope, now)
    current = [row for row in rows if since is None or row["day"] >= since.date()]
    money = sums.totals_of(current, 0)
    dearest, sessions = dearest_of(scope, since, money.cost_usd)
    totals = replace(money, sessions=sessions)
    days = sums.days_of(current, None if since is None else since.date(), now.astimezone(UTC).date())
    state, reasons = sums.state_of(user, scope, now)
    entries, entries_before = entries_of(user, scope, since, earlier)
    compactions, compactions_before = compactions_of(user, scope, since, earlier, now)
    before = before_of(rows, entries_before, compactions_before, since, scope)
    zones = sums.zones_of(current, scope, before.zones if before else {})
    parts = ledger(totals.cost_usd, totals.needed_usd, entries)
    facts = _facts(totals, zones, dearest, parts, bool(reasons), scope, before)
    return OverviewPage(
        scope=scope,
        now=now,
        state=state,
        totals=totals,
        finding=findings.of_overview(facts),
        beside=findings.beside_overview(facts),
        change=sums.change_of(rows, totals, since, scope),
        ledger=parts,
        parts=sums.strip_of(parts),
        days=days,
        spark=sums.spark_of(days, now.date()),
        zones=zones,
        dearest=dearest,
        compactions=compactions,
        reasons=reasons,
        before=before,
        live=live_of(user, scope, now),
        changes=changes_of(scope, since),
    )


def _facts(
    totals: Totals,
    zones: Iterable[ZoneShare],
    dearest: tuple[Dearest, ...],
    parts: Ledger | None,
    is_bound: bool,
    scope: Scope,
    before: Before | None,
) -> findings.OverviewFacts:
    calls = {share.zone: share.calls for share in zones}
    top = dearest[0] if dearest else None
    named = findings.Dearest(top.name, reverse("session", args=[top.session_id]), top.cost_usd) if top else None
    sessions = reverse("sessions")
    return findings.OverviewFacts(
        sessions=totals.sessions,
        calls=totals.calls + totals.aux_calls,
        cost_usd=totals.cost_usd,
        is_lower_bound=is_bound or totals.unpriced_calls > 0,
        avoidable_usd=parts.avoidable.usd if parts else ZERO,
        unexplained_usd=parts.not_explained.usd if parts else ZERO,
        first_cause=_first_cause(parts),
        dearest=named,
        placed_calls=sum(n for zone, n in calls.items() if zone != Zone.UNKNOWN),
        high_calls=calls[Zone.RED] + calls[Zone.CRITICAL],
        sessions_href=sessions + scope.suffix,
        high_href=sessions + link_suffix({**scope.query, "zone": "HIGH"}),
        before=_facts_before(before),
    )


def _facts_before(before: Before | None) -> findings.OverviewBefore | None:
    if before is None or before.ledger is None:
        return None
    parts = before.ledger
    return findings.OverviewBefore(before.words, before.cost_usd, parts.avoidable.usd, parts.not_explained.usd)


def _first_cause(parts: Ledger | None) -> tuple[str, Decimal] | None:
    priced = [entry for entry in parts.avoidable_causes if entry.usd] if parts else []
    if not priced:
        return None
    first = max(priced, key=lambda entry: entry.usd or ZERO)
    return cause_words.NAMES.get(Cause(first.cause), first.cause), first.usd or ZERO
