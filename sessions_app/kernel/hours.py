"""Hours of the week at which a price row holds, where a provider prices by the time of day.

Written as `mon-fri 01:00-04:00 06:00-10:00`, in UTC, with days that do not count behind `not`: `… not 2026-10-01`.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import lru_cache

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_TEXT = re.compile(
    r"(?P<first>[a-z]{3})-(?P<last>[a-z]{3})(?P<spans>( \d\d:\d\d-\d\d:\d\d)+)( not(?P<without>( \d{4}-\d\d-\d\d)+))?"
)


@dataclass(frozen=True, slots=True)
class Hours:
    """Days of the week (0 is Monday), spans of a day (the end is outside), and days that do not count."""

    days: range
    spans: tuple[tuple[time, time], ...]
    without: frozenset[date]

    def hold(self, at: datetime) -> bool:
        """Whether the moment is in them."""
        here = at.astimezone(UTC)
        if here.weekday() not in self.days or here.date() in self.without:
            return False
        return any(start <= here.time() < end for start, end in self.spans)


@lru_cache(maxsize=256)
def parsed(text: str) -> Hours:
    """The hours of a text. Raises ValueError where it is not of the form."""
    found = _TEXT.fullmatch(text)
    if found is None:
        raise ValueError(f"not hours of a week: {text[:40]}")
    spans = (span.split("-") for span in found["spans"].split())
    return Hours(
        days=range(_DAYS.index(found["first"]), _DAYS.index(found["last"]) + 1),
        spans=tuple((time.fromisoformat(start), time.fromisoformat(end)) for start, end in spans),
        without=frozenset(date.fromisoformat(day) for day in (found["without"] or "").split()),
    )
