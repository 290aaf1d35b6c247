"""What compactions forget: pins and identifiers that were looked for in the summaries, on the machines."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sessions_app.dashboard.filters import in_scope
from sessions_app.dashboard.scope import Scope
from sessions_app.kernel.shares import Share, share
from sessions_app.models import Restoration, Session, Viewer

#: The newest so many compactions are looked at.
MOST_ROWS = 5_000
CLASSES = {
    "path": "paths",
    "line_number": "line numbers",
    "error_string": "error strings",
    "version": "versions",
    "command": "commands",
    "decision_id": "decision ids",
}
DEPTHS = {1: "first", 2: "second", 3: "third and later"}


@dataclass(frozen=True, slots=True)
class ForgetLine:
    """One class of things: how many the summaries kept, in all and by depth of the compaction."""

    name: str
    kept: Share
    by_depth: tuple[Share, ...]
    width: str


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Lines, how many compactions they rest on, and in how many pins could not be read."""

    lines: tuple[ForgetLine, ...]
    looked_at: int
    unreadable: int
    depths: tuple[str, ...] = tuple(DEPTHS.values())


def forgetting(user: Viewer, scope: Scope, now: datetime) -> Forgetting:
    """Of the compactions whose client looked into the summary: one query."""
    sessions = in_scope(Session.objects.for_user(user), scope, now).order_by()
    rows = Restoration.objects.filter(session__in=sessions)
    found = list(rows.order_by("-pk").values("session_id", "survival", "specifics")[:MOST_ROWS])
    seen: Counter[int] = Counter()
    kept: dict[str, list[list[int]]] = defaultdict(lambda: [[0, 0], [0, 0], [0, 0]])
    looked_at = unreadable = 0
    for row in reversed(found):
        seen[row["session_id"]] += 1
        depth = min(seen[row["session_id"]], 3) - 1
        told = [*_pins(row["survival"]), *_specifics(row["specifics"])]
        looked_at += bool(told)
        unreadable += bool(row["survival"]) and not _pins(row["survival"])
        for name, part, whole in told:
            kept[name][depth][0] += part
            kept[name][depth][1] += whole
    lines = [_line(name, counts) for name, counts in kept.items()]
    return Forgetting(tuple(sorted(lines, key=lambda line: line.kept.permille or 0)), looked_at, unreadable)


def _pins(survival: dict[str, str] | None) -> list[tuple[str, int, int]]:
    """Pins that could be looked for; unknown ones are none of them."""
    states = [state for state in (survival or {}).values() if state != "unknown"]
    return [("pins, word for word in the summary", states.count("present"), len(states))] if states else []


def _specifics(specifics: dict[str, dict[str, int]] | None) -> list[tuple[str, int, int]]:
    return [
        (CLASSES.get(name, name), counts["kept"], counts["before"])
        for name, counts in (specifics or {}).items()
        if counts.get("before")
    ]


def _line(name: str, counts: Iterable[list[int]]) -> ForgetLine:
    by_depth = tuple(share(part, whole) for part, whole in counts)
    whole = share(sum(one.part for one in by_depth), sum(one.whole for one in by_depth))
    return ForgetLine(name, whole, by_depth, f"{(whole.permille or 0) / 10:.1f}%")
