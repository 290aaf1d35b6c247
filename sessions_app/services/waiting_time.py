"""How much longer calls take that miss the cache: medians of calls whose duration a host measured; an association."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from django.db.models import QuerySet

from sessions_app.models import Call

#: Prompts of this size take seconds to read anew; smaller misses do not show.
LARGE_TOKENS = 20_000
#: Fewer calls on a side say nothing; more than this are not looked at.
LEAST, MOST = 5, 500


@dataclass(frozen=True, slots=True)
class Waited:
    """Medians in seconds of calls that missed and of calls that read, how many of each, and the sum of what it cost."""

    missed_seconds: float
    read_seconds: float
    missed: int
    read: int

    @property
    def lost_seconds(self) -> float:
        """Over all calls that missed."""
        return max(self.missed_seconds - self.read_seconds, 0.0) * self.missed


def waited(team_ids: Sequence[int], since: datetime | None) -> Waited | None:
    """Over large prompts of these teams; None where too few calls were timed."""
    calls = Call.objects.filter(session__team_id__in=team_ids, origins__usage__contains=["otlp_log"])
    if since is not None:
        calls = calls.filter(started_at__gte=since)
    missed = _seconds(calls.exclude(miss_cause="").filter(missed_tokens__gte=LARGE_TOKENS))
    if len(missed) < LEAST:
        return None
    read = _seconds(calls.filter(miss_cause="", cache_read__gte=LARGE_TOKENS))
    if len(read) < LEAST:
        return None
    return Waited(median(missed), median(read), len(missed), len(read))


def _seconds(calls: QuerySet[Call]) -> list[float]:
    """Durations of the newest calls."""
    rows = calls.filter(ended_at__isnull=False).order_by("-started_at").values_list("started_at", "ended_at")[:MOST]
    return [(end - start).total_seconds() for start, end in rows if end is not None]
