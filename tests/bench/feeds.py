"""Speed of reading transcripts on one core, beside the floor of only decoding each line as JSON.

Run: python -m tests.bench.feeds
"""

import time
import tracemalloc

import msgspec

from sessions_app.feeds.base import Context
from sessions_app.feeds.claude_transcript import FEED
from sessions_app.feeds.husk import husk
from sessions_app.feeds.lines import decode
from tests.support.inputs import NOW_MS, corpus_bodies

ROUNDS = 3


def main() -> None:
    """Print megabytes per second of the best of a few rounds, and the memory of the largest file."""
    bodies = list(corpus_bodies().values())
    megabytes = sum(map(len, bodies)) / 1e6
    figures = {"decode only (floor)": 0.0, "decode and husk": 0.0, "parse": 0.0}
    for _ in range(ROUNDS):
        for name, work in (
            ("decode only (floor)", _decode),
            ("decode and husk", _husk),
            ("parse", _parse),
        ):
            started = time.perf_counter()
            for body in bodies:
                work(body)
            figures[name] = max(figures[name], megabytes / (time.perf_counter() - started))
    for name, speed in figures.items():
        print(f"{name:22} {speed:8.1f} MB/s")
    largest = max(bodies, key=len)
    tracemalloc.start()
    FEED.parse(largest, Context(received_ms=NOW_MS, final=True))
    print(f"memory at the peak     {tracemalloc.get_traced_memory()[1] / 1e6:8.1f} MB for {len(largest) / 1e6:.1f} MB")


def _decode(body: bytes) -> None:
    for line in body.split(b"\n"):
        if line:
            try:
                msgspec.json.decode(line)
            except msgspec.DecodeError:
                continue


def _husk(body: bytes) -> None:
    for line in body.split(b"\n"):
        if line:
            record, _ = decode(line)
            if isinstance(record, dict):
                husk(record)


def _parse(body: bytes) -> None:
    FEED.parse(body, Context(received_ms=NOW_MS, final=True))


if __name__ == "__main__":
    main()
