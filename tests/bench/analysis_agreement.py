"""The exact analysis against trying every situation, on 10,000 random small tables (some minutes).

Run: python -m tests.bench.analysis_agreement [tables]
"""

import random
import sys
import time
from collections import Counter

from tests.policy_analysis.agreement import disagreements
from tests.policy_analysis.tables import random_table
from tests.policy_kernel.tables import small_table

TABLES = 10_000
#: One table in so many is of signals that tie each other, which take longer to try.
TIED_EVERY = 4


def main() -> None:
    """Print how many tables agree, and the seeds of those that do not; fail where there is one."""
    tables = int(sys.argv[1]) if len(sys.argv) > 1 else TABLES
    wrong: Counter[str] = Counter()
    started = time.perf_counter()
    for seed in range(tables):
        table = small_table(random.Random(seed)) if seed % TIED_EVERY else random_table(seed)
        for difference in disagreements(table):
            wrong[difference] += 1
            print(f"seed {seed}: {difference}")
    print(f"{tables} tables, {sum(wrong.values())} differences, {time.perf_counter() - started:.0f} s")
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
