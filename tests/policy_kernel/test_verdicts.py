"""Verdicts of the default table: the recorded ones of the ECM kernel, and what each signal does to them."""

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from policy_app.kernel.conditions import OneOf, at_least
from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.errors import NotANumber, OutOfRange, Refused, UnknownName, WrongType
from policy_app.kernel.evaluate import Outcome, evaluate
from policy_app.kernel.levers import Addressee, Force
from policy_app.kernel.meters import signals_of, verdict_document
from policy_app.kernel.names import ModelPattern
from policy_app.kernel.operations import NoParameters, Operation
from policy_app.kernel.signals import UNKNOWN, UNSET, Signals
from policy_app.kernel.table import Rule, Table
from policy_app.kernel.zones import Lines, WorkingWindow, Zone
from tests.support.inputs import INPUTS

RECORDED: list[dict[str, Any]] = json.loads((INPUTS / "ecm" / "kernel-verdicts.json").read_text())


def verdict_of(**raw: object) -> str:
    return evaluate(DEFAULT_TABLE, Signals.of(raw)).rule


def test_default_table__all_recorded_meters__same_nine_fields() -> None:
    equal = 0
    for record in RECORDED:
        expected = dict(record["verdict"])
        expected["tool_result_share_est"] = Decimal(str(expected["tool_result_share_est"]))
        given = verdict_document(evaluate(DEFAULT_TABLE, signals_of(record["meter"]), record["subagent"]))
        assert given == expected, record["meter"]["session_id"]
        equal += 1
    assert equal == 400


@pytest.mark.parametrize(
    ("tokens", "zone"),
    [
        (0, Zone.GREEN),
        (99_999, Zone.GREEN),
        (100_000, Zone.AMBER),
        (149_999, Zone.AMBER),
        (150_000, Zone.RED),
        (179_999, Zone.RED),
        (180_000, Zone.CRITICAL),
        (214_600, Zone.CRITICAL),
    ],
)
def test_zone__at_each_boundary_of_200000__belongs_to_the_zone_above(tokens: int, zone: Zone) -> None:
    assert Lines().zone_of(tokens, 200_000) is zone


def test_zone__without_tokens_or_window__unknown() -> None:
    assert {Lines().zone_of(*given) for given in ((None, 200_000), (1, None), (1, 0))} == {Zone.UNKNOWN}


def test_meter__zone_unknown_beside_an_old_count__stays_unknown() -> None:
    meter = {"zone": "unknown", "used_tokens_est": 190_000, "window_tokens": 200_000, "utilization": 0.95}
    verdict = evaluate(DEFAULT_TABLE, signals_of(meter))
    assert (verdict.rule, verdict.zone) == ("P7", Zone.UNKNOWN)


def test_meter__float_beside_tokens__tokens_decide() -> None:
    """114,000 / 200,000 scaled to percent in binary is 56.99999999999999."""
    lines = Lines(Decimal("0.29"), Decimal("0.57"), Decimal("0.9"))
    table = Table(DEFAULT_TABLE.rules, lines=lines)
    meter = {"zone": "amber", "used_tokens_est": 114_000, "window_tokens": 200_000, "utilization": 0.5699999}
    assert evaluate(table, signals_of(meter)).zone is Zone.RED


def test_verdict__trace__says_why_each_earlier_rule_did_not_match() -> None:
    verdict = evaluate(DEFAULT_TABLE, Signals.of({"zone": "red", "depth": 2}))
    assert [(step.rule, step.outcome) for step in verdict.trace] == [
        ("P1", Outcome.NOT_MET),
        ("P2", Outcome.NOT_MET),
        ("P3", Outcome.NOT_MET),
        ("P4", Outcome.MATCHED),
    ]
    assert verdict.trace[0].value is UNSET
    assert verdict.trace[2].failed is not None
    assert (verdict.trace[2].failed.signal, verdict.trace[2].value) == ("depth", 2)


def test_verdict__budget_of_a_subagent__reads_unset_and_its_operation_is_remapped() -> None:
    spent = Signals.of({"budget_spent_tokens": 10, "budget_ceiling_tokens": 10, "zone": "critical"})
    main, sub = evaluate(DEFAULT_TABLE, spent), evaluate(DEFAULT_TABLE, spent, subagent=True)
    assert (main.rule, main.operation) == ("P1", Operation.WRAP_UP)
    assert (sub.rule, sub.operation, sub.raw_operation) == (
        "P2",
        Operation.FINISH_AND_RETURN,
        Operation.HANDOFF_FRESH,
    )
    assert sub.parameters == NoParameters()


