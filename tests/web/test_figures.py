"""How figures are written."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from ecm_site.common import figures

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


def test_percent__just_below_a_threshold__does_not_cross_it() -> None:
    # Trap T79: the badge said AMBER and the label 75.0%.
    assert figures.percent(149_995, 200_000) == "74.9%"


@pytest.mark.parametrize(
    ("part", "whole", "label"),
    [
        (99_999, 200_000, "49.9%"),
        (100_000, 200_000, "50.0%"),
        (150_000, 200_000, "75.0%"),
        (179_999, 200_000, "89.9%"),
        (276_000, 200_000, "138.0%"),
        (0, 200_000, "0.0%"),
        (1, 200_000, "under 0.1%"),
        (None, 200_000, "?"),
        (5, None, "?"),
        (5, 0, "?"),
    ],
)
def test_percent__any_share__is_cut_towards_zero_and_never_clamped(
    part: int | None, whole: int | None, label: str
) -> None:
    assert figures.percent(part, whole) == label


@pytest.mark.parametrize(
    ("amount", "label"),
    [
        ("1284.6", "$1,284.60"),
        ("1.428819", "$1.43"),
        ("0.526815", "$0.53"),
        ("0.004", "$0.0040"),
        ("0.00001", "under $0.0001"),
        ("0", "$0.00"),
        ("-0.041", "−$0.04"),
        (None, "?"),
    ],
)
def test_usd__any_amount__is_short_and_unknown_is_not_zero(amount: str | None, label: str) -> None:
    assert figures.usd(None if amount is None else Decimal(amount)) == label


def test_usd_exact__twelve_stored_decimals__loses_only_trailing_zeros() -> None:
    assert figures.usd_exact(Decimal("1.428819000000")) == "1.428819"
    assert figures.usd_exact(Decimal("100.000000000000")) == "100"
    assert figures.usd_ledger(Decimal("1.428819000000")) == "$1.428819"


@pytest.mark.parametrize(
    ("count", "label"), [(999, "999"), (1_500, "1.5k"), (153_604, "153k"), (1_000_000, "1M"), (None, "?")]
)
def test_tokens_short__any_count__is_cut_towards_zero(count: int | None, label: str) -> None:
    assert figures.tokens_short(count) == label


@pytest.mark.parametrize(
    ("seconds", "label"), [(0.2, "0.2 s"), (59, "59 s"), (300, "5 min"), (2_463, "41 min 3 s"), (90_000, "1 d 1 h")]
)
def test_duration__any_length__has_two_units_at_most(seconds: float, label: str) -> None:
    assert figures.duration(seconds) == label


def test_moment__as_far_as_it_lies__is_as_short_as_it_may_be() -> None:
    assert figures.moment(NOW - timedelta(hours=2), NOW) == "07:00"
    assert figures.moment(NOW - timedelta(days=1), NOW) == "30 Nov 09:00"
    assert figures.moment(NOW - timedelta(days=400), NOW) == "27 Oct 2025 09:00"
    assert figures.ago(NOW - timedelta(minutes=5), NOW) == "5 min ago"
    assert figures.ago(NOW + timedelta(minutes=5), NOW) == "just now"
