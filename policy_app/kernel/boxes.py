"""Boxes and exact subtraction: is anything of a box left outside of others, and where?

A box is one set of cells per axis. `escapes` takes a box apart along the boxes that block it until a part lies
outside of all of them, or nothing is left. It is exact in both directions; the order of the cuts only decides how
soon. Worst cases are exponential (the problem is that of satisfiability), so the steps are counted.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

type Box = tuple[int, ...]


class StepsSpent(Exception):
    """The search was given up; nothing is known."""


@dataclass(slots=True)
class Steps:
    """How many boxes may still be held against a part, over all searches that share it: what bounds the time."""

    left: int

    def take(self, boxes: int) -> None:
        """So many boxes more, or `StepsSpent`."""
        self.left -= boxes
        if self.left < 0:
            raise StepsSpent


def meet(one: Box, other: Box) -> Box | None:
    """What both hold; None for nothing."""
    both = tuple(mine & theirs for mine, theirs in zip(one, other, strict=True))
    return both if all(both) else None


def holds(outer: Box, inner: Box) -> bool:
    """Whether all of `inner` lies in `outer`."""
    return all(not (theirs & ~mine) for mine, theirs in zip(outer, inner, strict=True))


def joined(boxes: Sequence[Box]) -> list[Box]:
    """The same situations in fewer boxes: those that differ on one axis only are put together."""
    left: list[Box] = []
    for box in boxes:
        merged = box
        while other := next((each for each in left if _differing(each, merged) == 1), None):
            left.remove(other)
            merged = tuple(map(int.__or__, other, merged))
        left.append(merged)
    return left


def _differing(one: Box, other: Box) -> int:
    return sum(mine != theirs for mine, theirs in zip(one, other, strict=True))


def escape(region: Box, blockers: Sequence[Box], steps: Steps) -> Box | None:
    """A part of `region` outside of every blocker; None where they cover it. Raises `StepsSpent`."""
    return next(escapes(region, blockers, steps), None)


def cover(region: Box, blockers: Sequence[Box], steps: Steps) -> frozenset[Box] | None:
    """Blockers that together hold all of `region`, those that this took; None where they do not."""
    used: set[Box] = set()
    escaped = next(escapes(region, blockers, steps, used), None)
    return frozenset(used) if escaped is None else None


def escapes(region: Box, blockers: Sequence[Box], steps: Steps, used: set[Box] | None = None) -> Iterator[Box]:
    """All of `region` outside of the blockers, as disjoint boxes; `used` collects the blockers that took something."""
    if not all(region):
        return
    taking = set() if used is None else used
    stack: list[tuple[Box, Sequence[Box]]] = [(region, blockers)]
    while stack:
        region, blockers = stack.pop()
        steps.take(len(blockers) + 1)
        part, near = _narrowed(region, blockers, taking)
        if part is None:
            continue
        if not near:
            yield part
            continue
        pivot = _fullest(part, near)
        taking.add(pivot)
        # The largest piece last, so that it is looked at first: it is the likeliest to escape.
        pieces = sorted(_outside(part, pivot), key=_volume)
        stack.extend((piece, near) for piece in pieces)


def _narrowed(region: Box, blockers: Sequence[Box], taking: set[Box]) -> tuple[Box | None, list[Box]]:
    """The region without what blockers that differ on one axis take from it, and the blockers still near."""
    near = list(blockers)
    changed = True
    while changed:
        changed = False
        kept = []
        for blocker in near:
            verdict = _open_axis(region, blocker)
            if verdict == _APART:
                continue
            if verdict == _SEVERAL:
                kept.append(blocker)
                continue
            taking.add(blocker)
            if verdict == _COVERS:
                return None, []
            region = (*region[:verdict], region[verdict] & ~blocker[verdict], *region[verdict + 1 :])
            changed = True
        near = kept
    return region, near


_APART, _COVERS, _SEVERAL = -1, -2, -3


def _open_axis(region: Box, blocker: Box) -> int:
    """The one axis on which the region reaches out of the blocker, or `_APART`, `_COVERS`, `_SEVERAL`."""
    found = _COVERS
    for axis, mine in enumerate(region):
        theirs = blocker[axis]
        if not mine & theirs:
            return _APART
        if mine & ~theirs:
            found = axis if found == _COVERS else _SEVERAL
    return found


def _fullest(region: Box, blockers: Sequence[Box]) -> Box:
    """The blocker that takes most of the region: what it leaves is smallest."""
    return max(blockers, key=lambda blocker: _volume(map(int.__and__, region, blocker)))


def _outside(region: Box, blocker: Box) -> Iterator[Box]:
    """The region without the blocker, as disjoint boxes."""
    inside = region
    for axis, mine in enumerate(region):
        out = mine & ~blocker[axis]
        if out:
            yield (*inside[:axis], out, *inside[axis + 1 :])
            inside = (*inside[:axis], mine & blocker[axis], *inside[axis + 1 :])


def _volume(masks: Iterable[int]) -> int:
    return math.prod(map(int.bit_count, masks))
