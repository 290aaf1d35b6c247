"""What a page looks at: which teams, and which stretch of time. Both live in the address."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from sessions_app.models import Team, Viewer

DEFAULT_PERIOD = "7d"


@dataclass(frozen=True, slots=True)
class Period:
    """A named length of time that ends now: today and the days before it (UTC), or all of it."""

    key: str
    label: str
    #: As in "nothing in ...".
    words: str
    days: int | None

    def since(self, now: datetime) -> datetime | None:
        """The first instant that belongs to it; None when it has no beginning."""
        if self.days is None:
            return None
        today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return today - timedelta(days=self.days - 1)


PERIODS = (
    Period("1d", "Today", "today", 1),
    Period("7d", "7 days", "the last 7 days", 7),
    Period("30d", "30 days", "the last 30 days", 30),
    Period("90d", "90 days", "the last 90 days", 90),
    Period("all", "All", "all time", None),
)


@dataclass(frozen=True, slots=True)
class TeamChoice:
    """One entry of the team switch; the empty key stands for all real teams together."""

    key: str
    name: str
    is_demo: bool
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """An entry of a menu."""

    label: str
    href: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Scope:
    """The chosen teams and period, and all that could be chosen."""

    team: TeamChoice
    period: Period
    choices: tuple[TeamChoice, ...]

    @property
    def query(self) -> dict[str, str]:
        """The parameters that lead back to this scope; what is usual is left out."""
        usual = self.choices[0].key if self.choices else ""
        chosen: dict[str, str] = {}
        if self.team.key != usual:
            chosen["team"] = self.team.key or "all"
        if self.period.key != DEFAULT_PERIOD:
            chosen["period"] = self.period.key
        return chosen

    def around(self, team_id: int) -> "Scope":
        """This scope when it holds the team, else the one of that team alone."""
        if team_id in self.team.ids:
            return self
        return replace(self, team=next((c for c in self.choices if team_id in c.ids), self.team))

    @property
    def suffix(self) -> str:
        """The parameters as the end of an address, with the question mark; may be empty."""
        return link_suffix(self.query)

    @property
    def team_links(self) -> tuple[Link, ...]:
        """The team switch; a change of team keeps the period."""
        return tuple(
            Link(c.name, link_suffix(Scope(c, self.period, self.choices).query) or "?", c == self.team)
            for c in self.choices
        )

    @property
    def period_links(self) -> tuple[Link, ...]:
        """The periods; a change of period keeps the team."""
        return tuple(
            Link(p.label, link_suffix(Scope(self.team, p, self.choices).query) or "?", p == self.period)
            for p in PERIODS
        )


def link_suffix(query: Mapping[str, str]) -> str:
    """Parameters as the end of an address."""
    return f"?{urlencode(query)}" if query else ""


def scope_of(user: Viewer, parameters: Mapping[str, str]) -> Scope:
    """The scope that an address names, within what the user may see; what is not there falls back."""
    choices = _choices(user)
    wanted = parameters.get("team", "")
    wanted = "" if wanted == "all" else wanted or (choices[0].key if choices else "")
    nothing = TeamChoice("", "No team", False, ())
    team = next((c for c in choices if c.key == wanted), choices[0] if choices else nothing)
    named = parameters.get("period", DEFAULT_PERIOD)
    period = next((p for p in PERIODS if p.key == named), PERIODS[1])
    return Scope(team, period, choices)


def _choices(user: Viewer) -> tuple[TeamChoice, ...]:
    """Real teams first, all of them together in front where there are several; demo teams stand alone."""
    teams = list(Team.objects.for_user(user).select_related("organisation").order_by("is_demo", "name", "pk"))
    seen = Counter(team.slug for team in teams)
    named = [
        TeamChoice(
            team.slug if seen[team.slug] == 1 and team.slug != "all" else f"{team.organisation.slug}.{team.slug}",
            team.name,
            team.is_demo,
            (team.pk,),
        )
        for team in teams
    ]
    real = [choice for choice in named if not choice.is_demo]
    if len(real) > 1:
        together = TeamChoice("", "All teams", False, tuple(pk for choice in real for pk in choice.ids))
        return (together, *named)
    return tuple(named)
