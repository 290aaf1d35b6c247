"""New price rows by administrators: checked, added, never changed; and what a row sets in motion."""

from collections.abc import Collection
from dataclasses import fields, replace
from datetime import UTC, datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import Max, Sum

from ecm_site.common.enqueue import enqueue_on_commit
from ecm_site.common.problems import DomainError
from sessions_app.kernel import hours, names, times
from sessions_app.kernel.pricing import Price
from sessions_app.models import Organisation, PriceRow, Repricing, UsageSlot
from sessions_app.services.prices import load_price_book

REPRICE = "sessions_app.reprice"
MOST_USD = Decimal(10) ** 7
#: Columns hold so many decimals; cost in millionths of them stays exact.
DECIMALS, MULTIPLIER_DECIMALS = 6, 2
RATES = (
    *("input", "output", "cache_read", "cache_write_5m", "cache_write_1h"),
    *("above_input", "above_output", "above_cache_read", "above_cache_write_5m", "above_cache_write_1h"),
)


@transaction.atomic
def add(*, price: Price, source: str, by: str, now: datetime) -> Repricing:
    """Add a row and price again, in the background, what it concerns. A row of the same day is corrected by it."""
    price = _checked(price)
    source = source.strip()
    if not source or len(source) > 120 or "\0" in source:
        raise DomainError(
            "bad_source", "source says where the prices are from, in at most 120 characters.", pointer="source"
        )
    day = {"valid_from": price.valid_from, "hours": price.hours}
    same = PriceRow.objects.filter(model=price.model, provider=price.provider, **day)
    held = same.aggregate(last=Max("revision"))["last"]
    values = {f.name: getattr(price, f.name) for f in fields(Price) if f.name != "id"}
    row = PriceRow.objects.create(
        **values,
        source=source,
        checked_at=now.date(),
        added_at=now,
        added_by=by[:150],
        revision=0 if held is None else held + 1,
    )
    run = Repricing.objects.create(price_row=row, requested_at=now, requested_by=by[:150])
    enqueue_on_commit(REPRICE, run.pk)
    return run


def add_like(*, model: str, like: str, by: str, now: datetime) -> Repricing:
    """Price a model as another one is priced now, from the beginning."""
    price = load_price_book().price(like, now)
    if price is None:
        raise DomainError("unknown_model", f"{like} has no price now.", pointer="like")
    start = datetime(1970, 1, 1, tzinfo=UTC)
    copied = replace(price, model=model, valid_from=start, valid_to=None, id=None)
    return add(price=copied, source=f"as {price.model}", by=by, now=now)


def _checked(price: Price) -> Price:
    model = names.spellings(price.model)[0] if price.model.strip() else ""
    if not model or len(model) > 120 or "\0" in model:
        raise DomainError("bad_model", "model is the name of a model, at most 120 characters.", pointer="model")
    if not times.is_kept(price.valid_from):
        raise DomainError("bad_valid_from", "valid_from is a time with a zone, from 1970 on.", pointer="valid_from")
    if price.valid_to is not None and not (times.is_kept(price.valid_to) and price.valid_to > price.valid_from):
        raise DomainError("bad_valid_to", "valid_to is a time with a zone, after valid_from.", pointer="valid_to")
    _hours(price.hours)
    for name in (*RATES, "web_search_usd"):
        _usd(name, getattr(price, name), DECIMALS)
    _usd("fast_multiplier", price.fast_multiplier, MULTIPLIER_DECIMALS)
    for name in ("above_tokens", "window", "min_prefix"):
        count = getattr(price, name)
        if count is not None and not 0 < count < 1 << 31:
            raise DomainError(f"bad_{name}", f"{name} is a number of tokens.", pointer=name)
    if any(getattr(price, name) is not None for name in RATES if name.startswith("above_")) and not price.above_tokens:
        raise DomainError(
            "bad_above_tokens", "above_tokens says from where the above_ prices hold.", pointer="above_tokens"
        )
    return replace(price, model=model)


def _hours(text: str) -> None:
    try:
        if len(text) > 1_000:
            raise ValueError
        if text:
            hours.parsed(text)
    except ValueError:
        message = "hours are as mon-fri 01:00-04:00 06:00-10:00, in UTC; days that do not count stand behind not."
        raise DomainError("bad_hours", message, pointer="hours") from None


def _usd(name: str, amount: Decimal | None, decimals: int) -> None:
    if amount is None:
        return
    exponent = amount.as_tuple().exponent
    if not isinstance(exponent, int) or amount < 0 or amount > MOST_USD or -exponent > decimals:
        message = f"{name} is a number from 0 to {MOST_USD:f} with at most {decimals} decimals."
        raise DomainError(f"bad_{name}", message, pointer=name)


@transaction.atomic
def set_multiplier(*, organisation: Organisation, multiplier: Decimal) -> None:
    """State what the company pays of list prices; sums stay at list price, the product is shown beside."""
    if not multiplier.is_finite() or not 0 < multiplier <= 10:
        raise DomainError(
            "bad_multiplier", "The multiplier is above 0 and at most 10, such as 0.85.", pointer="multiplier"
        )
    Organisation.objects.filter(pk=organisation.pk).update(price_multiplier=multiplier.quantize(Decimal("0.0001")))


def unpriced_in_use(team_ids: Collection[int]) -> list[tuple[str, int]]:
    """(model, calls) of what has no price, the most used first."""
    slots = UsageSlot.objects.filter(session__team_id__in=team_ids, unpriced_calls__gt=0)
    rows = slots.values("model").annotate(n=Sum("unpriced_calls")).order_by("-n", "model")
    return [(row["model"], row["n"]) for row in rows[:50]]
