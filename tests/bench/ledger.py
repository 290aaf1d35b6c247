"""What explaining costs when calls come singly, beside one batch: `python -m tests.bench.ledger`.

Works out sessions of growing size twice, as the service does: all calls at once, and each from its neighbours.
The ratio between the two is what holds on another machine; it must stay below 3 and must not grow.
"""

from datetime import UTC, datetime, timedelta

from sessions_app.kernel import misses
from sessions_app.kernel.calls_sent import Sent
from sessions_app.kernel.facts import Leaves
from sessions_app.kernel.misses import explain
from tests.bench.fold import best
from tests.support.pins import PINNED

START = datetime(2026, 11, 2, 9, tzinfo=UTC)
NEAR = misses.BEFORE + misses.AFTER


def session(calls: int) -> list[Sent]:
    """A session that loses its cache every hundredth call."""
    price = PINNED["claude-sonnet-4-5"]
    return [
        Sent(
            f"m{n}",
            n,
            "",
            "turn",
            "claude-sonnet-4-5",
            START + timedelta(seconds=4 * n),
            None,
            Leaves(4, 0, 20_000 + n * 10) if n % 100 == 0 else Leaves(4, 20_000 + n * 10, 10, output=200),
            price,
        )
        for n in range(1, calls + 1)
    ]


def singly(calls: list[Sent]) -> None:
    """Each call as it arrives: it and the turns whose outcome it may change."""
    first = {"": calls[0].leaves.prompt}
    for n, call in enumerate(calls):
        near = calls[max(n - NEAR, 0) : n + 1]
        reopened = (c.key for c in near[-misses.AFTER - 1 : -1] if c.is_uncached)
        explain(near, first_prompts=first, only={call.key, *reopened})


def main() -> None:
    """Print a row per size."""
    print(f"{'calls':>7} {'batch us/call':>14} {'singly us/call':>15} {'singly/batch':>13}")
    for count in (500, 1_000, 2_500, 5_000):
        calls = session(count)
        batch = best(lambda calls=calls: explain(calls), 3)  # type: ignore[misc]
        single = best(lambda calls=calls: singly(calls), 2)  # type: ignore[misc]
        print(f"{count:>7} {batch / count * 1e6:>14.1f} {single / count * 1e6:>15.1f} {single / batch:>13.1f}")


if __name__ == "__main__":
    main()
