"""Random decision tables: small ones for brute force, large ones for speed, and tables that tile a space."""

import random
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from policy_app.kernel.conditions import Bound, Condition, InRange, Is, OneOf, Only
from policy_app.kernel.errors import EmptyCondition
from policy_app.kernel.operations import Operation
from policy_app.kernel.signals import CATALOGUE, Kind, Special
from policy_app.kernel.table import Rule, Table
from policy_app.kernel.zones import HitPolicy

#: Twelve signals of all kinds, some of which determine others.
TWELVE = (
    "zone",
    "utilization",
    "context_tokens",
    "depth",
    "tool_result_share",
    "externalize_age_calls",
    "budget_spent_ratio",
    "cache_expiry_seconds",
    "cache_cold",
    "idle_seconds",
    "host",
    "model",
)
MODELS = ("claude-*", "claude-opus-*", "claude-opus-4-5", "gpt-6", "gpt-*", "gemini-3-pro")
#: The largest bound of a whole number; shares end at 1.
ENDS = {"context_tokens": 200_000, "depth": 64, "cache_expiry_seconds": 3_600}


def random_condition(rng: random.Random, name: str, *, steps: int, wide: bool = False) -> Condition:
    """A condition on the signal; ranges end on one of `steps` places; wide ones take most of the values."""
    signal = CATALOGUE[name]
    accepts = frozenset(special for special in signal.specials if rng.random() < (0.7 if wide else 0.2))
    if accepts and not wide and rng.random() < 0.15:
        return Only(name, accepts)
    if signal.kind is Kind.FLAG:
        return Is(name, rng.random() < 0.5, accepts)
    if signal.is_number:
        return _random_range(rng, name, steps, wide, accepts)
    names: Sequence[str] = MODELS if signal.kind is Kind.NAME else signal.options
    count = len(names) - 1 if wide else rng.randint(1, max(1, len(names) - 1))
    return OneOf(name, tuple(rng.sample(names, count)), accepts)


def _random_range(rng: random.Random, name: str, steps: int, wide: bool, accepts: frozenset[Special]) -> InRange:
    while True:
        low, high = sorted((rng.randint(0, steps), rng.randint(0, steps)))
        if wide:
            low, high = rng.randint(0, steps // 4), rng.randint(3 * steps // 4, steps)
        kind = rng.randrange(4)
        low_end = None if kind == 1 else Bound(place(name, low, steps), rng.random() < 0.5)
        high_end = None if kind == 2 else Bound(place(name, high, steps), rng.random() < 0.5)
        try:
            return InRange(name, low_end, high_end, accepts)
        except EmptyCondition:
            continue


def place(name: str, step: int, steps: int) -> Decimal:
    """The number at one of `steps` equal steps along the signal."""
    if CATALOGUE[name].kind is Kind.SHARE:
        return (Decimal(step) / steps).quantize(Decimal("0.000001"))
    return Decimal(ENDS.get(name, 1_000) * step // steps)


def random_table(
    rng: random.Random,
    *,
    names: Sequence[str],
    rules: int,
    conditions: tuple[int, int],
    steps: int = 4,
    wide: bool = False,
    hit_policy: HitPolicy = HitPolicy.FIRST,
) -> Table:
    """A table of so many rules, each with between so many conditions."""
    made = []
    for index in range(rules):
        tested = rng.sample(names, min(len(names), rng.randint(*conditions)))
        when = tuple(random_condition(rng, name, steps=steps, wide=wide) for name in tested)
        made.append(Rule(f"R{index + 1}", rng.choice(list(Operation)), when))
    return Table(tuple(made), hit_policy=hit_policy)


def small_table(rng: random.Random) -> Table:
    """At most three signals and six rules: few enough situations to try all of them."""
    names = rng.sample([*TWELVE, "calls_since_compaction", "thread_kind", "window_kind"], rng.randint(1, 3))
    return random_table(
        rng,
        names=names,
        rules=rng.randint(1, 6),
        conditions=(0 if rng.random() < 0.2 else 1, len(names)),
        steps=rng.choice((2, 3, 4)),
        wide=rng.random() < 0.3,
        hit_policy=rng.choice(list(HitPolicy)),
    )


#: Twelve signals of which none says anything about another: what a tiling can be cut from.
INDEPENDENT = (
    "utilization",
    "context_tokens",
    "window_kind",
    "behind_calls",
    "depth",
    "tool_result_share",
    "externalize_age_calls",
    "budget_spent_ratio",
    "cache_expiry_seconds",
    "idle_seconds",
    "repeat_failures",
    "host",
)
#: Parts into which a tiling may cut a number.
PARTS = 64


def tiling(rng: random.Random, *, names: Sequence[str], rules: int) -> Table:
    """A `unique` table that takes every situation exactly once: the whole, cut again and again.

    Unknown and unset go with the lowest part of each signal.
    """
    tiles: list[dict[str, tuple[int, int]]] = [{}]
    while len(tiles) < rules:
        tile = tiles.pop(rng.randrange(len(tiles)))
        name = rng.choice(names)
        low, high = tile.get(name, (0, len(CATALOGUE[name].options) or PARTS))
        if high - low < 2:
            tiles.append(tile)
            continue
        cut = rng.randint(low + 1, high - 1)
        tiles += [{**tile, name: (low, cut)}, {**tile, name: (cut, high)}]
    made = (
        Rule(f"T{index + 1}", Operation.CONTINUE, tuple(_tile(name, span) for name, span in tile.items()))
        for index, tile in enumerate(tiles)
    )
    return Table(tuple(made), hit_policy=HitPolicy.UNIQUE)


def _tile(name: str, span: tuple[int, int]) -> InRange | OneOf:
    low, high = span
    signal = CATALOGUE[name]
    accepts = frozenset(signal.specials) if low == 0 else frozenset()
    if signal.options:
        return OneOf(name, signal.options[low:high], accepts)
    return InRange(
        name,
        None if low == 0 else Bound(place(name, low, PARTS)),
        None if high == PARTS else Bound(place(name, high, PARTS), inclusive=False),
        accepts,
    )


def with_condition(table: Table, index: int, condition: InRange) -> Table:
    """The table with another condition on that signal in its rule `index`."""
    rule = table.rules[index]
    when = tuple(condition if each.signal == condition.signal else each for each in rule.when)
    return replace(table, rules=(*table.rules[:index], replace(rule, when=when), *table.rules[index + 1 :]))
