"""Exact analysis of a table: gaps, overlaps, masked and unreachable rules, each with a situation that shows it.

* gap: a situation that no rule takes.
* overlap: a situation that two rules of a `unique` table take; in a `first` table that is how it is meant.
* masked: a rule all of whose situations one earlier rule takes.
* unreachable: a rule that never answers, because earlier rules together take all of its situations, or because its
  conditions exclude each other (zone RED with a utilization of 20%). A masked rule is unreachable as well.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from policy_app.kernel.boxes import Box, Steps, StepsSpent, cover, escape, escapes, holds, joined, meet
from policy_app.kernel.space import Region, Space, Witness, space_of, zone_space_of
from policy_app.kernel.table import Table
from policy_app.kernel.zones import HitPolicy, ZoneTable

#: Boxes that may be held against parts (about a second); tables that people write need a few hundred.
MOST_STEPS = 300_000
#: Regions of a gap, and overlapping pairs, that are listed.
MOST_GAPS = 20
MOST_OVERLAPS = 200


@dataclass(frozen=True, slots=True)
class Gap:
    """Situations that no rule takes."""

    region: Region
    witness: Witness


@dataclass(frozen=True, slots=True)
class Overlap:
    """Situations that both rules take, the earlier one first."""

    rules: tuple[str, str]
    region: Region
    witness: Witness


@dataclass(frozen=True, slots=True)
class Masked:
    """A rule that one earlier rule hides; the witness meets both."""

    rule: str
    by: str
    witness: Witness


@dataclass(frozen=True, slots=True)
class Unreachable:
    """A rule that never answers: earlier rules that take all of it, or none where it contradicts itself.

    The witness meets the rule, and an earlier one takes it; None for a contradiction.
    """

    rule: str
    taken_by: tuple[str, ...]
    witness: Witness | None


@dataclass(frozen=True, slots=True)
class Analysis:
    """All findings. `more_gaps` and `more_overlaps` say that there are more than are listed.

    `undecided` names rules (empty text: the gaps) on which the search was given up, which no table of ordinary size
    comes near.
    """

    gaps: tuple[Gap, ...] = ()
    overlaps: tuple[Overlap, ...] = ()
    masked: tuple[Masked, ...] = ()
    unreachable: tuple[Unreachable, ...] = ()
    more_gaps: bool = False
    more_overlaps: bool = False
    undecided: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether the table may be published as far as its form goes."""
        return not (self.gaps or self.overlaps or self.unreachable or self.undecided)


def analyse(table: Table, *, steps: int = MOST_STEPS) -> Analysis:
    """The findings of a decision table; rules that are switched off are not there."""
    return _analyse(space_of(table), table.hit_policy, Steps(steps))


def overlaps_of(table: Table, *, steps: int = MOST_STEPS) -> tuple[tuple[Overlap, ...], bool]:
    """The pairs of rules that both take a situation, whatever the hit policy, and whether there are more.

    In a `first` table they are remarks: where the order of two rules matters. Raises `StepsSpent`.
    """
    return _overlaps(space_of(table), Steps(steps))


def analyse_zones(table: ZoneTable, *, steps: int = MOST_STEPS) -> Analysis:
    """The findings of a zone table over all known shares of a window."""
    return _analyse(zone_space_of(table), table.hit_policy, Steps(steps))


def _analyse(space: Space, hit_policy: HitPolicy, steps: Steps) -> Analysis:
    undecided: list[str] = []
    unreachable: list[Unreachable] = []
    to_name = Steps(steps.left)
    for index, rule_id in enumerate(space.ids):
        try:
            found = _unreachable(space, index, steps, to_name)
        except StepsSpent:
            undecided.append(rule_id)
        else:
            unreachable.extend([found] if found else [])
    gaps: tuple[Gap, ...] = ()
    overlaps: tuple[Overlap, ...] = ()
    more_gaps = more_overlaps = False
    try:
        gaps, more_gaps = _gaps(space, steps)
        if hit_policy is HitPolicy.UNIQUE:
            overlaps, more_overlaps = _overlaps(space, steps)
    except StepsSpent:
        undecided.append("")
    masked = _masked(unreachable)
    return Analysis(gaps, overlaps, masked, tuple(unreachable), more_gaps, more_overlaps, tuple(undecided))


def _unreachable(space: Space, index: int, steps: Steps, to_name: Steps) -> Unreachable | None:
    box = space.boxes[index]
    earlier = [other for other in range(index) if meet(space.boxes[other], box) is not None]
    taking = cover(box, [*space.impossible, *(space.boxes[other] for other in earlier)], steps)
    if taking is None:
        return None
    possible = escape(box, space.impossible, steps)
    if possible is None:
        return Unreachable(space.ids[index], (), None)
    taken_by = _needed(space, box, earlier, taking, possible, to_name)
    return Unreachable(space.ids[index], tuple(space.ids[other] for other in taken_by), space.witness(possible))


def _needed(
    space: Space, box: Box, earlier: Sequence[int], taking: frozenset[Box], possible: Box, steps: Steps
) -> Sequence[int]:
    """Earlier rules that together take the box: one where one is enough, else of `taking` none that can be spared.

    `possible` is a part of the box: who takes all of the box takes it. Where the steps are spent, some that could be
    spared are left; what is named takes the box all the same.
    """
    needed = sorted({space.boxes[other]: other for other in reversed(earlier) if space.boxes[other] in taking}.values())
    try:
        for other in (other for other in earlier if holds(space.boxes[other], possible)):
            if escape(box, [*space.impossible, space.boxes[other]], steps) is None:
                return (other,)
        for other in tuple(reversed(needed)):
            rest = [space.boxes[each] for each in needed if each != other]
            if escape(box, [*space.impossible, *rest], steps) is None:
                needed.remove(other)
    except StepsSpent:
        pass
    return needed


def _masked(unreachable: Sequence[Unreachable]) -> tuple[Masked, ...]:
    """One earlier rule that takes all of a rule makes it unreachable, so only those are looked at."""
    return tuple(
        Masked(found.rule, found.taken_by[0], found.witness)
        for found in unreachable
        if found.witness is not None and len(found.taken_by) == 1
    )


def _gaps(space: Space, steps: Steps) -> tuple[tuple[Gap, ...], bool]:
    blockers = [*space.impossible, *space.boxes]
    found = list(itertools.islice(escapes(space.whole, blockers, steps), MOST_GAPS + 1))
    boxes = joined(found[:MOST_GAPS])
    return tuple(Gap(space.region(box), space.witness(box)) for box in boxes), len(found) > MOST_GAPS


def _overlaps(space: Space, steps: Steps) -> tuple[tuple[Overlap, ...], bool]:
    found: list[Overlap] = []
    for (one, mine), (other, theirs) in itertools.combinations(zip(space.ids, space.boxes, strict=True), 2):
        both = meet(mine, theirs)
        possible = None if both is None else escape(both, space.impossible, steps)
        if both is None or possible is None:
            continue
        if len(found) == MOST_OVERLAPS:
            return tuple(found), True
        found.append(Overlap((one, other), space.region(both), space.witness(possible)))
    return tuple(found), False
