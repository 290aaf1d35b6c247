"""Laws of conditions and verdicts, for any table and any situation."""

import random

from hypothesis import given
from hypothesis import strategies as st

from policy_app.kernel.cells import axis_of
from policy_app.kernel.evaluate import Outcome, evaluate, matching
from policy_app.kernel.names import ModelPattern
from policy_app.kernel.operations import Operation
from policy_app.kernel.signals import CATALOGUE, Kind, Signals, Value, value_document
from policy_app.kernel.situation import situate
from policy_app.kernel.table import Table
from tests.policy_kernel.tables import MODELS, TWELVE, place, random_condition, random_table

SEEDS = st.integers(0, 10**9)
STEPS = 4


def random_value(rng: random.Random, name: str) -> Value:
    """A value of the signal: a bound that tables use, one beside it, or a special one."""
    signal = CATALOGUE[name]
    if signal.specials and rng.random() < 0.25:
        return rng.choice(signal.specials)
    if signal.kind is Kind.FLAG:
        return rng.random() < 0.5
    if signal.kind is Kind.NAME:
        return rng.choice(MODELS).replace("*", "x")
    if signal.options:
        return rng.choice(signal.options)
    number = place(name, rng.randint(0, STEPS), STEPS)
    if signal.kind is Kind.WHOLE:
        return max(0, int(number) + rng.randint(-1, 1))
    return signal.take(number)


def random_signals(rng: random.Random) -> Signals:
    names = rng.sample(TWELVE, rng.randint(0, len(TWELVE)))
    return Signals({name: random_value(rng, name) for name in names})


def made(seed: int) -> tuple[Table, Signals]:
    rng = random.Random(seed)
    table = random_table(
        rng, names=TWELVE, rules=rng.randint(1, 12), conditions=(0, 3), steps=STEPS, wide=seed % 3 == 0
    )
    return table, random_signals(rng)


@given(SEEDS)
def test_verdict__any_table__names_the_least_matching_rule(seed: int) -> None:
    table, signals = made(seed)
    verdict = evaluate(table, signals)
    known = situate(table, signals).signals
    holding = [rule.id for rule in table.rules if all(c.matches(known[c.signal]) for c in rule.when)]
    assert verdict.rule == (holding[0] if holding else "")
    assert matching(table, signals) == tuple(holding)


@given(SEEDS)
def test_verdict__trace__holds_every_rule_up_to_the_matching_one(seed: int) -> None:
    table, signals = made(seed)
    verdict = evaluate(table, signals)
    assert [step.rule for step in verdict.trace] == [rule.id for rule in table.rules][: len(verdict.trace)]
    assert all(step.outcome is Outcome.NOT_MET for step in verdict.trace[:-1])
    assert all(step.failed and not step.failed.matches(step.value) for step in verdict.trace if step.value is not None)


@given(SEEDS)
def test_verdict__given_twice__equal(seed: int) -> None:
    assert evaluate(*made(seed)) == evaluate(*made(seed))


@given(SEEDS)
def test_verdict__of_a_subagent__never_one_that_needs_a_successor(seed: int) -> None:
    verdict = evaluate(*made(seed), subagent=True)
    assert verdict.operation not in (Operation.HANDOFF_FRESH, Operation.WRAP_UP)
    assert verdict.subagent


@given(SEEDS)
def test_situation__derived_again__stays_as_it_is(seed: int) -> None:
    table, signals = made(seed)
    once = situate(table, signals)
    again = situate(table, once.signals)
    assert again == once


@given(SEEDS)
def test_signals__as_document_and_back__same_values(seed: int) -> None:
    _, signals = made(seed)
    document = {name: value_document(value) for name, value in signals.values.items()}
    assert Signals.of(document) == signals


@given(SEEDS, st.sampled_from(sorted(name for name, signal in CATALOGUE.items() if signal.in_rules)))
def test_axis__cells_of_conditions__hold_exactly_the_values_that_match(seed: int, name: str) -> None:
    """A value of each cell is met by a condition if and only if the cell is among the condition's."""
    rng = random.Random(seed)
    conditions = [random_condition(rng, name, steps=STEPS) for _ in range(rng.randint(1, 4))]
    axis = axis_of(name, conditions)
    for index in range(axis.size):
        cell = 1 << index
        value = axis.value_in(cell)
        for condition in conditions:
            assert condition.matches(value) == bool(axis.cells_of(condition) & cell), (value, condition)


@given(st.sampled_from(MODELS), st.sampled_from(["", "-", "opus-4-5", "-OPUS.4.5"]))
def test_model_pattern__any_spelling_of_a_name__matches_alike(pattern: str, ending: str) -> None:
    name = pattern.rstrip("*") + ending
    spellings = {name, name.upper(), name.replace("-", "."), f" {name} "}
    assert len({ModelPattern(pattern).matches(each.replace(".", "-")) for each in spellings}) == 1
    assert ModelPattern("*").matches(name)
