"""Judging alerts: four queries for all teams together, one open event per rule, told at open and at close."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum

from sessions_app.kernel.alerts import AlertKind, AlertState, Figures, Heard, Line, Verdict, judge
from sessions_app.models import AlertEvent, AlertRule, AlertTarget, Compaction, Notice, Occasion, SourceRow, UsageSlot
from sessions_app.services import notices

DAY, WEEK, HOUR = timedelta(days=1), timedelta(days=7), timedelta(hours=1)
#: A source is regular when it delivered so often and over more than a day; unheard for longer it is forgotten.
REGULAR, FORGOTTEN = 10, timedelta(days=14)

TITLES = {
    AlertKind.HIT_RATIO: "Hit ratio dropped",
    AlertKind.AVOIDABLE: "Avoidable spend",
    AlertKind.COMPACTION: "Many compactions",
    AlertKind.BUDGET: "Budget",
    AlertKind.SILENT: "A source went silent",
}


def judge_all(*, now: datetime) -> int:
    """Judge every rule that is on; returns how many alerts opened or closed."""
    rules = list(AlertRule.objects.filter(is_on=True).values_list("pk", "team_id"))
    if not rules:
        return 0
    figures = figures_of({team for _, team in rules}, now)
    return sum(_judge(pk, figures[team], now) for pk, team in rules)


def figures_of(team_ids: Collection[int], now: datetime) -> dict[int, Figures]:
    """What the rules of these teams look at."""
    heard = _sources(team_ids, now)
    found = {team: Figures(sources=heard.get(team, ())) for team in team_ids}
    for part in (_usage, _compactions, _thrash):
        for row in part(team_ids, now):
            team = row.pop("team")
            found[team] = replace(found[team], **row)
    return found


def _usage(team_ids: Collection[int], now: datetime) -> list[dict[str, Any]]:
    month = now.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    day = Q(slot_at__gte=now - DAY)
    week = Q(slot_at__gte=now - DAY - WEEK, slot_at__lt=now - DAY)
    prompt = F("uncached_input") + F("cache_read") + F("cache_write_5m") + F("cache_write_1h")
    slots = UsageSlot.objects.filter(slot_at__gte=min(month, now - DAY - WEEK), slot_at__lte=now)
    rows = slots.filter(session__team__in=team_ids).values(team=F("session__team"))
    return _dicts(
        rows.annotate(
            day_prompt=Sum(prompt, filter=day, default=0),
            day_read=Sum("cache_read", filter=day, default=0),
            week_prompt=Sum(prompt, filter=week, default=0),
            week_read=Sum("cache_read", filter=week, default=0),
            day_calls=Sum("calls", filter=day, default=0),
            day_avoidable_usd=Sum("avoidable_usd", filter=day),
            month_usd=Sum("cost_usd", filter=Q(slot_at__gte=month)),
        ).order_by()
    )


def _compactions(team_ids: Collection[int], now: datetime) -> list[dict[str, Any]]:
    rows = _completed(team_ids, now - DAY, now)
    return _dicts(rows.values(team=F("session__team")).annotate(day_compactions=Count("pk")).order_by())


def _dicts(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [dict(row) for row in rows]


def _thrash(team_ids: Collection[int], now: datetime) -> list[dict[str, Any]]:
    rows = _completed(team_ids, now - HOUR, now).values("session", team=F("session__team")).annotate(n=Count("pk"))
    most: dict[int, int] = {}
    for row in rows.order_by():
        most[row["team"]] = max(most.get(row["team"], 0), row["n"])
    return [{"team": team, "hour_most_compactions": n} for team, n in most.items()]


def _completed(team_ids: Collection[int], since: datetime, until: datetime) -> QuerySet[Compaction]:
    return Compaction.objects.filter(
        session__team__in=team_ids, at__gte=since, at__lte=until, kind="compaction", state="completed"
    )


def _sources(team_ids: Collection[int], now: datetime) -> dict[int, tuple[Heard, ...]]:
    """Versions of one source together: an update of a host is no silence."""
    rows = (
        SourceRow.objects.filter(team__in=team_ids)
        .values("team", "host", "machine", "feed")
        .annotate(first=Min("first_received_at"), last=Max("last_received_at"), n=Sum("deliveries"))
        .filter(n__gte=REGULAR, last__gte=now - FORGOTTEN, last__gt=F("first") + DAY)
        .order_by("host", "machine", "feed")
    )
    found: dict[int, list[Heard]] = defaultdict(list)
    for row in rows:
        machine = f" on {row['machine']}" if row["machine"] else ""
        found[row["team"]].append(Heard(f"{row['feed']}{machine}", row["last"].astimezone(UTC)))
    return {team: tuple(heard) for team, heard in found.items()}


@transaction.atomic
def _judge(rule_id: int, figures: Figures, now: datetime) -> bool:
    rule = AlertRule.objects.select_for_update(of=("self",)).select_related("team").filter(pk=rule_id).first()
    if rule is None or not rule.is_on:
        return False
    event = AlertEvent.objects.filter(rule=rule, closed_at=None).select_related("rule__team").first()
    line = Line(AlertKind(rule.kind), rule.threshold, rule.ceiling_usd)
    verdict = judge(line, figures, is_open=event is not None, now=now.astimezone(UTC))
    AlertRule.objects.filter(pk=rule.pk).update(judged_at=now, judged=verdict.reason)
    is_muted = rule.muted_until is not None and rule.muted_until > now
    if event is None and verdict.state is AlertState.FIRING:
        _open(rule, verdict, is_muted, now)
        return True
    if event is not None and verdict.state is AlertState.CALM:
        close(event=event, reason=verdict.reason, now=now)
        return True
    if event is not None and event.was_muted and not is_muted and not event.told_at:
        # It outlived the mute: whoever muted it for an hour wants to know.
        _tell_opened(event, verdict.reason, now)
    return False


def _open(rule: AlertRule, verdict: Verdict, is_muted: bool, now: datetime) -> None:
    event = AlertEvent.objects.create(
        rule=rule,
        opened_at=now,
        opened_by=verdict.reason,
        threshold=rule.threshold,
        measured=verdict.measured,
        was_muted=is_muted,
    )
    if not is_muted:
        _tell_opened(event, verdict.reason, now)


def _tell_opened(event: AlertEvent, reason: str, now: datetime) -> None:
    event.told_at = now
    event.save(update_fields=["told_at"])
    _tell(event, list(AlertTarget.objects.filter(team=event.rule.team)), Occasion.OPENED, reason, now)


def close(*, event: AlertEvent, reason: str, now: datetime) -> None:
    """End an open alert; who was told of its beginning is told of its end. Inside the caller's transaction."""
    event.closed_at, event.closed_by = now, reason
    event.save(update_fields=["closed_at", "closed_by"])
    told = Notice.objects.filter(event=event, occasion=Occasion.OPENED, target__isnull=False).values("target")
    _tell(event, list(AlertTarget.objects.filter(pk__in=told)), Occasion.CLOSED, reason, now)


def _tell(event: AlertEvent, targets: list[AlertTarget], occasion: Occasion, reason: str, now: datetime) -> None:
    team, title = event.rule.team, TITLES[AlertKind(event.rule.kind)]
    over = "Over: " if occasion is Occasion.CLOSED else ""
    text = f"{reason}\n\n{settings.PUBLIC_URL}/alerts/?team={team.slug}#events\n"
    subject = f"[ECM {team.name}] {over}{title}"
    notices.write(team=team, targets=targets, occasion=occasion, subject=subject, text=text, now=now, event=event)