@pytest.mark.parametrize(
    ("budget", "rule"),
    [
        ({"budget_spent_tokens": 99, "budget_ceiling_tokens": 100}, "P7"),
        ({"budget_spent_tokens": 100, "budget_ceiling_tokens": 100}, "P1"),
        ({"budget_spent_tokens": 0, "budget_ceiling_tokens": 0}, "P1"),
        ({"budget_spent_tokens": "unknown", "budget_ceiling_tokens": 100}, "P7"),
        ({"budget_spent_tokens": 100}, "P7"),
        ({"budget_spent_ratio": "1"}, "P1"),
    ],
)
def test_budget__spent_against_ceiling__reached_exactly(budget: dict[str, object], rule: str) -> None:
    assert verdict_of(zone="green", **budget) == rule


def test_unknown__tool_result_share__does_not_prune() -> None:
    assert verdict_of(zone="amber", tool_result_share=None) == "P6"
    assert verdict_of(zone="amber", tool_result_share="0.4") == "P5"
    assert verdict_of(zone="amber", tool_result_share=0.39) == "P6"


def test_working_window__smaller_than_the_hosts__decides_over_the_zone() -> None:
    windows = (WorkingWindow(ModelPattern("claude-sonnet-*"), 200_000), WorkingWindow(ModelPattern("*"), 400_000))
    table = Table(DEFAULT_TABLE.rules, working_windows=windows)
    raw = {"context_tokens": 167_731, "window_tokens": 1_000_000, "model": "claude-sonnet-4.5"}
    verdict = evaluate(table, Signals.of(raw))
    assert (verdict.zone, verdict.situation.window_tokens, verdict.situation.window_by) == (
        Zone.RED,
        200_000,
        "policy",
    )
    other = evaluate(table, Signals.of({**raw, "model": "gpt-6"}))
    assert (other.zone, other.situation.window_tokens) == (Zone.GREEN, 400_000)


def test_working_window__larger_than_the_hosts__host_decides() -> None:
    table = Table(DEFAULT_TABLE.rules, working_windows=(WorkingWindow(ModelPattern("*"), 400_000),))
    verdict = evaluate(table, Signals.of({"context_tokens": 100_000, "window_tokens": 200_000, "model": "m"}))
    assert (verdict.zone, verdict.situation.window_by) == (Zone.AMBER, "host")
    assert verdict.situation.signals["utilization"] == Fraction(1, 2)


def test_lever__of_the_asking_host__says_who_is_told() -> None:
    cases = {
        "claude-code": (Force.ENFORCED, Addressee.SETTING, Addressee.HUMAN),
        "opencode": (Force.ENFORCED, Addressee.SETTING, Addressee.HUMAN),
        "copilot": (Force.ADVISED, Addressee.HUMAN, None),
        "otlp": (Force.IMPOSSIBLE, Addressee.NOBODY, None),
    }
    for host, expected in cases.items():
        lever = evaluate(DEFAULT_TABLE, Signals.of({"zone": "red", "host": host})).lever
        assert lever is not None
        assert (lever.force, lever.addressee, lever.also) == expected, host
    assert evaluate(DEFAULT_TABLE, Signals.of({"zone": "red"})).lever is None


def test_table_with_a_gap__unanswered_situation__continues_and_says_so() -> None:
    table = Table((Rule("only", Operation.COMPACT, (OneOf("zone", ("RED",)),)),))
    verdict = evaluate(table, Signals.of({"zone": "critical"}))
    assert (verdict.rule, verdict.operation, verdict.reason) == ("", Operation.CONTINUE, "no rule matches")


def test_rule_switched_off__matching_situation__next_rule_answers() -> None:
    rules = (
        Rule("off", Operation.COMPACT, (at_least("depth", 0),), enabled=False),
        Rule("on", Operation.CONTINUE),
    )
    verdict = evaluate(Table(rules), Signals.of({}))
    assert [(step.rule, step.outcome) for step in verdict.trace] == [("off", Outcome.OFF), ("on", Outcome.MATCHED)]


@pytest.mark.parametrize(
    ("raw", "refusal"),
    [
        ({"nonsense": 1}, UnknownName),
        ({"zone": "purple"}, UnknownName),
        ({"depth": "unknown"}, OutOfRange),
        ({"depth": -1}, OutOfRange),
        ({"depth": 1.5}, WrongType),
        ({"depth": True}, WrongType),
        ({"tool_result_share": 1.01}, OutOfRange),
        ({"utilization": float("nan")}, NotANumber),
        ({"utilization": "1e999"}, NotANumber),
        ({"context_tokens": 10**30}, OutOfRange),
        ({"cache_cold": "yes"}, WrongType),
        ({"host": 7}, WrongType),
    ],
)
def test_signals__wrong_value__refused_by_name_of_the_signal(raw: dict[str, object], refusal: type[Refused]) -> None:
    with pytest.raises(refusal) as caught:
        Signals.of(raw)
    assert caught.value.field in (*raw, "signal")


def test_signals__absent__read_as_the_catalogue_says() -> None:
    signals = Signals.of({})
    assert (signals["zone"], signals["depth"], signals["budget_spent_ratio"]) == (UNKNOWN, 0, UNSET)
