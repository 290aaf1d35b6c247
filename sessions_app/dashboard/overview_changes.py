"""What changed in the period, and whether it shows: the share of the prompt read from the cache before and after."""

from dataclasses import dataclass
from datetime import datetime

from sessions_app.dashboard.scope import Scope
from sessions_app.kernel.before_after import Comparison, Verdict
from sessions_app.services import marking

MOST_CHANGES = 3


@dataclass(frozen=True, slots=True)
class Change:
    """A marker and what its comparison says in words."""

    at: datetime
    title: str
    project: str
    sentence: str


def changes_of(scope: Scope, since: datetime | None) -> tuple[Change, ...]:
    """The newest markers of the chosen teams: one query."""
    found = marking.newest(team_ids=scope.team.ids, since=since, limit=MOST_CHANGES)
    return tuple(Change(each.at, each.title, each.project, _sentence(each.comparison)) for each in found)


def _sentence(found: Comparison) -> str:
    """As in: read from the cache 91.2% → 90.4% (not distinguishable)."""
    if found.verdict is Verdict.FEW:
        sides = f"{found.before.sessions:,} in the week before, {found.after.sessions:,} after"
        return f"too few sessions to compare: {sides}"
    words = {Verdict.UP: "more is read", Verdict.DOWN: "less is read", Verdict.SAME: "not distinguishable"}
    before, after = (_share(side.permille) for side in (found.before, found.after))
    return f"read from the cache {before} → {after}: {words[found.verdict]}"


def _share(permille: int | None) -> str:
    return "?" if permille is None else f"{permille // 10}.{permille % 10}%"
