"""Query parameters: read, or refused with the name of the field and what would be right."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from django.db.models import QuerySet
from rest_framework.request import Request

from ecm_site.common.problems import DomainError
from sessions_app.models import Team

QUARTER = timedelta(minutes=15)
LONGEST = 300


def refuse(name: str, message: str) -> DomainError:
    """400 for one parameter."""
    return DomainError(f"bad_{name}", message, 400, pointer=name)


def text(request: Request, name: str) -> str:
    """The parameter, or the empty string."""
    value = request.query_params.get(name, "").strip()
    if "\0" in value or len(value) > LONGEST:
        raise refuse(name, f"{name} has at most {LONGEST} characters and no NUL.")
    return value


def choice(request: Request, name: str, allowed: tuple[str, ...]) -> str:
    """One of `allowed`, or the empty string."""
    value = text(request, name)
    if value and value not in allowed:
        raise refuse(name, f"{name} is one of: {', '.join(allowed)}.")
    return value


def teams(request: Request, visible: QuerySet[Team]) -> QuerySet[Team]:
    """The named team; without a name all real ones, because demo figures are never summed with real ones."""
    slug = text(request, "team")
    if not slug:
        return visible.filter(is_demo=False)
    named = visible.filter(slug=slug)
    if not named.exists():
        raise refuse("team", "team is the slug of a team that you may read.")
    return named


@cache
def _zone_names() -> frozenset[str]:
    return frozenset(available_timezones() - {"localtime", "Factory"})


def zone(request: Request) -> ZoneInfo:
    """The IANA zone of `tz`; UTC without one."""
    name = text(request, "tz") or "UTC"
    if name not in _zone_names():
        raise refuse("tz", "tz is an IANA time zone, such as UTC or America/New_York.")
    return ZoneInfo(name)


@dataclass(frozen=True, slots=True)
class Span:
    """Since (included) and until (excluded), on quarters of an hour; None leaves an end open."""

    since: datetime | None
    until: datetime | None


def span(request: Request, tz: tzinfo) -> Span:
    """The stretch of `since` and `until`.

    A date stands for the whole day in `tz`, also as `until`; a time without offset is read in `tz`.
    Sums are kept by quarters of an hour: since is moved back and until forward to the next one.
    """
    since, until = _moment(request, "since", tz), _moment(request, "until", tz)
    if since is not None:
        since = _floor(since)
    if until is not None:
        until = -(-(until - _EPOCH) // QUARTER) * QUARTER + _EPOCH
    if since is not None and until is not None and since > until:
        raise refuse("until", "until is not before since.")
    return Span(since, until)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _floor(moment: datetime) -> datetime:
    return (moment - _EPOCH) // QUARTER * QUARTER + _EPOCH


def moment_of(text_: str) -> datetime | None:
    """An aware moment of our own writing; None for anything else."""
    try:
        moment = datetime.fromisoformat(text_)
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _moment(request: Request, name: str, tz: tzinfo) -> datetime | None:
    value = text(request, name)
    if not value:
        return None
    try:
        if len(value) == len("2026-11-30"):
            day = date.fromisoformat(value) + timedelta(days=name == "until")
            moment = datetime.combine(day, time(), tzinfo=tz)
        else:
            # A plus sign that was not encoded arrives as a space.
            moment = datetime.fromisoformat(value.replace(" ", "+") if "T" in value else value)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=tz)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise refuse(name, f"{name} is a date (2026-11-30) or a time (2026-11-30T12:00:00Z).") from error
