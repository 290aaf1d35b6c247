"""How much longer calls take that miss the cache: medians of calls whose duration a host measured; an association."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from sessions_app.models import Call

#: Prompts of this size take seconds to read anew; smaller misses do not show.
LARGE_TOKENS = 20_000
#: Fewer calls on a side say nothing.
LEAST = 5
#: So many of the newest calls are looked at.
LOOKED_AT = 5_000


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
    """Over large prompts among the newest calls of these teams; None where too few of them were timed."""
    calls = Call.objects.filter(session__team_id__in=team_ids)
    if since is not None:
        calls = calls.filter(started_at__gte=since)
    # Cut before it is asked who timed them: where nobody did, all calls ever would be looked through.
    newest = calls.order_by("-started_at").values("pk")[:LOOKED_AT]
    timed = Call.objects.filter(pk__in=newest, ended_at__isnull=False, origins__usage__contains="otlp_log")
    columns = ("started_at", "ended_at", "miss_cause", "missed_tokens", "cache_read")
    missed, read = list[float](), list[float]()
    for start, end, cause, tokens, found in timed.values_list(*columns):
        if end is None:
            continue
        if cause and tokens >= LARGE_TOKENS:
            missed.append((end - start).total_seconds())
        elif not cause and found >= LARGE_TOKENS:
            read.append((end - start).total_seconds())
    if min(len(missed), len(read)) < LEAST:
        return None
    return Waited(median(missed), median(read), len(missed), len(read))
