"""When an alert fires, and when it is over."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from sessions_app.kernel.alerts import AlertKind, AlertState, Figures, Heard, Line, judge, working_hours

#: A Monday.
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
FIRING, CALM, UNKNOWN = AlertState.FIRING, AlertState.CALM, AlertState.UNKNOWN


def state(kind: AlertKind, threshold: int, figures: Figures, *, is_open: bool = False, ceiling: int = 0) -> AlertState:
    line = Line(kind, Decimal(threshold), Decimal(ceiling) or None)
    return judge(line, figures, is_open=is_open, now=NOW).state


def reads(read: int, prompt: int = 1_000_000) -> Figures:
    return Figures(day_prompt=prompt, day_read=read, week_prompt=1_000_000, week_read=900_000)


@pytest.mark.parametrize(
    ("figures", "is_open", "expected"),
    [
        (reads(750_000), False, FIRING),
        (reads(760_000), False, CALM),
        # 14 points below: over the threshold of closing, which is 12.
        (reads(760_000), True, FIRING),
        (reads(790_000), True, CALM),
        (reads(0, prompt=99_999), False, UNKNOWN),
        (reads(0, prompt=99_999), True, UNKNOWN),
    ],
)
def test_hit_ratio__drop_by_15_points__fires_and_does_not_flap(
    figures: Figures, is_open: bool, expected: AlertState
) -> None:
    assert state(AlertKind.HIT_RATIO, 15, figures, is_open=is_open) is expected


def test_avoidable__by_the_dollars_of_a_day__idle_days_are_calm_and_unpriced_ones_unknown() -> None:
    def day(usd: str | None, calls: int = 5) -> Figures:
        return Figures(day_calls=calls, day_avoidable_usd=None if usd is None else Decimal(usd))

    kind = AlertKind.AVOIDABLE
    assert state(kind, 10, day("10")) is FIRING
    assert state(kind, 10, day("9.99")) is CALM
    assert state(kind, 10, day("8"), is_open=True) is FIRING
    assert state(kind, 10, day("7.99"), is_open=True) is CALM
    assert state(kind, 10, day(None), is_open=True) is UNKNOWN
    assert state(kind, 10, day(None, calls=0), is_open=True) is CALM


def test_compaction__rate_or_thrash__fires() -> None:
    kind = AlertKind.COMPACTION
    assert state(kind, 5, Figures(day_calls=100, day_compactions=5)) is FIRING
    assert state(kind, 5, Figures(day_calls=100, day_compactions=4)) is CALM
    assert state(kind, 5, Figures(day_calls=19, day_compactions=4)) is UNKNOWN
    assert state(kind, 5, Figures(day_calls=1_000, day_compactions=3, hour_most_compactions=3)) is FIRING
    assert state(kind, 5, Figures(), is_open=True) is CALM


def test_budget__by_the_share_of_the_ceiling__a_new_month_is_calm() -> None:
    kind = AlertKind.BUDGET
    assert state(kind, 80, Figures(month_usd=Decimal(400)), ceiling=500) is FIRING
    assert state(kind, 80, Figures(month_usd=Decimal("399.99")), ceiling=500) is CALM
    assert state(kind, 80, Figures(month_usd=Decimal(400))) is UNKNOWN
    assert state(kind, 80, Figures(), is_open=True, ceiling=500) is CALM


def test_silent__by_working_hours__a_weekend_is_no_silence() -> None:
    # Friday 18:00 to Monday 12:00: 6 hours of Friday and 12 of Monday.
    friday = NOW - timedelta(days=2, hours=18)
    assert working_hours(friday, NOW) == 18
    heard = Figures(sources=(Heard("hooks", friday),))
    assert state(AlertKind.SILENT, 19, heard) is CALM
    assert state(AlertKind.SILENT, 18, heard) is FIRING
    assert state(AlertKind.SILENT, 18, Figures()) is CALM
