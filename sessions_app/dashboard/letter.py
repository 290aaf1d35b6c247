"""The weekly mail in sentences: the findings of a page and the sums of the ledger, over one whole week."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from django.conf import settings
from django.db.models import Sum

from ecm_site.common import figures
from sessions_app.dashboard import cause_words
from sessions_app.dashboard.ledger import Entry, Ledger, ledger
from sessions_app.kernel.alerts import AlertKind
from sessions_app.models import AlertEvent, MissDay, Team, UsageDay
from sessions_app.services.alerting import TITLES
from sessions_app.services.letters import WrittenLetter

WEEK = timedelta(days=7)
MOST_CAUSES = 3


def letter_of(team: Team, week: date) -> WrittenLetter:
    """The letter of the week (UTC) that begins with this Monday: four queries."""
    since = datetime.combine(week, time(), UTC)
    subject = f"[ECM {team.name}] The week of {week:%d %B %Y}"
    parts, sums = _ledger_of(team, since)
    if not sums["calls"]:
        return WrittenLetter(subject, ("Nothing was recorded in this week.", _link(team)))
    before, _ = _ledger_of(team, since - WEEK)
    return WrittenLetter(
        subject,
        tuple(text for text in (_bill(parts, before, sums), _causes(parts), _alerts(team, since), _link(team)) if text),
    )


def _ledger_of(team: Team, since: datetime) -> tuple[Ledger | None, dict[str, int]]:
    slots = UsageDay.objects.filter(session__team=team, slot_at__gte=since, slot_at__lt=since + WEEK)
    sums = slots.aggregate(
        cost=Sum("cost_usd"),
        needed=Sum("needed_usd"),
        calls=Sum("calls", default=0) + Sum("aux_calls", default=0),
        unpriced=Sum("unpriced_calls", default=0),
    )
    misses = MissDay.objects.filter(session__team=team, slot_at__gte=since, slot_at__lt=since + WEEK)
    rows = misses.values("cause", "part").annotate(n=Sum("misses"), sent=Sum("tokens"), usd=Sum("cost_usd")).order_by()
    entries = [Entry(row["cause"], row["part"], row["n"], row["sent"], row["usd"]) for row in rows]
    counts = {"calls": sums["calls"], "unpriced": sums["unpriced"]}
    return ledger(sums["cost"], sums["needed"], entries), counts


def _bill(parts: Ledger | None, before: Ledger | None, sums: dict[str, int]) -> str:
    calls = figures.plural(sums["calls"], "call")
    if parts is None:
        return f"{calls} were recorded; none of them has a price."
    bound = f"at least {figures.usd(parts.billed_usd)}" if sums["unpriced"] else figures.usd(parts.billed_usd)
    last = "" if before is None else f" The week before it was {figures.usd(before.billed_usd)}."
    lost = _lost(parts.avoidable.usd, "of it could have been avoided")
    unknown = _lost(parts.not_explained.usd, "was sent again without a known cause")
    losses = "".join(f" {sentence}" for sentence in (lost, unknown) if sentence)
    return f"{calls} cost {bound} at list price.{last}{losses}"


def _lost(usd: Decimal, what: str) -> str:
    return f"{figures.usd(usd)} {what}." if usd else ""


def _causes(parts: Ledger | None) -> str:
    priced = [entry for entry in parts.avoidable_causes if entry.usd] if parts else []
    lines = []
    for entry in priced[:MOST_CAUSES]:
        fix = cause_words.fix(entry.cause)
        lines.append(f"- {cause_words.name(entry.cause)}: {figures.usd(entry.usd)}." + (f" {fix}." if fix else ""))
    return "\n".join(["Where it was lost:", *lines]) if lines else ""


def _alerts(team: Team, since: datetime) -> str:
    rows = AlertEvent.objects.filter(rule__team=team, opened_at__gte=since, opened_at__lt=since + WEEK)
    found = list(rows.select_related("rule").order_by("opened_at", "pk"))
    if not found:
        return ""
    lines = [f"- {event.opened_at:%A %d}: {TITLES[AlertKind(event.rule.kind)]}. {event.opened_by}" for event in found]
    return "\n".join(["Alerts that fired:", *lines])


def _link(team: Team) -> str:
    return (
        f"{settings.PUBLIC_URL}/?team={team.slug}\nTurn this mail off: {settings.PUBLIC_URL}/alerts/?team={team.slug}"
    )
