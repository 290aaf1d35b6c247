"""Price calls again by a new row, session by session, in the background; each call keeps its figure of before.

One transaction a session holds calls, sums and parts together, so that pages are right at any moment of it.
"""

from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.db.models import F

from sessions_app.kernel import names
from sessions_app.kernel.calls_sent import evidence_of
from sessions_app.kernel.facts import Leaves
from sessions_app.kernel.pricing import PriceBook
from sessions_app.models import Call, Repricing, UsageSlot
from sessions_app.services import folding, store
from sessions_app.services.locks import lock_session
from sessions_app.services.prices import load_price_book

#: Sessions in one go of the task; the rest is left to the next one.
BATCH = 200
ZERO = Decimal()


def run(*, repricing_id: int, now: datetime, batch: int = BATCH) -> bool:
    """Go on with a run; True when nothing is left. A session that is being folded is waited for by the next go."""
    job = Repricing.objects.select_related("price_row").get(pk=repricing_id)
    if job.finished_at is not None:
        return True
    models = [m for m in _models() if job.price_row.model in names.spellings(m)]
    slots = UsageSlot.objects.filter(model__in=models, session_id__gt=job.cursor)
    slots = slots.filter(slot_at__gte=job.price_row.valid_from - timedelta(minutes=15))
    ids = list(slots.order_by("session_id").values_list("session_id", flat=True).distinct()[:batch])
    book = load_price_book()
    for session_id in ids:
        if not _session(job, session_id, models, book, now):
            return False
    if len(ids) < batch:
        Repricing.objects.filter(pk=job.pk).update(finished_at=now)
        return True
    return False


def waiting() -> list[int]:
    """Runs that are not through."""
    return list(Repricing.objects.filter(finished_at=None).order_by("pk").values_list("pk", flat=True))


def _models() -> list[str]:
    return list(UsageSlot.objects.order_by("model").values_list("model", flat=True).distinct())


@transaction.atomic
def _session(job: Repricing, session_id: int, models: list[str], book: PriceBook, now: datetime) -> bool:
    if not lock_session(session_id):
        return False
    calls = Call.objects.filter(session=session_id, model__in=models, started_at__gte=job.price_row.valid_from)
    changed = {call.pk: call for call in calls if _changes(call, book)}
    if changed:
        rows = Call.objects.filter(pk__in=changed)
        rows.update(former_cost_usd=F("cost_usd"), former_price_row=F("price_row"))
        store.mark_dirty([session_id], now)
        folding.fold_session(session_id=session_id, now=now)
        before = sum((call.cost_usd for call in changed.values() if call.cost_usd is not None), ZERO)
        after = sum((cost for cost in rows.values_list("cost_usd", flat=True) if cost is not None), ZERO)
        Repricing.objects.filter(pk=job.pk).update(
            sessions=F("sessions") + 1,
            calls=F("calls") + len(changed),
            before_usd=F("before_usd") + before,
            after_usd=F("after_usd") + after,
        )
    Repricing.objects.filter(pk=job.pk).update(cursor=session_id)
    return True


def _changes(call: Call, book: PriceBook) -> bool:
    evidence = evidence_of(call.evidence)
    leaves = Leaves(
        call.uncached_input,
        call.cache_read,
        call.cache_write_5m,
        call.cache_write_1h,
        call.output,
        call.cache_write_unknown_ttl,
    )
    fast, searches = bool(evidence.get("fast")), int(evidence.get("web_searches", 0))
    charge = book.charge(call.model, call.started_at, leaves, ended=call.ended_at, fast=fast, web_searches=searches)
    return (charge.cost_usd if charge else None) != call.cost_usd
