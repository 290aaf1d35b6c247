"""The sessions list: one line per session, blind shown unlike zero."""

from dataclasses import dataclass, replace
from datetime import datetime

from django.urls import reverse

from ecm_site.common import figures
from sessions_app.dashboard import words
from sessions_app.dashboard.filters import MARKS, SORTS, ZONE_CHOICES, SessionFilter, in_scope
from sessions_app.dashboard.scope import Link, Scope
from sessions_app.models import Host, Project, Session, Viewer

PAGE_SIZE = 50
MOST_PROJECTS = 300


@dataclass(frozen=True, slots=True)
class Option:
    """One entry of a select."""

    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Select:
    """A choice of the filter form; its first entry chooses nothing."""

    name: str
    label: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Flag:
    """A word of caution beside a session, and what it means."""

    label: str
    title: str


@dataclass(frozen=True, slots=True)
class SessionLine:
    """A session with what its row says beyond its own fields."""

    session: Session
    peak_percent: str
    is_estimated: bool
    flags: tuple[Flag, ...]

    @property
    def host_name(self) -> str:
        """The host as people call it."""
        return words.word(words.HOSTS, self.session.host)

    @property
    def has_calls(self) -> bool:
        """False when only marks or meters arrived: then tokens and cost are not known."""
        return bool(self.session.calls or self.session.aux_calls)


@dataclass(frozen=True, slots=True)
class SessionListPage:
    """All that the template shows."""

    scope: Scope
    now: datetime
    filter: SessionFilter
    selects: tuple[Select, ...]
    lines: tuple[SessionLine, ...]
    total: int
    pages: int
    sort_links: tuple[Link, ...]
    previous_href: str
    next_href: str
    clear_href: str
    has_any: bool

    @property
    def first(self) -> int:
        """The place of the first line among all, from 1."""
        return (self.filter.page - 1) * PAGE_SIZE + 1

    @property
    def last(self) -> int:
        """The place of the last line."""
        return self.first + len(self.lines) - 1


def session_list(user: Viewer, scope: Scope, chosen: SessionFilter, now: datetime) -> SessionListPage:
    """One page of the list: four queries."""
    everything = Session.objects.for_user(user)
    found = chosen.apply(in_scope(everything, scope, now))
    total = found.count()
    pages = max(-(-total // PAGE_SIZE), 1)
    chosen = chosen if chosen.page <= pages else replace(chosen, page=pages)
    start = (chosen.page - 1) * PAGE_SIZE
    rows = found.select_related("project", "team")[start : start + PAGE_SIZE] if total else []
    address = reverse("sessions")
    return SessionListPage(
        scope=scope,
        now=now,
        filter=chosen,
        selects=_selects(user, scope, chosen),
        lines=tuple(line_of(session) for session in rows),
        total=total,
        pages=pages,
        sort_links=tuple(
            Link(label, address + chosen.suffix(scope, sort=key), key == chosen.sort) for key, label in SORTS.items()
        ),
        previous_href=address + chosen.suffix(scope, page=chosen.page - 1) if chosen.page > 1 else "",
        next_href=address + chosen.suffix(scope, page=chosen.page + 1) if chosen.page < pages else "",
        clear_href=address + scope.suffix,
        has_any=bool(total) or everything.filter(team_id__in=scope.team.ids).exists(),
    )


def _selects(user: Viewer, scope: Scope, chosen: SessionFilter) -> tuple[Select, ...]:
    projects = Project.objects.filter(team_id__in=scope.team.ids).select_related("team").order_by("name", "pk")
    several = len(scope.team.ids) > 1
    names = [(str(p.pk), f"{p.name} ({p.team.name})" if several else p.name) for p in projects[:MOST_PROJECTS]]
    return (
        _select("host", "Host", [(h, words.word(words.HOSTS, h)) for h in Host.values], chosen.host),
        _select("project", "Project", names, chosen.project),
        _select("zone", "Peak zone", list(ZONE_CHOICES.items()), chosen.zone),
        _select("mark", "Only what", list(MARKS.items()), chosen.mark),
    )


def _select(name: str, label: str, entries: list[tuple[str, str]], chosen: str) -> Select:
    any_one = Option("", "any", not chosen)
    return Select(name, label, (any_one, *(Option(value, text, value == chosen) for value, text in entries)))


def line_of(session: Session) -> SessionLine:
    """A session as a line of a list."""
    return SessionLine(
        session=session,
        peak_percent=figures.percent(session.peak_occupancy, session.window),
        is_estimated=session.window_origin != "stated",
        flags=tuple(_flags(session)),
    )


def _flags(session: Session) -> list[Flag]:
    found: list[Flag] = []
    if session.fold_error:
        found.append(Flag("not worked out", f"The last attempt to work out this session failed: {session.fold_error}"))
    elif session.revision > session.folded_revision:
        found.append(Flag("new readings", "Readings arrived that are not in these figures yet"))
    if session.lower_bound:
        missing = "; ".join(words.missing(session.lower_bound))
        found.append(Flag("lower bound", f"At least this much. Missing: {missing}"))
    if session.unpriced_calls:
        found.append(Flag("unpriced", f"{figures.plural(session.unpriced_calls, 'call')} without a known price"))
    if any(w.get("code") == "window_suspect" for w in session.warnings):
        found.append(Flag("window suspect", "A context was larger than its window"))
    return found
