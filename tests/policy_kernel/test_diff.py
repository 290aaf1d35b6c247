"""Differences of tables: empty for equal ones, complete for others, in conflict with tables that have moved on."""

import random
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_app.kernel.changes import change_sentence, touched_rules
from policy_app.kernel.conditions import OneOf, below
from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.diff import Conflict, Reordered, RuleAdded, RuleChanged, Set, applied, conflicts, difference
from policy_app.kernel.names import ModelPattern
from policy_app.kernel.operations import Operation
from policy_app.kernel.table import Limits, Rule, Table
from policy_app.kernel.zones import Lines, WorkingWindow
from tests.policy_kernel.tables import small_table

RED_EARLIER = replace(DEFAULT_TABLE, lines=Lines(red=Decimal("0.65")))


def with_rules(*rules: Rule) -> Table:
    return replace(DEFAULT_TABLE, rules=rules)


def any_table(seed: int) -> Table:
    """A small table over some of the default rules, so that two of them share rules in another order."""
    rng = random.Random(seed)
    made = small_table(rng)
    kept = rng.sample(DEFAULT_TABLE.rules, rng.randint(0, 7))
    rules = [*made.rules, *kept]
    rng.shuffle(rules)
    lines = Lines(*(Decimal(each) / 100 for each in sorted(rng.sample(range(1, 101), 3))))
    windows = (WorkingWindow(ModelPattern("claude-*"), rng.randint(1, 9) * 100_000),) if rng.random() < 0.5 else ()
    return replace(DEFAULT_TABLE, rules=tuple(rules), lines=lines, working_windows=windows, hit_policy=made.hit_policy)


@given(st.integers(0, 10**9))
def test_difference__of_a_table_and_itself__empty(seed: int) -> None:
    assert difference(any_table(seed), any_table(seed)) == ()


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_difference__applied__gives_the_other_table(one: int, other: int) -> None:
    was, now = any_table(one), any_table(other)
    assert applied(was, difference(was, now)) == now


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_difference__there_and_back__gives_the_first_table(one: int, other: int) -> None:
    was, now = any_table(one), any_table(other)
    assert applied(applied(was, difference(was, now)), difference(now, was)) == was


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_difference__every_change__has_a_sentence(one: int, other: int) -> None:
    for change in difference(any_table(one), any_table(other)):
        assert change_sentence(change).endswith(".")


def test_difference__one_line_moved__one_change_and_the_rules_beside_it() -> None:
    changes = difference(DEFAULT_TABLE, RED_EARLIER)
    assert [change_sentence(change) for change in changes] == ["RED from 75% to 65%."]
    assert touched_rules(DEFAULT_TABLE, RED_EARLIER, changes) == ("P3", "P4", "P5", "P6")


def test_difference__cap_raised__rules_that_refer_to_it_follow_and_do_not_change() -> None:
    limits = Limits(compaction_depth_cap=3)
    changes = (Set("limits.compaction_depth_cap", 2, 3),)
    raised = applied(DEFAULT_TABLE, changes)
    assert raised.limits == limits
    assert raised.rule("P3").on("depth") == below("depth", 3, limit="compaction_depth_cap")
    assert difference(DEFAULT_TABLE, raised) == changes
    assert touched_rules(DEFAULT_TABLE, raised, changes) == ("P3", "P4")


def test_difference__rule_moved_to_the_top__only_that_one_moved() -> None:
    *others, last = DEFAULT_TABLE.rules
    (change,) = difference(DEFAULT_TABLE, with_rules(last, *others))
    assert isinstance(change, Reordered)
    assert change.moved == ("P7",)


def test_difference__condition_and_operation_of_a_rule__one_change_with_its_fields() -> None:
    rules = list(DEFAULT_TABLE.rules)
    rules[5] = replace(rules[5], operation=Operation.COMPACT, parameters=None, when=(OneOf("zone", ("AMBER", "RED")),))
    (change,) = difference(DEFAULT_TABLE, with_rules(*rules))
    assert isinstance(change, RuleChanged)
    assert set(change.fields) == {"when.zone", "operation", "parameters"}
    words = change_sentence(change)
    assert "AMBER becomes AMBER or RED" in words
    assert "write a checkpoint becomes compact" in words


def test_applied__table_that_has_moved_on__conflict_names_the_field() -> None:
    changes = difference(DEFAULT_TABLE, RED_EARLIER)
    moved_on = replace(DEFAULT_TABLE, lines=Lines(red=Decimal("0.7")))
    assert conflicts(moved_on, changes) == changes
    with pytest.raises(Conflict) as caught:
        applied(moved_on, changes)
    assert caught.value.field == "zones.red"


def test_applied__changes_of_two_editors_in_different_places__both_stay() -> None:
    other = replace(DEFAULT_TABLE, lines=Lines(amber=Decimal("0.55")))
    both = applied(other, difference(DEFAULT_TABLE, RED_EARLIER))
    assert both.lines == Lines(Decimal("0.55"), Decimal("0.65"))


def test_applied__rule_that_is_there_already__conflict() -> None:
    added = (RuleAdded(DEFAULT_TABLE.rules[0]),)
    with pytest.raises(Conflict):
        applied(DEFAULT_TABLE, added)
