"""Time of the exact analysis of 60 rules over 12 signals, for tables of several makes.

Beside it the floor: evaluating the same table on 1,000 situations, which could still miss what the analysis proves.

Run: python -m tests.bench.analysis
"""

import random
import time
from collections.abc import Callable, Mapping
from fractions import Fraction

from policy_app.kernel.analysis import MOST_STEPS, analyse
from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.evaluate import evaluate
from policy_app.kernel.signals import HOSTS, Signals
from policy_app.kernel.table import Table
from policy_app.kernel.zones import HitPolicy
from tests.policy_kernel.tables import INDEPENDENT, TWELVE, random_table, tiling

ROUNDS = 20
RULES = 60
SITUATIONS = 1_000
LIMIT_MS = 300


def main() -> None:
    """Print the median and the worst time of each make of table, and fail above the limit."""
    slowest = 0.0
    for name, make in MAKES.items():
        tables = [make(random.Random(seed)) for seed in range(ROUNDS)]
        times = sorted(_timed(table) for table in tables)
        slowest = max(slowest, times[-1])
        middle, floor = times[len(times) // 2], _floor(tables[0])
        print(f"{name:44} median {middle:7.1f} ms   worst {times[-1]:7.1f} ms   floor {floor:7.1f} ms")
    print(f"limit {LIMIT_MS} ms: {'kept' if slowest < LIMIT_MS else 'BROKEN'}")
    if slowest >= LIMIT_MS:
        raise SystemExit(1)


def _timed(table: Table) -> float:
    started = time.perf_counter()
    found = analyse(table)
    spent = (time.perf_counter() - started) * 1000
    if found.undecided:
        raise SystemExit(f"undecided within {MOST_STEPS} steps: {found.undecided}")
    return spent


def _floor(table: Table) -> float:
    """Milliseconds for verdicts on 1,000 situations."""
    rng = random.Random(1)
    told = [
        Signals.of(
            {
                "utilization": Fraction(rng.randint(0, 110), 100),
                "depth": rng.randint(0, 4),
                "tool_result_share": Fraction(rng.randint(0, 100), 100),
                "idle_seconds": rng.randint(0, 1_000),
                "host": rng.choice(HOSTS),
                "model": "claude-opus-4-5",
            }
        )
        for _ in range(SITUATIONS)
    ]
    started = time.perf_counter()
    for signals in told:
        evaluate(table, signals)
    return (time.perf_counter() - started) * 1000


MAKES: Mapping[str, Callable[[random.Random], Table]] = {
    "default table (7 rules, 4 signals)": lambda _: DEFAULT_TABLE,
    "first: 2 to 4 conditions a rule": lambda rng: random_table(
        rng, names=TWELVE, rules=RULES, conditions=(2, 4), steps=20
    ),
    "first: 1 or 2 wide conditions a rule": lambda rng: random_table(
        rng, names=TWELVE, rules=RULES, conditions=(1, 2), steps=20, wide=True
    ),
    "first: 1 to 12 conditions a rule": lambda rng: random_table(
        rng, names=TWELVE, rules=RULES, conditions=(1, 12), steps=20
    ),
    "first: 12 wide conditions a rule": lambda rng: random_table(
        rng, names=TWELVE, rules=RULES, conditions=(12, 12), steps=20, wide=True
    ),
    "first: 3 to 6 wide conditions a rule": lambda rng: random_table(
        rng, names=TWELVE, rules=RULES, conditions=(3, 6), steps=20, wide=True
    ),
    "unique: 2 to 4 conditions a rule": lambda rng: random_table(
        rng, names=TWELVE, rules=RULES, conditions=(2, 4), steps=20, hit_policy=HitPolicy.UNIQUE
    ),
    "unique: tiles cut from 12 signals": lambda rng: tiling(rng, names=INDEPENDENT, rules=RULES),
    "unique: tiles cut from 3 signals": lambda rng: tiling(rng, names=INDEPENDENT[4:7], rules=RULES),
}

if __name__ == "__main__":
    main()
