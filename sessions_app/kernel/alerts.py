"""When an alert fires and when it is over: figures in, verdict out.

Each kind opens at its threshold and closes below CALM_SHARE of it, so that a figure near the line does not flap.
What is not known changes nothing: an open alert stays open and a closed one closed. A day without any call spends
nothing and compacts nothing, which is known. Money is USD at list price.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

#: An open alert is over below this share of its threshold.
CALM_SHARE = Decimal("0.8")
#: Prompt tokens that both stretches need before their hit ratios are compared.
LEAST_TOKENS = 100_000
#: Calls of a day before its compaction rate says anything.
LEAST_CALLS = 20
#: So many completed compactions of one session within an hour fire, whatever the rate of the team.
MOST_IN_AN_HOUR = 3
NO_CALLS = "No calls in the last 24 hours."
_TENTH, _CENT = Decimal("0.1"), Decimal("0.01")


class AlertKind(StrEnum):
    """What is watched."""

    HIT_RATIO = "hit_ratio"
    AVOIDABLE = "avoidable"
    COMPACTION = "compaction"
    BUDGET = "budget"
    SILENT = "silent"


class AlertState(StrEnum):
    """What the figures say now."""

    FIRING = "firing"
    CALM = "calm"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Heard:
    """One source, all its versions together: its name in words and the last delivery."""

    name: str
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one team. `day_`: the last 24 hours; `week_`: the 7 days before them; `month_`: since the first (UTC)."""

    day_prompt: int = 0
    day_read: int = 0
    week_prompt: int = 0
    week_read: int = 0
    day_calls: int = 0
    day_avoidable_usd: Decimal | None = None
    day_compactions: int = 0
    #: Completed compactions of the busiest session within the last hour.
    hour_most_compactions: int = 0
    month_usd: Decimal | None = None
    sources: tuple[Heard, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """Where a rule fires: percentage points, USD, compactions per 100 calls, percent of `ceiling_usd`, or hours."""

    kind: AlertKind
    threshold: Decimal
    ceiling_usd: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The state, the sentence that says why, and the measured figure beside the threshold (None: not known)."""

    state: AlertState
    reason: str
    measured: Decimal | None = None


def judge(line: Line, figures: Figures, *, is_open: bool, now: datetime) -> Verdict:
    """What a rule says of these figures; `is_open`: whether its alert is open already."""
    match line.kind:
        case AlertKind.HIT_RATIO:
            return _hit_ratio(line, figures, is_open)
        case AlertKind.AVOIDABLE:
            return _avoidable(line, figures, is_open)
        case AlertKind.COMPACTION:
            return _compaction(line, figures, is_open)
        case AlertKind.BUDGET:
            return _budget(line, figures, is_open)
        case AlertKind.SILENT:
            return _silent(line, figures, now)


def _state(measured: Decimal, threshold: Decimal, is_open: bool) -> AlertState:
    limit = threshold * CALM_SHARE if is_open else threshold
    return AlertState.FIRING if measured >= limit else AlertState.CALM


def _hit_ratio(line: Line, figures: Figures, is_open: bool) -> Verdict:
    if min(figures.day_prompt, figures.week_prompt) < LEAST_TOKENS:
        return Verdict(AlertState.UNKNOWN, f"Fewer than {LEAST_TOKENS:,} prompt tokens to compare.")
    today = Decimal(100 * figures.day_read) / figures.day_prompt
    before = Decimal(100 * figures.week_read) / figures.week_prompt
    drop = before - today
    reason = (
        f"{today.quantize(_TENTH)}% of the prompts of 24 hours came from the cache;"
        f" in the 7 days before it was {before.quantize(_TENTH)}%."
    )
    return Verdict(_state(drop, line.threshold, is_open), reason, drop.quantize(_TENTH))


def _avoidable(line: Line, figures: Figures, is_open: bool) -> Verdict:
    lost = figures.day_avoidable_usd
    if not figures.day_calls:
        return Verdict(AlertState.CALM, NO_CALLS)
    if lost is None:
        return Verdict(AlertState.UNKNOWN, "Nothing of the last 24 hours has a price.")
    reason = f"${lost.quantize(_CENT):,} of the last 24 hours could have been avoided, at list price."
    return Verdict(_state(lost, line.threshold, is_open), reason, lost.quantize(_CENT))


def _compaction(line: Line, figures: Figures, is_open: bool) -> Verdict:
    most = figures.hour_most_compactions
    if most >= MOST_IN_AN_HOUR:
        reason = f"One session was compacted {most} times within the last hour."
        return Verdict(AlertState.FIRING, reason, Decimal(most))
    if not figures.day_calls:
        return Verdict(AlertState.CALM, NO_CALLS)
    if figures.day_calls < LEAST_CALLS:
        return Verdict(AlertState.UNKNOWN, f"Fewer than {LEAST_CALLS} calls in 24 hours.")
    rate = Decimal(100 * figures.day_compactions) / figures.day_calls
    reason = (
        f"{figures.day_compactions:,} compactions in {figures.day_calls:,} calls of 24 hours:"
        f" {rate.quantize(_TENTH)} per 100 calls."
    )
    return Verdict(_state(rate, line.threshold, is_open), reason, rate.quantize(_TENTH))


def _budget(line: Line, figures: Figures, is_open: bool) -> Verdict:
    if not line.ceiling_usd:
        return Verdict(AlertState.UNKNOWN, "No ceiling is set.")
    if figures.month_usd is None:
        # A new month begins with nothing spent: last month's alert is over.
        return Verdict(AlertState.CALM, "Nothing of this month has a price yet.")
    share = 100 * figures.month_usd / line.ceiling_usd
    reason = (
        f"${figures.month_usd.quantize(_CENT):,} of this month's ${line.ceiling_usd.quantize(_CENT):,}"
        f" at list price: {share.quantize(_TENTH)}%."
    )
    return Verdict(_state(share, line.threshold, is_open), reason, share.quantize(_TENTH))


def _silent(line: Line, figures: Figures, now: datetime) -> Verdict:
    """No band is needed: a source that speaks again is not silent at all."""
    if not figures.sources:
        return Verdict(AlertState.CALM, "No source reports regularly.")
    hours = {heard: working_hours(heard.last_at, now) for heard in figures.sources}
    quiet = sorted((h for h in hours if hours[h] >= line.threshold), key=lambda h: (-hours[h], h.name))
    longest = max(hours.values()).quantize(_TENTH)
    if not quiet:
        return Verdict(AlertState.CALM, f"All {len(hours)} regular sources were heard.", longest)
    more = f" and {len(quiet) - 3} more" if len(quiet) > 3 else ""
    names = ", ".join(heard.name for heard in quiet[:3])
    return Verdict(AlertState.FIRING, f"Silent for {longest} hours, weekends left out: {names}{more}.", longest)


def working_hours(since: datetime, until: datetime) -> Decimal:
    """Hours between two moments of one zone without Saturdays and Sundays: nobody works then, nothing is broken."""
    seconds, at = 0, since
    while at < until:
        midnight = at.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        end = min(midnight, until)
        if at.weekday() < 5:
            seconds += int((end - at).total_seconds())
        at = end
    return Decimal(seconds) / 3_600
