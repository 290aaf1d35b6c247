"""Rules, conditions and traces as sentences."""

import pytest

from policy_app.kernel.conditions import Bound, Condition, InRange, Is, OneOf, Only, at_least, below
from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.evaluate import evaluate
from policy_app.kernel.numbers import decimal_of
from policy_app.kernel.operations import Compact, Operation, PruneToolResults
from policy_app.kernel.sentences import condition_words, rule_sentence, step_words
from policy_app.kernel.signals import CATALOGUE, UNKNOWN, UNSET, Signals
from policy_app.kernel.table import Rule

EITHER = frozenset({UNKNOWN, UNSET})


def between(signal: str, low: str, high: str) -> InRange:
    return InRange(signal, Bound(decimal_of("low", low)), Bound(decimal_of("high", high), inclusive=False))


def test_sentences__default_table__read_as_in_the_editor() -> None:
    sentences = [rule_sentence(rule) for rule in DEFAULT_TABLE.rules]
    assert sentences == [
        "When the budget is spent, wrap up.",
        "When CRITICAL, hand over to a fresh session.",
        "When RED and depth < 2, compact.",
        "When RED and depth ≥ 2, hand over to a fresh session.",
        "When AMBER and tool results ≥ 40%, prune tool results.",
        "When AMBER, write a checkpoint.",
        "When GREEN or unknown, go on.",
    ]
    assert rule_sentence(DEFAULT_TABLE.rules[-1], otherwise=True) == "Otherwise, go on."


def test_sentence__own_parameters__are_in_it() -> None:
    assert rule_sentence(Rule("a", Operation.COMPACT, parameters=Compact("keep"))).startswith("Always, compact (")
    prune = rule_sentence(Rule("a", Operation.PRUNE_TOOL_RESULTS, parameters=PruneToolResults(clear_at_least=15_000)))
    assert "clear at least 15,000 tokens" in prune


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (at_least("context_tokens", 120_000), "context ≥ 120,000 tokens"),
        (at_least("utilization", "0.5725"), "context ≥ 57.25%"),
        (between("utilization", "0.5", "0.75"), "context ≥ 50% and < 75%"),
        (below("depth", 1), "depth < 1"),
        (at_least("budget_spent_ratio", "0.8"), "spending ≥ 80% of the budget"),
        (Is("cache_cold", True), "the cache is cold"),
        (Is("cache_cold", False), "the cache is warm"),
        (OneOf("thread_kind", ("subagent",)), "in a subagent"),
        (OneOf("host", ("codex", "claude-code")), "on claude-code or codex"),
        (OneOf("model", ("claude-*",)), "the model is claude-*"),
        (InRange("idle_seconds"), "idle seconds are known"),
        (InRange("budget_spent_ratio"), "a budget is set"),
        (Only("budget_spent_ratio", frozenset({UNSET})), "the budget is unset"),
        (Only("externalize_age_calls", EITHER), "calls since the last checkpoint are unknown or unset"),
    ],
)
def test_condition__of_each_kind__in_words(condition: Condition, words: str) -> None:
    assert condition_words(condition) == words


def test_condition__of_every_signal__has_words() -> None:
    for signal in CATALOGUE.values():
        if signal.in_rules and signal.specials:
            assert condition_words(Only(signal.name, frozenset(signal.specials)))


def test_trace__of_the_editors_trial__says_what_each_rule_needed() -> None:
    verdict = evaluate(DEFAULT_TABLE, Signals.of({"zone": "RED", "depth": 1}))
    words = {step.rule: step_words(step) for step in verdict.trace}
    assert words["P3"] == "matched"
    assert "CRITICAL" in words["P2"]
    assert "RED" in words["P2"]
    assert "budget" in words["P1"]
    assert "unset" in words["P1"]
