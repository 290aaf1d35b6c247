"""The price book in the database: seeded once, added to, never overwritten."""

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Count, Max

from sessions_app.kernel.pricing import Price, PriceBook
from sessions_app.models import PriceRow
from sessions_app.services import price_extras, price_history

_COLUMNS = tuple(f.name for f in fields(Price))

type _Stamp = tuple[int | None, int]
_held: tuple[_Stamp, PriceBook] | None = None
#: Another process' row is seen by a hook after at most so long.
CHECK_SECONDS = 1.0
_checked_at = 0.0


@dataclass(frozen=True, slots=True)
class Seeded:
    """How many rows were added and how many were there; `differing` names rows that say something else."""

    added: int
    unchanged: int
    differing: tuple[str, ...]


@transaction.atomic
def seed(*, prices: Iterable[Price], source: str) -> Seeded:
    """Add rows that are missing. Rows that exist stay as they are, also where they differ."""
    held = {_place(p): p for p in stored()}
    fresh: list[Price] = []
    unchanged, differing = 0, list[str]()
    for price in prices:
        there = held.get(_place(price))
        if there is None:
            fresh.append(price)
        elif told := _differences(there, price):
            differing.append(f"{price.model} from {price.valid_from:%Y-%m-%d}: {', '.join(told)}")
        else:
            unchanged += 1
    PriceRow.objects.bulk_create([PriceRow(**_values(p), source=source) for p in fresh], ignore_conflicts=True)
    transaction.on_commit(forget)
    return Seeded(len(fresh), unchanged, tuple(differing))


def _place(price: Price) -> tuple[object, ...]:
    return price.model, price.provider, price.valid_from, price.hours


def _values(price: Price) -> dict[str, Any]:
    values = asdict(price)
    del values["id"]
    return values


def _differences(there: Price, offered: Price) -> list[str]:
    """What the rows say differently, as far as it is money; prices within the tolerance of sources are the same."""
    ours, theirs = _values(there), _values(offered)
    # The least cacheable prompt is no price, and older rows lack it. A row ends where the next one begins.
    names = [name for name in ours if name not in ("min_prefix", "valid_to") and _differs(ours[name], theirs[name])]
    return [f"{name} {ours[name]}, offered {theirs[name]}" for name in names]


def _differs(ours: object, theirs: object) -> bool:
    if isinstance(ours, Decimal) and isinstance(theirs, Decimal):
        return price_history.differs(ours, theirs)
    return ours != theirs


def stored() -> list[Price]:
    """All rows of the database as prices."""
    return [_price(row) for row in PriceRow.objects.values(*_COLUMNS)]


def _price(row: dict[str, Any]) -> Price:
    # The column pads with zeros; without them sums stay as short as they are exact.
    values: dict[str, Any] = {n: v.normalize() if isinstance(v, Decimal) else v for n, v in row.items()}
    if values["min_prefix"] is None:
        values["min_prefix"] = price_extras.min_prefix(values["model"])
    return Price(**values)


def recent_price_book() -> PriceBook:
    """The book as it was at most a second ago, without a query for every hook."""
    global _checked_at
    at = time.monotonic()
    if _held is None or not _checked_at or at - _checked_at > CHECK_SECONDS:
        _checked_at = at
        return load_price_book()
    return _held[1]


def forget() -> None:
    """Look at the rows again at the next hook."""
    global _checked_at
    _checked_at = 0.0


def load_price_book() -> PriceBook:
    """The book of this process, read again when rows were added or removed (one small query)."""
    global _held
    found = PriceRow.objects.aggregate(last=Max("pk"), rows=Count("pk"))
    stamp = (found["last"], found["rows"])
    if _held is None or _held[0] != stamp:
        _held = (stamp, PriceBook(stored()))
    return _held[1]
