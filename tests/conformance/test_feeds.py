"""Every feed against the same demands. `make conformance` tries 100,000 mutations of each; `make test` a sample."""

import itertools
import json
import os
import random
from collections.abc import Callable

import pytest

from sessions_app.feeds.base import Context, Parsed, Refused
from sessions_app.feeds.registry import FEEDS
from sessions_app.kernel.readings import Reading
from tests.conformance.samples import samples
from tests.feeds_live.test_damage import check, damaged
from tests.support.inputs import NOW_MS, Name, joined

#: Mutations of each feed, half of them of values and half of bytes.
MUTATIONS = int(os.environ.get("ECM_MUTATIONS", "80"))
#: Orders of each feed's records.
ORDERS = 5
NAMES = sorted(samples())
CONTEXT = Context(NOW_MS, final=True)
SCRAPS = (b"", b'"', b"{", b"]", b"}", b",", b"\xff", b"\x00", b"\\ud800", b"-9e999", b"null", b"[[[[", b"\xef\xbb\xbf")

type Say = Callable[[str, object], None]


def told(say: Say, feed: str, case: str, number: int) -> None:
    say("feed", feed)
    say("case", case)
    say("n", number)


def test_samples__of_every_feed__are_here() -> None:
    # What no feed knows is read by nobody; its doors are tried with the others'.
    assert set(samples()) == set(FEEDS) - {"unknown"}


def parse(name: str, body: bytes) -> Parsed:
    return FEEDS[name].parse(body, CONTEXT)


def readings(outcome: Parsed) -> list[Reading]:
    return [reading for item in outcome.items for reading in item.readings]


@pytest.mark.parametrize("name", NAMES)
def test_records__as_recorded__all_read(name: str, record_property: Say) -> None:
    given = samples()[name]
    told(record_property, name, "1 recorded", len(given.records))
    outcome = parse(name, given.body(given.records))
    # Spans without an id and events of no session are in the traps on purpose.
    assert len(outcome.refusals) <= len(given.records) // 10
    assert outcome.items
    check(FEEDS[name], outcome)


@pytest.mark.parametrize("name", NAMES)
def test_values__damaged__refused_by_name_and_the_neighbours_kept(name: str, record_property: Say) -> None:
    given, rng = samples()[name], random.Random(name)
    told(record_property, name, "2 values damaged", MUTATIONS // 2)
    for _ in range(MUTATIONS // 2):
        before, struck, after = (rng.choice(given.records) for _ in range(3))
        bad = damaged(struck, rng)
        outcome = parse(name, given.body([before, bad, after]))
        check(FEEDS[name], outcome)
        if given.is_alone and given.head is None:
            alone = joined(readings(parse(name, given.body([before, after]))))
            kept = joined([*readings(outcome)])
            # Joined with what the damaged record says, if it says anything of the same names.
            lost = {key for key, reading in alone.items() if key not in kept or kept[key].merge(reading) != kept[key]}
            assert lost == set(), json.dumps(bad)[:400]


@pytest.mark.parametrize("name", NAMES)
def test_bytes__damaged__refused_by_name(name: str, record_property: Say) -> None:
    given, rng = samples()[name], random.Random(f"{name} bytes")
    told(record_property, name, "3 bytes damaged", MUTATIONS - MUTATIONS // 2)
    for _ in range(MUTATIONS - MUTATIONS // 2):
        body = bytearray(given.body([rng.choice(given.records), rng.choice(given.records)]))
        for _ in range(rng.randint(1, 4)):
            start = rng.randrange(len(body))
            body[start : start + rng.choice([0, 1, 1, 20])] = rng.choice([*SCRAPS, rng.randbytes(3)])
        try:
            outcome = parse(name, bytes(body))
        except Refused:
            # No record can be told apart in such a body.
            continue
        check(FEEDS[name], outcome)


@pytest.mark.parametrize("name", [name for name in NAMES if samples()[name].is_alone])
def test_records__permuted_doubled_and_split__the_same_readings(name: str, record_property: Say) -> None:
    given, rng = samples()[name], random.Random(f"{name} orders")
    told(record_property, name, "4 orders", ORDERS)
    records = rng.sample(given.records, min(len(given.records), 400))
    expected = _joined(name, [records])
    for _ in range(ORDERS):
        order = [*records, *(r for r in records if rng.random() < 0.4)]
        rng.shuffle(order)
        cuts = sorted({0, len(order), *(rng.randrange(len(order)) for _ in range(6))})
        parts = [order[start:end] for start, end in itertools.pairwise(cuts)]
        assert _joined(name, parts) == expected


def _joined(name: str, parts: list[list[object]]) -> dict[Name, Reading]:
    given = samples()[name]
    return joined(reading for part in parts for reading in readings(parse(name, given.body(part))))
