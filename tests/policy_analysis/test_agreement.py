"""The analysis equals trying everything; `python -m tests.bench.analysis_agreement` does the same on 10,000 tables."""

import random
from decimal import Decimal

import pytest

from policy_app.kernel.analysis import analyse, overlaps_of
from policy_app.kernel.boxes import Steps, StepsSpent
from policy_app.kernel.conditions import Bound, InRange, OneOf, at_least, below
from policy_app.kernel.findings import analysis_findings
from policy_app.kernel.operations import Operation
from policy_app.kernel.table import Rule, Table
from policy_app.kernel.zones import HitPolicy
from tests.policy_analysis.agreement import disagreements
from tests.policy_analysis.tables import random_table
from tests.policy_kernel.tables import TWELVE, small_table
from tests.policy_kernel.tables import random_table as large_table

SEEDS_AT_A_TIME = 50


@pytest.mark.parametrize("first", range(0, 200, SEEDS_AT_A_TIME))
def test_analysis__signals_that_tie_each_other__equals_trying_everything(first: int) -> None:
    seeds = range(first, first + SEEDS_AT_A_TIME)
    assert {seed: wrong for seed in seeds if (wrong := disagreements(random_table(seed)))} == {}


@pytest.mark.parametrize("first", range(0, 400, SEEDS_AT_A_TIME * 2))
def test_analysis__any_signals__equals_trying_everything(first: int) -> None:
    seeds = range(first, first + SEEDS_AT_A_TIME * 2)
    assert {seed: wrong for seed in seeds if (wrong := disagreements(small_table(random.Random(seed))))} == {}


def always(rule_id: str) -> Rule:
    return Rule(rule_id, Operation.CONTINUE)


def test_unreachable__zone_red_at_a_fifth_of_the_window__contradiction_without_witness() -> None:
    lost = Rule("lost", Operation.COMPACT, (OneOf("zone", ("RED",)), below("utilization", "0.5")))
    (found,) = analyse(Table((lost, always("rest")))).unreachable
    assert (found.rule, found.taken_by, found.witness) == ("lost", (), None)


def test_unreachable__budget_of_a_subagent__contradiction() -> None:
    lost = Rule("lost", Operation.WRAP_UP, (OneOf("thread_kind", ("subagent",)), at_least("budget_spent_ratio", 1)))
    assert [each.rule for each in analyse(Table((lost, always("rest")))).unreachable] == ["lost"]


def test_gap__between_two_whole_numbers__is_none() -> None:
    """After 1 comes 2: nothing is left between `depth <= 1` and `depth >= 2`, nor by `> 1`."""
    for low in (Bound(Decimal(2)), Bound(Decimal(1), inclusive=False)):
        first = Rule("first", Operation.CONTINUE, (InRange("depth", high=Bound(Decimal(1))),))
        rest = Rule("rest", Operation.CONTINUE, (InRange("depth", low=low),))
        assert analyse(Table((first, rest), hit_policy=HitPolicy.UNIQUE)).is_clean


def test_gap__between_two_shares__is_found_with_its_ends() -> None:
    first = Rule("first", Operation.CONTINUE, (InRange("tool_result_share", high=Bound(Decimal("0.4"), False)),))
    rest = Rule("rest", Operation.CONTINUE, (InRange("tool_result_share", low=Bound(Decimal("0.4"), False)),))
    found = analyse(Table((first, rest)))
    parts = [part for gap in found.gaps for part in gap.region.document().values()]
    only_04 = {"from": "0.4", "from_inclusive": True, "to": "0.4", "to_inclusive": True}
    assert parts == [[only_04, "unknown"]]
    assert [each.code for each in analysis_findings(found)] == ["gap"]


def test_masked__by_one_of_two_that_could__names_one_and_a_situation_of_both() -> None:
    rules = (always("r1"), always("r2"), Rule("r3", Operation.COMPACT, (at_least("depth", 2),)))
    found = analyse(Table(rules))
    assert [(each.rule, each.by) for each in found.masked] == [("r2", "r1"), ("r3", "r1")]
    assert [each.witness.values["depth"] for each in found.masked if each.rule == "r3"] == [2]


def test_overlaps__first_match_wins__remarks_only() -> None:
    table = Table((Rule("deep", Operation.HANDOFF_FRESH, (at_least("depth", 2),)), always("rest")))
    assert analyse(table).overlaps == ()
    assert [pair.rules for pair in overlaps_of(table)[0]] == [("deep", "rest")]


def test_analysis__steps_spent__says_what_it_could_not_decide() -> None:
    table = large_table(random.Random(1), names=TWELVE, rules=40, conditions=(2, 4), steps=20)
    found = analyse(table, steps=500)
    assert found.undecided
    assert not found.is_clean
    assert "undecided" in {each.code for each in analysis_findings(found)}
    known = {rule.rule for rule in analyse(table).unreachable}
    assert {rule.rule for rule in found.unreachable} <= known


def test_steps__none_left__refused() -> None:
    with pytest.raises(StepsSpent):
        Steps(0).take(1)
