"""Price rows from the data of the package genai-prices. No network, no database.

A model is left out (and so stays unpriced) where a row cannot say what it costs: several tiers, no price
for text, or prices by a time of day of which we know no rule.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from decimal import Decimal
from importlib.metadata import version
from typing import Any

from genai_prices import types as package
from genai_prices.data import providers

from sessions_app.kernel import names
from sessions_app.kernel.money import EXACT
from sessions_app.kernel.pricing import Price
from sessions_app.services import price_extras, price_history
from sessions_app.services.price_history import Looked

#: Whose own models are seeded; the first provider that names a model prices it.
PROVIDERS = ("anthropic", "openai", "google", "x-ai", "deepseek", "moonshotai", "mistral", "zai", "minimax", "cursor")
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
SOURCE = f"genai-prices {version('genai-prices')}"

_LEAVES = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write_5m": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
}


class _UnsayableError(ValueError):
    """The package prices this model in a way that a row cannot express."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Rows for all names of the package's models, and "model: reason" of what was left out.

    `former` are rows of before, from the second source; `disagreements` says where it differs by more than 0.5%.
    """

    prices: tuple[Price, ...]
    former: tuple[Price, ...]
    left_out: tuple[str, ...]
    disagreements: tuple[str, ...]

    @property
    def by_source(self) -> tuple[tuple[tuple[Price, ...], str], ...]:
        """The rows with where they are from."""
        return (self.prices, SOURCE), (self.former, price_history.SOURCE)


def offer() -> Offer:
    """All rows that the installed package can fill."""
    rows: dict[str, Looked] = {}
    aliases: dict[str, Looked] = {}
    left_out: list[str] = []
    for provider, model in _models():
        try:
            dated = _dated_rows(provider, model)
            peaks = _peak_rows(model, dated)
            looked = price_history.looked_up(dated)
            looked.rows.extend(peaks)
        except _UnsayableError as reason:
            left_out.append(f"{model.id}: {reason}")
            continue
        rows.setdefault(looked.rows[0].model, looked)
        for alias in _aliases(model.match):
            aliases.setdefault(alias, looked)
    for alias, looked in aliases.items():
        rows.setdefault(alias, looked.named(alias))
    in_order = [rows[name] for name in sorted(rows)]
    return Offer(
        tuple(row for looked in in_order for row in looked.rows),
        tuple(row for looked in in_order for row in looked.former),
        tuple(left_out),
        tuple(line for looked in in_order for line in looked.disagreements),
    )


def _models() -> Iterator[tuple[str, package.ModelInfo]]:
    by_id = {provider.id: provider for provider in providers}
    for provider_id in PROVIDERS:
        for model in by_id[provider_id].models:
            # Clouds list other makers' models at their own conditions.
            if provider_id != "google" or model.id.startswith(("gemini", "gemma")):
                yield provider_id, model


def _aliases(match: object) -> Iterator[str]:
    """Exact names among the package's rules of matching; prefixes count as the name that they spell."""
    if isinstance(match, package.ClauseOr):
        for clause in match.or_:
            yield from _aliases(clause)
    elif isinstance(match, package.ClauseEquals):
        yield names.spellings(match.equals)[0]
    elif isinstance(match, package.ClauseStartsWith) and match.starts_with[-1].isalnum():
        yield names.spellings(match.starts_with)[0]


def _dated_rows(provider: str, model: package.ModelInfo) -> list[Price]:
    """One row for each stretch of time in which the package's prices are the same."""
    constraints = [c.constraint for c in (model.prices if isinstance(model.prices, list) else ())]
    fast = [v.constraint for v in model.price_variants or () if v.when == {"speed": "fast"}]
    starts = sorted(
        {EARLIEST} | {_midnight(c) for c in (*constraints, *fast) if isinstance(c, package.StartDateConstraint)}
    )
    ends = [*starts[1:], None]
    return [_row(provider, model, start, end) for start, end in zip(starts, ends, strict=True)]


