"""Times of hosts become milliseconds, or are said to be impossible."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.feeds.times import DAY_MS, IMPOSSIBLE, NAIVE, Moment, moment
from tests.support.inputs import NOW_MS

#: 2026-11-30 22:19:55.712 UTC
MS = 1_796_077_195_712


@pytest.mark.parametrize(
    "value",
    [
        "2026-11-30T22:19:55.712Z",
        "2026-11-30T23:19:55.712+01:00",
        "2026-11-30 22:19:55.712Z",
        MS,
        str(MS),
        1_796_077_195.712,
        MS * 1_000,
        MS * 1_000_000,
        f"{MS}000000",
    ],
)
def test_moment__every_spelling__the_same_milliseconds(value: Any) -> None:
    assert moment(value, NOW_MS) == Moment(MS)


def test_moment__without_zone__utc_and_flagged() -> None:
    assert moment("2026-11-30T22:19:55.712", NOW_MS) == Moment(MS, (NAIVE,))


@pytest.mark.parametrize("value", [None, ""])
def test_moment__absent__nothing_and_no_flag(value: Any) -> None:
    assert moment(value, NOW_MS) == Moment()


@pytest.mark.parametrize(
    "value",
    [
        0,
        "0",
        "1970-01-01T00:00:00.000Z",
        "2019-12-31T23:59:59Z",
        "2099-01-01T00:00:00Z",
        NOW_MS + DAY_MS + 1,
        "yesterday",
        "0001-01-01T00:00:00+14:00",
        True,
        [],
        {"~bytes": 3},
        float("nan"),
        float("inf"),
        -5,
        10**40,
        "9" * 60,
        "²",
    ],
)
def test_moment__impossible__none_and_flagged(value: Any) -> None:
    assert moment(value, NOW_MS) == Moment(None, (IMPOSSIBLE,))


def test_moment__a_day_ahead__still_possible() -> None:
    assert moment(NOW_MS + DAY_MS, NOW_MS).ms == NOW_MS + DAY_MS


@given(st.one_of(st.text(max_size=50), st.floats(), st.integers(), st.none(), st.booleans()))
def test_moment__anything__never_raises(value: Any) -> None:
    found = moment(value, NOW_MS)
    assert found.ms is None or 0 < found.ms <= NOW_MS + DAY_MS
