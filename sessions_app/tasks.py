"""Thin Celery doors: ids in, one service call."""

from datetime import timedelta

from celery import shared_task
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from sessions_app.services import folding

#: What a fold may meet and get over by itself.
PASSING = (OperationalError, InterfaceError)


@shared_task(
    name="sessions_app.fold_session",
    autoretry_for=PASSING,
    retry_backoff=True,
    retry_jitter=True,
    max_retries=5,
    ignore_result=True,
)
def fold_session(session_id: int) -> None:
    """Fold one session; anything but a passing failure parks it."""
    try:
        folding.fold_session(session_id=session_id, now=timezone.now())
    except PASSING:
        raise
    except Exception as error:
        folding.park(session_id=session_id, error=error, now=timezone.now())


@shared_task(name="sessions_app.sweep_dirty", ignore_result=True)
def sweep_dirty() -> int:
    """Fold what a lost message left waiting; the broker only shortens the wait."""
    now = timezone.now()
    return folding.fold_all(folding.dirty_ids(limit=200, older_than=now - timedelta(seconds=1)), now)
