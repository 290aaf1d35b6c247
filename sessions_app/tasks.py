"""Thin Celery doors: ids in, one service call."""

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from ecm_site.common.enqueue import send
from sessions_app.services import alerting, explaining, folding, ingest, letters, marking, notices, repricing


@shared_task(
    name="sessions_app.fold_session",
    autoretry_for=folding.PASSING,
    retry_backoff=True,
    retry_jitter=True,
    max_retries=5,
    ignore_result=True,
)
def fold_session(session_id: int) -> None:
    """Fold one session; a passing failure is tried again."""
    folding.attempt(session_id=session_id, now=timezone.now())


@shared_task(name="sessions_app.sweep_dirty", ignore_result=True)
def sweep_dirty() -> int:
    """Fold what a lost message left waiting; the broker only shortens the wait."""
    now = timezone.now()
    # One that was folded just now has its message on the way.
    older_than = now - 2 * ingest.REST - timedelta(seconds=1)
    return folding.fold_all(folding.dirty_ids(limit=200, older_than=older_than), now)


@shared_task(name="sessions_app.explain_misses", ignore_result=True)
def explain_misses(limit: int = 200) -> int:
    """Work out calls that no fold left explained: those of before an update of the ledger."""
    return explaining.explain_waiting(limit=limit)


@shared_task(name="sessions_app.reprice", ignore_result=True)
def reprice(repricing_id: int) -> bool:
    """Go on with pricing calls again by a new row; what is left is taken up by the next go."""
    done = repricing.run(repricing_id=repricing_id, now=timezone.now())
    if not done:
        send("sessions_app.reprice", repricing_id)
    return done


@shared_task(name="sessions_app.tend_ledger", ignore_result=True)
def tend_ledger() -> None:
    """Runs that a lost message left, and markers for what changed."""
    for repricing_id in repricing.waiting():
        send("sessions_app.reprice", repricing_id)
    marking.notice(now=timezone.now())


@shared_task(name="sessions_app.judge_alerts", ignore_result=True)
def judge_alerts() -> int:
    """Judge all rules that are on; what opened or closed is told."""
    return alerting.judge_all(now=timezone.now())


@shared_task(name="sessions_app.send_notice", ignore_result=True)
def send_notice(notice_id: int) -> None:
    """Send one message at once."""
    notices.deliver(notice_id=notice_id, now=timezone.now())


@shared_task(name="sessions_app.send_notices", ignore_result=True)
def send_notices() -> int:
    """Send what is due: retries, and what a lost message left."""
    return notices.deliver_due(now=timezone.now())


@shared_task(name="sessions_app.write_letters", ignore_result=True)
def write_letters() -> int:
    """On Mondays: the mail of the week before, once for each team that wants it."""
    return letters.write_due(now=timezone.now())
