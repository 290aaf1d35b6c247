"""Counts follow the integer rule of `conventions.json`; money is exact."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.feeds.base import Refused
from sessions_app.feeds.numbers import nanodollars, token_count

LARGEST = 2**63 - 1


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (None, None),
        (0, 0),
        (7, 7),
        (10.0, 10),
        (0.0, 0),
        ("120", 120),
        ("007", 7),
        (LARGEST, LARGEST),
        (str(LARGEST), LARGEST),
    ],
)
def test_token_count__whole_numbers__taken(value: Any, count: int | None) -> None:
    assert token_count(value, "/n") == count


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (True, "not_an_integer"),
        (False, "not_an_integer"),
        (12.7, "not_an_integer"),
        ("1,234", "not_an_integer"),
        ("-5", "not_an_integer"),
        ("12.0", "not_an_integer"),
        (" 5", "not_an_integer"),
        ("٣", "not_an_integer"),
        ("", "not_an_integer"),
        ({"~bytes": 5}, "not_an_integer"),
        ([1], "not_an_integer"),
        (float("nan"), "not_an_integer"),
        (float("inf"), "not_an_integer"),
        (-37, "negative"),
        (-1.0, "negative"),
        (2**63, "too_large"),
        (1e19, "too_large"),
        ("9" * 40, "too_large"),
        (str(2**63), "too_large"),
    ],
)
def test_token_count__anything_else__refused_with_its_place(value: Any, code: str) -> None:
    with pytest.raises(Refused) as caught:
        token_count(value, "/message/usage/input_tokens")
    assert (caught.value.code, caught.value.pointer) == (code, "/message/usage/input_tokens")


@pytest.mark.parametrize(
    ("value", "nano"),
    [
        (None, None),
        (0, 0),
        (1.428819, 1_428_819_000),
        (0.10831800000000001, 108_318_000),
        ("0.028815", 28_815_000),
        (1e-09, 1),
        ("2E-3", 2_000_000),
    ],
)
def test_nanodollars__amounts__exact(value: Any, nano: int | None) -> None:
    assert nanodollars(value, "/cost") == nano


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (True, "not_a_number"),
        ("free", "not_a_number"),
        ("1_000", "not_a_number"),
        ("١", "not_a_number"),
        (float("nan"), "not_a_number"),
        ({}, "not_a_number"),
        (-0.5, "negative"),
        (2e9, "too_large"),
        ("1e999", "too_large"),
    ],
)
def test_nanodollars__anything_else__refused(value: Any, code: str) -> None:
    with pytest.raises(Refused) as caught:
        nanodollars(value, "/cost")
    assert caught.value.code == code


@given(st.integers(min_value=0, max_value=10**15))
def test_nanodollars__micros_as_float__come_back(micros: int) -> None:
    assert nanodollars(micros / 1_000_000, "") == micros * 1000
