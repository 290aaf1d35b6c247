"""What people set: rules, mutes, targets, and whether the weekly mail goes out."""

from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from ecm_site.common.problems import DomainError
from policy_app.services import auditing
from policy_app.services.actors import Actor
from policy_app.services.locks import lock_organisation
from sessions_app.kernel.alerts import AlertKind
from sessions_app.models import AlertEvent, AlertRule, AlertTarget, Letter, Notice, Occasion, TargetKind, Team
from sessions_app.services import alerting, notices, outgoing

#: Where a rule stands that nobody set: percentage points, USD a day, per 100 calls, percent, working hours.
USUAL = {
    AlertKind.HIT_RATIO: Decimal(15),
    AlertKind.AVOIDABLE: Decimal(10),
    AlertKind.COMPACTION: Decimal(5),
    AlertKind.BUDGET: Decimal(80),
    AlertKind.SILENT: Decimal(24),
}
LARGEST = Decimal(1_000_000_000)
MUTES = {"1": timedelta(hours=1), "24": timedelta(days=1), "168": timedelta(days=7)}
MOST_TARGETS = 20
#: Tests of one team that may wait or go out within a minute: a button is no hose.
MOST_TESTS = 5


def rules_of(team: Team) -> list[AlertRule]:
    """All five of a team; those that nobody set as they would stand, off and not stored."""
    held = {rule.kind: rule for rule in AlertRule.objects.filter(team=team)}
    return [held.get(kind) or AlertRule(team=team, kind=kind, threshold=USUAL[kind]) for kind in AlertKind]


@transaction.atomic
def set_rule(
    *, team: Team, kind: str, threshold: str, ceiling: str, is_on: bool, actor: Actor, now: datetime
) -> AlertRule:
    """Write one rule. Refused: `bad_kind`, `bad_threshold`, `bad_ceiling`. Turned off, its alert is over."""
    chosen = _kind(kind)
    amount = _amount(threshold, "threshold")
    limit = None
    if chosen is AlertKind.BUDGET and (ceiling.strip() or is_on):
        limit = _amount(ceiling, "ceiling")
    rule, _ = AlertRule.objects.update_or_create(
        team=team,
        kind=chosen,
        defaults={
            "threshold": amount,
            "ceiling_usd": limit,
            "is_on": is_on,
            "changed_at": now,
            "changed_by": actor.name[:150],
        },
    )
    event = None if is_on else AlertEvent.objects.filter(rule=rule, closed_at=None).select_related("rule__team").first()
    if event is not None:
        alerting.close(event=event, reason="The rule was turned off.", now=now)
    told = f"{amount}, {'on' if is_on else 'off'}" + (f", ceiling {limit} USD" if limit else "")
    _audit(team, actor, "alert.set", f"alert/{team.slug}/{chosen}", told, now)
    return rule


@transaction.atomic
def mute(*, team: Team, kind: str, hours: str, actor: Actor, now: datetime) -> datetime | None:
    """Tell nothing of a rule for some hours ("0": speak again). Refused: `bad_kind`, `bad_hours`, `not_set`."""
    if hours != "0" and hours not in MUTES:
        raise DomainError("bad_hours", f"hours is one of 0, {', '.join(MUTES)}.")
    chosen, until = _kind(kind), None if hours == "0" else now + MUTES[hours]
    if not AlertRule.objects.filter(team=team, kind=chosen).update(muted_until=until):
        raise DomainError("not_set", "Set the rule first; there is nothing to mute yet.")
    act = "alert.muted" if until else "alert.unmuted"
    _audit(team, actor, act, f"alert/{team.slug}/{chosen}", f"for {hours} hours", now)
    return until


@transaction.atomic
def add_target(*, team: Team, kind: str, address: str, actor: Actor, now: datetime) -> AlertTarget:
    """Add where messages go. Refused: `bad_target`, `bad_address`, `too_many_targets`."""
    address = address.strip()
    if kind not in TargetKind.values:
        raise DomainError("bad_target", f"kind is one of {', '.join(TargetKind.values)}.")
    shown = _shown_mail(address) if kind == TargetKind.MAIL else _shown_url(address)
    Team.objects.select_for_update().get(pk=team.pk)
    if AlertTarget.objects.filter(team=team).count() >= MOST_TARGETS:
        raise DomainError("too_many_targets", f"A team has at most {MOST_TARGETS} targets; remove one first.", 409)
    given = {"shown": shown, "made_at": now, "made_by": actor.name[:150]}
    target, is_new = AlertTarget.objects.get_or_create(team=team, kind=kind, address=address, defaults=given)
    if is_new:
        _audit(team, actor, "target.added", f"target/{team.slug}/{target.pk}", f"{kind} {shown}", now)
    return target


@transaction.atomic
def remove_target(*, target: AlertTarget, actor: Actor, now: datetime) -> None:
    """Send nothing there any more; what was sent stays in the history."""
    _audit(target.team, actor, "target.removed", f"target/{target.team.slug}/{target.pk}", str(target), now)
    target.delete()


@transaction.atomic
def test(*, target: AlertTarget, now: datetime) -> Notice:
    """Send a message that says that it is a test. Refused: `too_many_tests`."""
    minute = now - timedelta(minutes=1)
    if Notice.objects.filter(team=target.team, occasion=Occasion.TEST, made_at__gt=minute).count() >= MOST_TESTS:
        raise DomainError("too_many_tests", "Five tests within a minute; wait a moment.", 429)
    text = "This is a test. An alert of this team would arrive here.\n"
    subject = f"[ECM {target.team.name}] Test"
    return notices.write(
        team=target.team, targets=[target], occasion=Occasion.TEST, subject=subject, text=text, now=now
    )[0]


@transaction.atomic
def want_letter(*, team: Team, is_on: bool, actor: Actor, now: datetime) -> None:
    """Turn the weekly mail of a team on or off."""
    Letter.objects.update_or_create(team=team, defaults={"is_on": is_on})
    _audit(team, actor, "letter.set", f"letter/{team.slug}", "on" if is_on else "off", now)


def _audit(team: Team, actor: Actor, action: str, subject: str, reason: str, now: datetime) -> None:
    lock_organisation(team.organisation_id)
    auditing.record(actor=actor, action=action, subject=subject, reason=reason, now=now)


def _kind(kind: str) -> AlertKind:
    if kind not in set(AlertKind):
        raise DomainError("bad_kind", f"kind is one of {', '.join(AlertKind)}.")
    return AlertKind(kind)


def _amount(text: str, name: str) -> Decimal:
    try:
        amount = Decimal(text.strip())
    except InvalidOperation:
        raise DomainError(f"bad_{name}", f"{name} is a number, such as 10 or 2.50.") from None
    if not amount.is_finite() or not Decimal("0.01") <= amount <= LARGEST:
        raise DomainError(f"bad_{name}", f"{name} is a number from 0.01 to {LARGEST:,}.")
    return amount.quantize(Decimal("0.01"))


def _shown_mail(address: str) -> str:
    try:
        validate_email(address)
    except ValidationError:
        raise DomainError("bad_address", "This is no mail address.") from None
    name, _, domain = address.rpartition("@")
    return f"{name[0]}…@{domain}"[:300]


def _shown_url(address: str) -> str:
    parts = outgoing.checked_url(address)
    return f"{parts.scheme}://{parts.hostname}/…"[:300]
