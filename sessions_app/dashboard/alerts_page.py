"""The page of alerts of one team: what fires now, the five rules, who is told, what was sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sessions_app.dashboard.scope import Scope
from sessions_app.dashboard.sentences import Sentence, count, say
from sessions_app.kernel.alerts import AlertKind
from sessions_app.models import AlertEvent, AlertRule, AlertTarget, Letter, Notice, Role, Team, Viewer
from sessions_app.services import alert_rules, letters
from sessions_app.services.alerting import TITLES
from sessions_app.services.letters import WrittenLetter

MOST_EVENTS, MOST_NOTICES = 30, 30

#: What a threshold is, as the label of its field.
UNITS = {
    AlertKind.HIT_RATIO: "Fires at so many points below the 7 days before",
    AlertKind.AVOIDABLE: "Fires at so many USD in 24 hours, list price",
    AlertKind.COMPACTION: "Fires at so many compactions per 100 calls of 24 hours",
    AlertKind.BUDGET: "Fires at so many percent of the month’s ceiling",
    AlertKind.SILENT: "Fires after so many hours of silence, without weekends",
}
NOTES = {AlertKind.COMPACTION: "Three of one session within an hour fire too."}


@dataclass(frozen=True, slots=True)
class RuleLine:
    """One rule, in words."""

    rule: AlertRule
    title: str
    unit: str
    note: str
    is_muted: bool
    open_event: AlertEvent | None

    @property
    def fires_at(self) -> Decimal:
        """The figure from which it fires, in `unit`."""
        return self.rule.threshold


@dataclass(frozen=True, slots=True)
class EventLine:
    """One time that a rule fired."""

    event: AlertEvent
    title: str


@dataclass(frozen=True, slots=True)
class AlertsPage:
    """All that the template shows; without `team` the scope holds several, or none."""

    now: datetime
    finding: Sentence
    team: Team | None = None
    may_edit: bool = False
    rules: tuple[RuleLine, ...] = ()
    events: tuple[EventLine, ...] = ()
    targets: tuple[AlertTarget, ...] = ()
    notices: tuple[Notice, ...] = ()
    wants_letter: bool = False
    letter: WrittenLetter | None = None


def alerts_page(user: Viewer, scope: Scope, now: datetime) -> AlertsPage:
    """Alerts of the chosen team; of several together only a word to choose one."""
    team = Team.objects.for_user(user).filter(pk__in=scope.team.ids[:1]).first() if len(scope.team.ids) == 1 else None
    if team is None:
        return AlertsPage(now, say("Alerts belong to one team: choose it above."))
    found = AlertEvent.objects.filter(rule__team=team).select_related("rule").order_by("-opened_at", "-pk")
    events = tuple(EventLine(event, TITLES[AlertKind(event.rule.kind)]) for event in found[:MOST_EVENTS])
    rules = _rules(team, [line.event for line in events if line.event.closed_at is None], now)
    letter = Letter.objects.filter(team=team).first()
    return AlertsPage(
        now=now,
        finding=finding_of(rules),
        team=team,
        may_edit=Team.objects.for_user(user, Role.EDITOR).filter(pk=team.pk).exists(),
        rules=rules,
        events=events,
        targets=tuple(AlertTarget.objects.filter(team=team).order_by("kind", "shown", "pk")),
        notices=tuple(Notice.objects.filter(team=team).order_by("-made_at", "-pk")[:MOST_NOTICES]),
        wants_letter=letter is not None and letter.is_on,
        letter=letters.written(team=team, week=letters.monday_before(now)),
    )


def _rules(team: Team, open_events: Sequence[AlertEvent], now: datetime) -> tuple[RuleLine, ...]:
    firing = {event.rule.kind: event for event in open_events}
    return tuple(
        RuleLine(
            rule=rule,
            title=TITLES[AlertKind(rule.kind)],
            unit=UNITS[AlertKind(rule.kind)],
            note=NOTES.get(AlertKind(rule.kind), ""),
            is_muted=rule.muted_until is not None and rule.muted_until > now,
            open_event=firing.get(rule.kind),
        )
        for rule in alert_rules.rules_of(team)
    )


def finding_of(rules: Sequence[RuleLine]) -> Sentence:
    """What fires; else how much is watched."""
    firing = [line for line in rules if line.open_event]
    watched = sum(line.rule.is_on for line in rules)
    if firing:
        first = firing[0].open_event
        more = say(" And ", count(len(firing) - 1, "other alert", "other alerts", "#events"), ".") if firing[1:] else ()
        return (*say(f"{firing[0].title}: {first.opened_by if first else ''}"), *more)
    if not watched:
        return say("Nothing is watched yet: turn on an alert below.")
    return say(
        "Nothing fires; ",
        count(watched, "alert", "alerts", "#rules"),
        " of 5 are on." if watched > 1 else " of 5 is on.",
    )
