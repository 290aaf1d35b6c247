"""Verdicts against a second reading of the rules, from the table's document alone."""

import random
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import given, settings

from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.documents import table_document
from policy_app.kernel.evaluate import evaluate, matching
from policy_app.kernel.signals import Special, value_document
from policy_app.kernel.situation import situate
from tests.policy_kernel.test_laws import SEEDS, made


def holds(condition: Mapping[str, Any], value: object) -> bool:
    """Whether the value's document meets the condition's."""
    if value in ("unknown", "unset"):
        return value in condition.get("only", condition.get("or", []))
    if "only" in condition:
        return False
    if "is" in condition:
        return bool(value == condition["is"])
    if "in" in condition:
        return any(names(member, str(value)) for member in condition["in"])
    number, low, high = Fraction(str(value)), condition["from"], condition["to"]
    above = low is None or number > Fraction(low) or (condition["from_inclusive"] and number == Fraction(low))
    return above and (
        high is None or number < Fraction(high) or (condition["to_inclusive"] and number == Fraction(high))
    )


def names(member: str, value: str) -> bool:
    return value.startswith(member[:-1]) if member.endswith("*") else value == member


@settings(max_examples=300)
@given(SEEDS)
def test_verdict__rules_on_and_off__least_index_of_a_second_reading(seed: int) -> None:
    drawn, signals = made(seed)
    rng = random.Random(seed)
    table = replace(drawn, rules=(drawn.rules[0], *(replace(r, enabled=rng.random() < 0.8) for r in drawn.rules[1:])))
    known = situate(table, signals).signals
    rules: Any = table_document(table)["rules"]
    met = [
        rule["id"]
        for rule in rules
        if rule["enabled"] and all(holds(each, value_document(known[name])) for name, each in rule["when"].items())
    ]
    assert evaluate(table, signals).rule == (met[0] if met else "")
    assert matching(table, signals) == tuple(met)


@given(SEEDS, SEEDS)
def test_verdict__rules_added_behind_the_answer__stays(seed: int, other: int) -> None:
    table, signals = made(seed)
    verdict = evaluate(table, signals)
    behind = [replace(rule, id=f"behind-{rule.id}") for rule in made(other)[0].rules]
    longer = evaluate(replace(table, rules=(*table.rules, *behind)), signals)
    assert longer.rule == verdict.rule or not verdict.rule


@given(SEEDS)
def test_default_table__any_situation__answers_and_unknown_zones_never_escalate(seed: int) -> None:
    verdict = evaluate(DEFAULT_TABLE, made(seed)[1])
    assert verdict.rule
    if isinstance(verdict.situation.signals["zone"], Special):
        assert verdict.rule in ("P1", "P7")
