"""Hours of the week at which a price row holds."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.kernel.hours import parsed

PEAK = parsed("mon-fri 01:00-04:00 06:00-10:00 not 2026-10-01")


@pytest.mark.parametrize(
    ("at", "holds"),
    [
        ("2026-11-23T00:59:59", False),
        ("2026-11-23T01:00:00", True),
        ("2026-11-23T03:59:59.999999", True),
        ("2026-11-23T04:00:00", False),
        ("2026-11-23T06:00:00", True),
        ("2026-11-27T09:59:59", True),
        ("2026-11-28T02:00:00", False),
        ("2026-10-01T02:00:00", False),
        ("2026-10-02T02:00:00", True),
    ],
)
def test_hold__edges_and_days__as_the_provider_says(at: str, holds: bool) -> None:
    assert PEAK.hold(datetime.fromisoformat(at).replace(tzinfo=UTC)) is holds


@given(st.datetimes(timezones=st.just(UTC)), st.integers(-12, 14))
def test_hold__in_any_zone__the_same(at: datetime, shift: int) -> None:
    if datetime(2, 1, 1, tzinfo=UTC) < at < datetime(9998, 1, 1, tzinfo=UTC):
        assert PEAK.hold(at.astimezone(timezone(timedelta(hours=shift)))) is PEAK.hold(at)


@pytest.mark.parametrize("text", ["at night", "mon-xyz 01:00-02:00", "mon-fri 25:00-26:00", "mon-fri 1-2", "mon-fri"])
def test_parsed__no_hours__refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parsed(text)
