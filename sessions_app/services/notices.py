"""Messages on their way: written with what they tell, sent after the commit, tried again until given up.

A message may arrive twice where a worker dies between sending and noting it; it is never lost in silence.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Q

from ecm_site.common.enqueue import enqueue_on_commit
from sessions_app.models import AlertEvent, AlertTarget, Notice, Occasion, TargetKind, Team
from sessions_app.services import outgoing
from sessions_app.services.outgoing import Answer

MOST_ATTEMPTS = 6
#: Minutes until the next attempt: 1, 2, 4, 8, 16.
FIRST_WAIT = timedelta(minutes=1)
#: How long a worker may take before another one tries.
LEASE = timedelta(minutes=2)
MOST_AT_ONCE = 100
LONGEST_SUBJECT = 200


def write(
    *,
    team: Team,
    targets: Iterable[AlertTarget],
    occasion: Occasion,
    subject: str,
    text: str,
    now: datetime,
    event: AlertEvent | None = None,
) -> list[Notice]:
    """Write a message to each target; sent when the caller's transaction is through."""
    rows = Notice.objects.bulk_create(
        Notice(
            team=team,
            target=target,
            shown=f"{target.kind} {target.shown}",
            event=event,
            occasion=occasion,
            # A line break would begin a header of a mail.
            subject=" ".join(subject.split())[:LONGEST_SUBJECT],
            text=text,
            made_at=now,
            due_at=now,
        )
        for target in targets
    )
    for row in rows:
        enqueue_on_commit("sessions_app.send_notice", row.pk)
    return rows


def deliver_due(*, now: datetime) -> int:
    """Send what is due, the oldest first; returns how many were tried."""
    due = Notice.objects.filter(due_at__lte=now).order_by("due_at", "pk").values_list("pk", flat=True)
    return sum(deliver(notice_id=pk, now=now) for pk in due[:MOST_AT_ONCE])


def deliver(*, notice_id: int, now: datetime) -> bool:
    """Try one message that is due; False where it is not, or where somebody else has it."""
    notice = _claim(notice_id, now)
    if notice is None:
        return False
    answer = _send(notice)
    notice.outcome = answer.said
    if answer.is_taken:
        notice.delivered_at, notice.due_at = now, None
    elif notice.attempts >= MOST_ATTEMPTS or notice.target is None:
        notice.due_at = None
    else:
        notice.due_at = now + FIRST_WAIT * 2 ** (notice.attempts - 1)
    notice.save(update_fields=["outcome", "delivered_at", "due_at"])
    return True


@transaction.atomic
def _claim(notice_id: int, now: datetime) -> Notice | None:
    held = Notice.objects.select_for_update(skip_locked=True, of=("self",)).select_related("target", "event")
    notice = held.filter(Q(pk=notice_id, due_at__lte=now)).first()
    if notice is not None:
        notice.attempts += 1
        notice.due_at = now + LEASE
        notice.save(update_fields=["attempts", "due_at"])
    return notice


def _send(notice: Notice) -> Answer:
    target = notice.target
    if target is None:
        return Answer(False, "The target was removed.")
    if target.kind == TargetKind.MAIL:
        return _mail(notice, target.address)
    body = slack_body(notice) if target.kind == TargetKind.SLACK else webhook_body(notice)
    return outgoing.post_json(target.address, body, may_be_private=settings.ALERT_PRIVATE)


def _mail(notice: Notice, address: str) -> Answer:
    try:
        EmailMessage(notice.subject, notice.text, settings.DEFAULT_FROM_EMAIL, [address]).send()
    except (OSError, ValueError) as error:  # smtplib's errors are OSErrors
        return Answer(False, f"The mail server did not take it ({type(error).__name__}).")
    return Answer(True, "Taken by the mail server.")


def webhook_body(notice: Notice) -> dict[str, object]:
    """`{"id", "occasion", "team", "subject", "text", "kind", "event", "threshold", "measured", "opened_at",
    "closed_at"}`; the last six only of an alert, figures as decimal strings."""
    body: dict[str, object] = {
        "id": notice.pk,
        "occasion": notice.occasion,
        "team": notice.team.slug,
        "subject": notice.subject,
        "text": notice.text,
    }
    event = notice.event
    if event is not None:
        body |= {
            "kind": event.rule.kind,
            "event": event.pk,
            "threshold": str(event.threshold),
            "measured": None if event.measured is None else str(event.measured),
            "opened_at": event.opened_at.isoformat(),
            "closed_at": event.closed_at.isoformat() if event.closed_at else None,
        }
    return body


def slack_body(notice: Notice) -> dict[str, object]:
    """A message for Slack's incoming webhooks; signs that would mention or link are made harmless."""
    return {"text": f"*{_plain(notice.subject)}*\n{_plain(notice.text)}"}


def _plain(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
