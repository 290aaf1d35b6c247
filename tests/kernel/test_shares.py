"""Shares with their intervals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.kernel.shares import share


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    # Wilson (1927) at 95%, as tables of the score interval give it.
    [(0, 10, 0, 278), (10, 10, 722, 1000), (5, 10, 236, 764), (27, 27, 875, 1000)],
)
def test_share__known_cases__ends_of_the_interval(part: int, whole: int, low: int, high: int) -> None:
    found = share(part, whole)
    assert found.low_permille is not None
    assert found.high_permille is not None
    assert abs(found.low_permille - low) <= 1
    assert abs(found.high_permille - high) <= 1


def test_share__of_nothing__is_not_known() -> None:
    assert share(0, 0).permille is None


@given(whole=st.integers(1, 10_000), data=st.data())
def test_share__any__lies_in_its_interval(whole: int, data: st.DataObject) -> None:
    part = data.draw(st.integers(0, whole))
    found = share(part, whole)
    assert found.permille is not None
    assert found.low_permille is not None
    assert found.high_permille is not None
    assert 0 <= found.low_permille <= found.permille <= found.high_permille <= 1000
