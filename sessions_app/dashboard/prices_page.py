"""Prices: what each model costs now and cost before, what is used without a price, and what a new row changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation

from django.utils.dateparse import parse_date

from ecm_site.common.problems import DomainError
from sessions_app.dashboard.scope import Scope
from sessions_app.kernel import names
from sessions_app.kernel.pricing import Price
from sessions_app.models import Membership, Organisation, PriceRow, Repricing, Role, Viewer
from sessions_app.services import pricing_rows
from sessions_app.services.prices import load_price_book

MOST_MODELS = 200
FIELDS = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")


@dataclass(frozen=True, slots=True)
class Unpriced:
    """A model in use without a price, and the priced ones whose names are nearest."""

    model: str
    calls: int
    near: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PricesPage:
    """All that the template shows."""

    now: datetime
    text: str
    rows: tuple[PriceRow, ...]
    more: int
    unpriced: tuple[Unpriced, ...]
    #: The organisation whose multiplier the person may state; None for everybody else.
    administered: Organisation | None
    organisation: Organisation | None


@dataclass(frozen=True, slots=True)
class PricePage:
    """The history of one model."""

    model: str
    rows: tuple[PriceRow, ...]
    runs: tuple[Repricing, ...]
    #: The id of the row that holds now.
    current: int | None


def administered(user: Viewer) -> Organisation | None:
    """The organisation whose administrator somebody is."""
    mine = Membership.objects.filter(user_id=user.pk or 0, team=None, role=Role.ADMIN).select_related("organisation")
    first = mine.order_by("organisation").first()
    return first.organisation if first else None


def prices_page(user: Viewer, scope: Scope, parameters: Mapping[str, str], now: datetime) -> PricesPage:
    """The rows in force, filtered by a part of the name."""
    text = parameters.get("model", "").replace("\0", "").strip()[:120]
    began = PriceRow.objects.filter(valid_from__lte=now, hours="")
    if text:
        began = began.filter(model__icontains=names.normalise(text) or text)
    newest = began.order_by("model", "-valid_from", "-pk").distinct("model")
    rows = list(newest[: MOST_MODELS + 1])
    mine = (
        Membership.objects.filter(user_id=user.pk or 0).select_related("organisation").order_by("organisation").first()
    )
    return PricesPage(
        now=now,
        text=text,
        rows=tuple(rows[:MOST_MODELS]),
        more=max(newest.count() - MOST_MODELS, 0) if len(rows) > MOST_MODELS else 0,
        unpriced=tuple(Unpriced(m, n, _near(m)) for m, n in pricing_rows.unpriced_in_use(scope.team.ids) if m),
        administered=administered(user),
        organisation=mine.organisation if mine else None,
    )


def _near(model: str) -> tuple[str, ...]:
    """Priced models that share the longest start of the name, the newest names first."""
    name = names.normalise(model)
    known = set(PriceRow.objects.values_list("model", flat=True).distinct())
    for length in range(len(name), 2, -1):
        found = sorted((k for k in known if k.startswith(name[:length])), reverse=True)
        if found:
            return tuple(found[:6])
    return ("claude-sonnet-4-5",) if "claude-sonnet-4-5" in known else tuple(sorted(known)[:6])


def price_page(model: str, now: datetime) -> PricePage | None:
    """All rows of a model, the newest first; None where there are none."""
    rows = tuple(PriceRow.objects.filter(model=model).order_by("-valid_from", "-pk"))
    if not rows:
        return None
    current = load_price_book().price(model, now)
    runs = Repricing.objects.filter(price_row__in=rows).select_related("price_row").order_by("-pk")[:20]
    return PricePage(model, rows, tuple(runs), current.id if current else None)


def price_of_form(form: Mapping[str, str], now: datetime) -> Price:
    """The row that a form describes; the refusal names the field."""
    day = parse_date(form.get("valid_from", "")) if form.get("valid_from") else now.date()
    if day is None:
        raise DomainError("bad_valid_from", "Valid from is a day such as 2026-12-01.", pointer="valid_from")
    rates = {name: _usd(form, name) for name in FIELDS}
    if rates["input"] is None or rates["output"] is None:
        raise DomainError("bad_input", "Input and output need a price in dollars per million tokens.", pointer="input")
    start = datetime(day.year, day.month, day.day, tzinfo=now.tzinfo)
    return Price(
        model=form.get("model", ""),
        valid_from=start,
        input=rates["input"],
        output=rates["output"],
        provider=form.get("provider", "").replace("\0", "").strip()[:60],
        cache_read=rates["cache_read"],
        cache_write_5m=rates["cache_write_5m"],
        cache_write_1h=rates["cache_write_1h"],
    )


def _usd(form: Mapping[str, str], name: str) -> Decimal | None:
    text = form.get(name, "").strip().lstrip("$")
    if not text:
        return None
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise DomainError(f"bad_{name}", f"{name} is a number such as 3 or 0.30.", pointer=name) from error
