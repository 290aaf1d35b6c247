"""What prices were before, and where a second source disagrees: from the data of the package model-prices.

Its history is that of a public collection: a row may have been wrong until somebody corrected it. So a former price
is taken over only where the change is dated by the provider's own page and the former price was recorded before that
day; every other difference is told, for an administrator to look at. No network, no database.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib.metadata import version
from typing import Any

import model_prices

from sessions_app.kernel.pricing import Price

SOURCE = f"model-prices {version('model-prices')}"
#: Two sources that differ by no more than this agree.
TOLERANCE = Decimal("0.005")
#: How the package names a maker that we spell otherwise.
_SPELLED = {"x-ai": "xai"}
_LEAVES = {"input": "input", "output": "output", "cache_read": "cache_read", "cache_write_5m": "cache_write"}
_DATED = frozenset(("documented", "first observed"))
#: Nothing was sold by the token before.
_EVER = datetime(2020, 1, 1, tzinfo=UTC)

type _Known = list[tuple[datetime, model_prices.Rates]]


@dataclass(frozen=True, slots=True)
class Looked:
    """The rows of a model as they are now, the ones before them, and what the second source says otherwise."""

    rows: list[Price]
    former: list[Price]
    disagreements: list[str]

    def named(self, alias: str) -> "Looked":
        """The same rows by another name of the model."""
        rows, former = ([replace(row, model=alias) for row in rows] for rows in (self.rows, self.former))
        return Looked(rows, former, [])


def looked_up(rows: Sequence[Price]) -> Looked:
    """Hold the rows of one model, oldest first, against its history."""
    known = _known(rows[0])
    if not known:
        return Looked(list(rows), [], [])
    former: list[Price] = []
    now = list(rows)
    # Where the first source has dates or tiers of its own, it knows more.
    change = _last_change(known) if len(rows) == 1 and rows[0].above_tokens is None else None
    if change is not None:
        at, before = change
        former = [replace(_with(rows[0], before), valid_to=at)]
        now = [replace(rows[0], valid_from=at)]
    told = [row for row in now if row.valid_from < model_prices.data_as_of()]
    return Looked(now, former, [line for row in told for line in _disagreements(row, known)])


def _known(row: Price) -> _Known:
    """The package's rates of exactly this model by when they began; empty where it prices by the time of day."""
    provider, end = _SPELLED.get(row.provider, row.provider), model_prices.data_as_of()
    found = model_prices.rates_between(row.model, _EVER, end, provider=provider)
    is_another = any(rates.removed_suffix or rates.period for _, rates in found)
    return [] if is_another else found


def _last_change(known: _Known) -> tuple[datetime, model_prices.Rates] | None:
    """The newest change of a price that is dated by the provider, with the rates before it."""
    for (_, before), (at, after) in reversed(list(itertools.pairwise(known))):
        was_recorded = datetime.fromisoformat(before.valid_from) < at - timedelta(days=1)
        if after.valid_from_basis in _DATED and was_recorded and _leaves(before).keys() == _leaves(after).keys():
            return at, before
    return None


def _leaves(rates: model_prices.Rates) -> dict[str, Decimal]:
    told = ((leaf, getattr(rates, name)) for leaf, name in _LEAVES.items())
    # As the package's floats are written: 0.1 is a tenth.
    return {leaf: Decimal(str(price).removesuffix(".0")) for leaf, price in told if price}


def _with(row: Price, rates: model_prices.Rates) -> Price:
    """The row at these rates; a class that they do not name keeps its ratio to the input."""
    leaves: dict[str, Any] = {**_leaves(rates)}
    if row.cache_write_1h is not None and row.input:
        leaves["cache_write_1h"] = leaves["input"] * row.cache_write_1h / row.input
    return replace(row, **leaves)


def _disagreements(row: Price, known: _Known) -> Iterator[str]:
    at = max(row.valid_from, known[0][0])
    rates = next(found for begun, found in reversed(known) if begun <= at)
    for leaf, theirs in _leaves(rates).items():
        ours = getattr(row, leaf)
        if ours is not None and differs(ours, theirs):
            yield f"{row.model} from {at:%Y-%m-%d}: {leaf} {ours} per million here, {theirs} in {SOURCE}"


def differs(ours: Decimal, theirs: Decimal) -> bool:
    """Whether two prices are further apart than sources may be."""
    return abs(ours - theirs) > TOLERANCE * max(ours, theirs)
