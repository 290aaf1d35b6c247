"""Tables over twelve signals that take every situation exactly once, and the same with one bound shifted."""

import random
from dataclasses import replace

import pytest

from policy_app.kernel.analysis import Analysis, analyse
from policy_app.kernel.conditions import Bound, InRange
from policy_app.kernel.errors import EmptyCondition
from policy_app.kernel.evaluate import matching
from policy_app.kernel.signals import CATALOGUE, Kind
from policy_app.kernel.table import Table
from tests.policy_kernel.tables import INDEPENDENT, tiling, with_condition

NUMBERS = [name for name in INDEPENDENT if CATALOGUE[name].is_number]


def tiled(seed: int) -> Table:
    """Tiles of one to twelve signals, of which at least one is a number."""
    rng = random.Random(seed)
    names = {rng.choice(NUMBERS), *rng.sample(INDEPENDENT, rng.randint(0, 12))}
    return tiling(rng, names=sorted(names), rules=rng.randint(4, 40))


def shifted(rng: random.Random, table: Table) -> Table:
    """One end of one range one step further, or included where it was not."""
    while True:  # until a rule with a range is met whose range can be shifted
        index = rng.randrange(len(table.rules))
        ranges = [each for each in table.rules[index].when if isinstance(each, InRange) and (each.low or each.high)]
        if not ranges:
            continue
        chosen = rng.choice(ranges)
        ends = [bound for bound in (chosen.low, chosen.high) if bound is not None]
        end = rng.choice(ends)
        moved = _shifted(rng, chosen.signal, end)
        try:
            other = replace(chosen, low=moved) if end is chosen.low else replace(chosen, high=moved)
        except EmptyCondition:
            continue
        return with_condition(table, index, other)


def _shifted(rng: random.Random, signal: str, bound: Bound) -> Bound:
    if rng.random() < 0.5:
        return replace(bound, inclusive=not bound.inclusive)
    step = 1 if CATALOGUE[signal].kind is Kind.WHOLE else bound.value / 100
    return replace(bound, value=bound.value + rng.choice((-1, 1)) * step)


@pytest.mark.parametrize("seed", range(40))
def test_tiling__as_it_is__clean(seed: int) -> None:
    assert analyse(tiled(seed)) == Analysis()


@pytest.mark.parametrize("seed", range(120))
def test_tiling__any_one_bound_shifted__gap_or_overlap_with_its_witness(seed: int) -> None:
    table = shifted(random.Random(seed), tiled(seed))
    found = analyse(table)
    assert found.gaps or found.overlaps
    for gap in found.gaps:
        assert matching(table, gap.witness.signals()) == ()
    for overlap in found.overlaps:
        assert set(overlap.rules) <= set(matching(table, overlap.witness.signals()))
