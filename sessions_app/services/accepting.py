"""Losses that a team accepts: until a day, or until they have grown by half."""

from datetime import date, datetime, timedelta
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.db.models import OuterRef, QuerySet, Subquery, Sum

from ecm_site.common.problems import DomainError
from sessions_app.kernel.causes import PART_OF, Cause, Part
from sessions_app.models import AcceptedLoss, MissSlot, Project, Team

WINDOW = timedelta(days=30)
LONGEST = timedelta(days=366)


@transaction.atomic
def accept(
    *, team: Team, cause: str, project: Project | None, reason: str, owner: str, until: date, by: str, now: datetime
) -> AcceptedLoss:
    """Accept a cause in a project, or in all of a team; it is told again when its 30 days cost half as much more."""
    if cause not in {c.value for c in Cause if PART_OF[c] is not Part.EXPECTED}:
        raise DomainError("bad_cause", "cause is that of an avoidable or unexplained loss.", pointer="cause")
    reason, owner = reason.strip(), owner.strip()
    if not reason or len(reason) > 400 or "\0" in reason:
        raise DomainError("bad_reason", "Say why it is accepted, in at most 400 characters.", pointer="reason")
    if not owner or len(owner) > 150 or "\0" in owner:
        raise DomainError("bad_owner", "Say who looks after it.", pointer="owner")
    if not now.date() < until <= now.date() + LONGEST:
        raise DomainError("bad_until", "until is a day within the coming year.", pointer="until")
    try:
        with transaction.atomic():
            return AcceptedLoss.objects.create(
                team=team,
                cause=cause,
                project=project,
                monthly_usd=monthly(team, cause, project, now),
                reason=reason,
                owner=owner,
                until=until,
                accepted_at=now,
                accepted_by=by[:150],
            )
    except IntegrityError as error:
        raise DomainError("already_accepted", "This loss is accepted already: withdraw that first.", 409) from error


@transaction.atomic
def withdraw(*, loss: AcceptedLoss, by: str, now: datetime) -> None:
    """End an acceptance; the row stays."""
    AcceptedLoss.objects.filter(pk=loss.pk, withdrawn_at=None).update(withdrawn_at=now, withdrawn_by=by[:150])


def monthly(team: Team, cause: str, project: Project | None, now: datetime) -> Decimal:
    """What the cause cost in the last 30 days."""
    slots = MissSlot.objects.filter(session__team=team, cause=cause, slot_at__gte=now - WINDOW, slot_at__lt=now)
    if project is not None:
        slots = slots.filter(session__project=project)
    return slots.aggregate(usd=Sum("cost_usd"))["usd"] or Decimal()


def with_monthly(losses: QuerySet[AcceptedLoss], now: datetime) -> QuerySet[AcceptedLoss]:
    """Losses of whole teams, each with `now_usd` as by `monthly`: one query for all."""
    slots = MissSlot.objects.filter(
        session__team=OuterRef("team"), cause=OuterRef("cause"), slot_at__gte=now - WINDOW, slot_at__lt=now
    )
    sums = slots.order_by().values("cause").annotate(usd=Sum("cost_usd")).values("usd")
    return losses.annotate(now_usd=Subquery(sums))


def why_back(loss: AcceptedLoss, monthly_usd: Decimal, today: date) -> str:
    """Why an accepted loss is told again; empty while it is quiet."""
    if today > loss.until:
        return "its day has passed"
    if monthly_usd * 2 > loss.monthly_usd * 3:
        return "it has grown by half"
    return ""
