"""Two stretches of time compared by a share of tokens; says when they cannot be told apart."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

#: Sessions on each side below which nothing is said.
LEAST_SESSIONS = 8
#: Differences within so many standard errors are not told apart.
ERRORS = 2.0


class Verdict(StrEnum):
    """What the two sides show."""

    UP = "up"
    DOWN = "down"
    SAME = "not distinguishable"
    FEW = "too few sessions"


@dataclass(frozen=True, slots=True)
class Side:
    """One stretch: its sessions and the share over all of them, in permille; None without tokens."""

    sessions: int
    permille: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both sides, and what they show."""

    before: Side
    after: Side
    verdict: Verdict


def compare(before: Sequence[tuple[int, int]], after: Sequence[tuple[int, int]]) -> Comparison:
    """Each session as (part, whole) tokens. Calls of one session hang together, so sessions are what is counted."""
    sides = _side(before), _side(after)
    if min(s.sessions for s in sides) < LEAST_SESSIONS or None in (sides[0].permille, sides[1].permille):
        return Comparison(*sides, Verdict.FEW)
    (first, first_error), (second, second_error) = _estimate(before), _estimate(after)
    difference, error = second - first, math.hypot(first_error, second_error)
    if abs(difference) <= ERRORS * error or sides[0].permille == sides[1].permille:
        return Comparison(*sides, Verdict.SAME)
    return Comparison(*sides, Verdict.UP if difference > 0 else Verdict.DOWN)


def _side(sessions: Sequence[tuple[int, int]]) -> Side:
    whole = sum(w for _, w in sessions)
    return Side(len(sessions), sum(p for p, _ in sessions) * 1_000 // whole if whole else None)


def _estimate(sessions: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """The ratio of sums and its standard error (linearised, sessions as clusters)."""
    n, whole = len(sessions), sum(w for _, w in sessions)
    ratio = sum(p for p, _ in sessions) / whole
    spread = sum((p - ratio * w) ** 2 for p, w in sessions)
    return ratio, math.sqrt(n / (n - 1) * spread) / whole
