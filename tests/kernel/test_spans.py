"""Spans tile the time of the main thread; after a compaction they are unknown until the next call."""

import itertools
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.kernel.spans import Reached, spans
from sessions_app.kernel.zones import Zone

START = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


def reached(minutes: int, zone: Zone) -> Reached:
    return Reached(at(minutes), zone, 200_000, "assumed")


def test_spans__compaction_between_calls__unknown_until_the_next() -> None:
    points = [reached(0, Zone.GREEN), reached(2, Zone.RED), reached(9, Zone.GREEN)]
    found = [(s.zone, s.started_at, s.ended_at, s.calls) for s in spans(points, [at(5)], at(10))]
    assert found == [
        (Zone.GREEN, at(0), at(2), 1),
        (Zone.RED, at(2), at(5), 1),
        (Zone.UNKNOWN, at(5), at(9), 0),
        (Zone.GREEN, at(9), at(10), 1),
    ]


def test_spans__same_zone_in_a_row__one_span() -> None:
    found = spans([reached(0, Zone.AMBER), reached(1, Zone.AMBER)], [], at(3))
    assert [(s.zone, s.calls) for s in found] == [(Zone.AMBER, 2)]


@given(
    st.lists(st.tuples(st.integers(0, 500), st.sampled_from(list(Zone))), min_size=1, max_size=20),
    st.lists(st.integers(0, 500), max_size=5),
    st.integers(0, 600),
)
def test_spans__any_session__tile_its_time(points: list[tuple[int, Zone]], cuts: list[int], until: int) -> None:
    ordered = [reached(minute, zone) for minute, zone in sorted(points)]
    found = spans(ordered, map(at, cuts), at(until))
    assert found[0].started_at == ordered[0].at
    assert found[-1].ended_at == max(at(until), ordered[-1].at)
    assert all(a.ended_at == b.started_at for a, b in itertools.pairwise(found))
    assert sum(s.calls for s in found) == len(ordered)
