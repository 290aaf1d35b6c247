"""How long a fold takes, beside the floor of decoding its readings: `python -m tests.bench.fold`.

Prints microseconds per call for sessions of growing size; the ratio to the floor and between sizes is what
holds on another machine.
"""

import time
from collections.abc import Callable

from sessions_app.kernel.facts import FoldInput
from sessions_app.kernel.fold import fold
from sessions_app.kernel.readings import CallReading, Reading, Source, StepsReading, ToolSize, decode, encode
from tests.support.pins import BOOK

MODEL = "claude-sonnet-4-5"


def session(calls: int) -> list[Reading]:
    """A session of `calls` calls with chain and tool results, as a transcript gives it."""
    readings: list[Reading] = []
    for n in range(calls):
        at = 1_796_000_000_000 + n * 4_000
        readings.append(
            CallReading(
                session="s",
                source=Source.TRANSCRIPT,
                key=f"m{n}",
                message_id=f"m{n}",
                request_id=f"r{n}",
                thread=(30, ""),
                model=(at, MODEL),
                first_ms=at,
                uncached_input=4,
                cache_read=20_000 + n * 10,
                write_total=500,
                write_5m=500,
                write_1h=0,
                output=200,
                stop_reason=(at, "end_turn"),
                uuids=(f"u{n}",),
                parents=(f"t{n - 1}",),
            )
        )
    for minute in range(0, calls, 15):
        block = range(minute, min(minute + 15, calls))
        links = {f"t{n}": f"u{n}" for n in block}
        tools = {f"x{n}": ToolSize(name="Bash", result_bytes=4_000, at_ms=1_796_000_000_000 + n * 4_000) for n in block}
        readings.append(StepsReading(session="s", source=Source.TRANSCRIPT, key=str(minute), links=links, tools=tools))
    return readings


def best(run: Callable[[], object], rounds: int = 5) -> float:
    """The shortest of some rounds, in seconds."""
    found = []
    for _ in range(rounds):
        started = time.perf_counter()
        run()
        found.append(time.perf_counter() - started)
    return min(found)


def main() -> None:
    """Print a row per size."""
    print(f"{'calls':>7} {'decode us/call':>15} {'fold us/call':>13} {'fold/decode':>12}")
    for calls in (100, 1_000, 5_000, 20_000):
        bodies = [(r.kind, encode(r)) for r in session(calls)]
        floor = best(lambda bodies=bodies: [decode(kind, body) for kind, body in bodies])  # type: ignore[misc]
        given = FoldInput("s", tuple(decode(kind, body) for kind, body in bodies), 1_796_100_000_000)
        spent = best(lambda given=given: fold(given, BOOK), 3)  # type: ignore[misc]
        print(f"{calls:>7} {floor / calls * 1e6:>15.1f} {spent / calls * 1e6:>13.1f} {spent / floor:>12.1f}")


if __name__ == "__main__":
    main()