def _peak_rows(model: package.ModelInfo, dated: list[Price]) -> list[Price]:
    """Rows for the dear hours of the week; of those the package knows the time of day and no weekday."""
    timed = [
        (c.constraint.start_time.hour, c.constraint.end_time.hour, c.prices)
        for c in (model.prices if isinstance(model.prices, list) else ())
        if isinstance(c.constraint, package.TimeOfDateConstraint)
    ]
    if not timed:
        return []
    base = dated[-1]
    factors = {_leaves(prices)[0].get("input", base.input) / base.input for _, _, prices in timed}
    if {(start, end) for start, end, _ in timed} != price_extras.PEAK_SPANS or factors != {price_extras.PEAK_FACTOR}:
        raise _UnsayableError("priced by time of day")
    late = [row for row in dated if row.valid_to is None or row.valid_to > price_extras.PEAK_SINCE]
    return [_at_peak(row) for row in late]


def _at_peak(row: Price) -> Price:
    dear = {leaf: getattr(row, leaf) for leaf in _LEAVES}
    dear = {leaf: price * price_extras.PEAK_FACTOR for leaf, price in dear.items() if price is not None}
    start = max(row.valid_from, price_extras.PEAK_SINCE)
    return replace(row, valid_from=start, hours=price_extras.PEAK_HOURS, **dear)


def _midnight(constraint: package.StartDateConstraint) -> datetime:
    return datetime.combine(constraint.start_date, time(), tzinfo=UTC)


def _row(provider: str, model: package.ModelInfo, start: datetime, end: datetime | None) -> Price:
    standard, fast = model.get_prices(start), model.get_prices(start, {"speed": "fast"})
    base, above, limit = _leaves(standard)
    if "input" not in base or "output" not in base:
        raise _UnsayableError("no price for text")
    multiplier = _multiplier(base, _leaves(fast)[0])
    name = names.spellings(model.id)[0]
    if name in price_extras.LONG_WRITES:
        ratio = price_extras.LONG_WRITES[name]
        base["cache_write_1h"] = base["input"] * ratio
        if "input" in above:
            above["cache_write_1h"] = above["input"] * ratio
    searches = standard.__dict__.get("web_searches_kcount")
    rates: dict[str, Any] = base | {f"above_{leaf}": price for leaf, price in above.items()}
    return Price(
        model=name,
        provider=provider,
        valid_from=start,
        valid_to=end,
        above_tokens=limit,
        fast_multiplier=multiplier,
        web_search_usd=EXACT.scaleb(searches, -3) if isinstance(searches, Decimal) else None,
        window=_window(provider, name, model.context_window),
        **rates,
    )


def _leaves(prices: package.ModelPrice) -> tuple[dict[str, Decimal], dict[str, Decimal], int | None]:
    """Prices below and above the limit, by leaf, and the limit."""
    base: dict[str, Decimal] = {}
    above: dict[str, Decimal] = {}
    limits: set[int] = set()
    for leaf, key in _LEAVES.items():
        price = prices.__dict__.get(key)
        if isinstance(price, Decimal):
            base[leaf] = price
        elif price is not None:
            if len(price.tiers) != 1:
                raise _UnsayableError("several tiers")
            base[leaf], above[leaf] = price.base, price.tiers[0].price
            limits.add(price.tiers[0].start)
    if len(limits) > 1:
        raise _UnsayableError("tiers with different limits")
    return base, above, next(iter(limits), None)


def _multiplier(standard: dict[str, Decimal], fast: dict[str, Decimal]) -> Decimal | None:
    """The one factor by which fast mode is dearer; None without fast mode or where leaves differ."""
    factors = {fast[leaf] / price for leaf, price in standard.items() if price}
    return factors.pop() if len(factors) == 1 and factors != {Decimal(1)} else None


def _window(provider: str, name: str, stated: int | None) -> int | None:
    if stated is None:
        return price_extras.WINDOWS.get(name)
    return price_extras.PROMPT_WINDOWS.get((provider, stated), stated)
