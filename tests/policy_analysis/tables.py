"""Small random tables over signals that say something about each other."""

from collections.abc import Sequence
from decimal import Decimal
from random import Random

from policy_app.kernel.conditions import Bound, Condition, InRange, Is, OneOf, Only
from policy_app.kernel.names import ModelPattern
from policy_app.kernel.operations import Operation
from policy_app.kernel.signals import CATALOGUE, Kind, Signal, Special
from policy_app.kernel.table import Rule, Table
from policy_app.kernel.zones import HitPolicy, Lines, WorkingWindow

#: Signals that are tied to each other by a law, and some that are not.
TIED = (
    ("zone", "utilization"),
    ("zone", "utilization", "depth"),
    ("thread_kind", "budget_spent_ratio"),
    ("cache_cold", "cache_expiry_seconds"),
    ("calls_since_compaction", "depth"),
    ("zone", "depth", "tool_result_share"),
    ("model", "idle_seconds"),
    ("host", "behind_calls"),
    ("externalize_age_calls", "zone"),
    ("model", "context_tokens", "utilization"),
    ("model", "context_tokens", "zone"),
    ("calls_since_compaction",),
    ("utilization",),
)
_SHARES = ("0.1", "0.25", "0.5", "0.75", "0.9")
_NAMES = ("claude-*", "claude-opus-*", "claude-opus-4-5", "gpt-*", "g*", "gemini-2-5-pro")
_LINES = (Lines(), Lines(Decimal("0.25"), Decimal("0.5"), Decimal("0.75")), Lines(critical=Decimal(1)))
WINDOWS = (WorkingWindow(ModelPattern("claude-opus-*"), 5), WorkingWindow(ModelPattern("claude-*"), 3))


def random_table(seed: int, *, most_rules: int = 6) -> Table:
    """A small table over one to three signals; equal seeds, equal tables."""
    random = Random(seed)
    names = random.choice(TIED)
    rules = tuple(
        Rule(
            f"r{index}",
            random.choice(list(Operation)),
            _when(random, names),
            enabled=random.random() > 0.05 or not index,
        )
        for index in range(random.randint(1, most_rules))
    )
    return Table(
        rules,
        hit_policy=random.choice(list(HitPolicy)),
        lines=random.choice(_LINES),
        working_windows=WINDOWS if "context_tokens" in names else (),
    )


def _when(random: Random, names: Sequence[str], likely: float = 0.7) -> tuple[Condition, ...]:
    return tuple(_condition(random, CATALOGUE[name]) for name in names if random.random() < likely)


def _condition(random: Random, signal: Signal) -> Condition:
    specials = frozenset(special for special in signal.specials if random.random() < 0.3)
    if specials and random.random() < 0.2:
        return Only(signal.name, specials)
    if signal.kind is Kind.FLAG:
        return Is(signal.name, random.random() < 0.5, specials)
    if signal.kind in (Kind.CHOICE, Kind.NAME):
        options = signal.options or _NAMES
        return OneOf(signal.name, tuple(random.sample(options, random.randint(1, min(3, len(options))))), specials)
    return _range(random, signal, specials)


def _range(random: Random, signal: Signal, specials: frozenset[Special]) -> InRange:
    numbers = [Decimal(share) for share in _SHARES]
    if signal.kind is Kind.WHOLE:
        numbers = [Decimal(number) for number in (1, 2, 3, 5)]
    low, high = sorted(random.sample(numbers, 2))
    if random.random() < 0.15 and signal.kind is Kind.SHARE:
        return InRange(signal.name, Bound(low), Bound(low), specials)
    ends = random.choice(((low, None), (None, high), (low, high)))
    # Both ends belong to it where it could be empty otherwise: no whole number is between 1 and 2.
    inclusive = [(signal.kind is Kind.WHOLE and None not in ends) or random.random() < 0.5 for _ in ends]
    bounds = [None if end is None else Bound(end, takes) for end, takes in zip(ends, inclusive, strict=True)]
    return InRange(signal.name, bounds[0], bounds[1], specials)
