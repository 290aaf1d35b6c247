"""ECM policy files in and out: the same verdicts, and everything that was left out said in words."""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
import yaml

from policy_app.kernel.conditions import Bound, InRange, Only, at_least
from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.errors import Refused
from policy_app.kernel.evaluate import evaluate
from policy_app.kernel.findings import Severity
from policy_app.kernel.interchange import DEFAULT_PINS, Imported, import_policy
from policy_app.kernel.interchange_export import export_policy
from policy_app.kernel.meters import signals_of, verdict_document
from policy_app.kernel.names import ModelPattern
from policy_app.kernel.operations import Compact, Operation
from policy_app.kernel.signals import UNKNOWN, UNSET, Signals
from policy_app.kernel.table import Limits, Rule, Table
from policy_app.kernel.when_keys import conditions_of, when_of
from policy_app.kernel.zones import HitPolicy, Lines, WorkingWindow
from tests.support.inputs import INPUTS

POLICY = (INPUTS / "ecm" / "policy.yaml").read_bytes()
RECORDED: list[dict[str, Any]] = json.loads((INPUTS / "ecm" / "kernel-verdicts.json").read_text())


def table_of(imported: Imported) -> Table:
    assert imported.table is not None
    return imported.table


def blocked(source: str) -> list[str]:
    """Fields of what blocks the import."""
    imported = import_policy(source)
    assert imported.table is None
    return [remark.field for remark in imported.remarks if remark.severity is Severity.BLOCKS]


def said(source: str | bytes) -> dict[str, str]:
    """Remarks that do not block, by field."""
    imported = import_policy(source)
    return {remark.field: remark.text for remark in imported.remarks if remark.severity is not Severity.BLOCKS}


def policy(**sections: object) -> str:
    """The published policy with other sections, as YAML."""
    return yaml.safe_dump({**yaml.safe_load(POLICY), **sections})


def test_import__published_policy__is_the_default_table_without_its_words() -> None:
    imported = import_policy(POLICY)
    rules = tuple(replace(rule, reason="", evidence=()) for rule in DEFAULT_TABLE.rules)
    assert table_of(imported) == replace(DEFAULT_TABLE, rules=rules, arguments=())
    assert imported.pins == DEFAULT_PINS
    assert [remark.field for remark in imported.remarks] == ["audit"]


def test_import__published_policy__gives_all_recorded_verdicts() -> None:
    table = table_of(import_policy(POLICY))
    names = ("rule", "operation", "raw_operation")
    equal = 0
    for record in RECORDED:
        given = verdict_document(evaluate(table, signals_of(record["meter"]), subagent=record["subagent"]))
        assert {name: given[name] for name in names} == {name: record["verdict"][name] for name in names}
        equal += 1
    assert equal == 400


def test_export__default_table__says_what_the_published_file_says() -> None:
    exported = export_policy(DEFAULT_TABLE)
    assert exported.text is not None
    published = yaml.safe_load(POLICY)
    del published["audit"]
    assert yaml.safe_load(exported.text) == published
    assert [remark.text for remark in exported.remarks] == ["Reasons and evidence have no place in the file."]


def test_export__then_import__same_rules_lines_and_limits() -> None:
    lines = Lines(Decimal("0.5125"), Decimal("0.7"), Decimal(1))
    limits = Limits(compaction_depth_cap=3, tool_result_share_prune=Decimal("0.35"))
    rules = (
        Rule("no", Operation.WRAP_UP, (Only("budget_spent_ratio", frozenset({UNSET})),)),
        Rule("1.10", Operation.COMPACT, (InRange("depth", Bound(Decimal(1), False), Bound(Decimal(4), True)),)),
        Rule("on", Operation.EXTERNALIZE, (InRange("budget_spent_ratio", accepts=frozenset({UNKNOWN})),)),
        Rule("last", Operation.CONTINUE),
    )
    table = Table(rules, lines=lines, limits=limits, remap={Operation.COMPACT: Operation.CONTINUE})
    exported = export_policy(table)
    assert exported.text is not None
    again = table_of(import_policy(exported.text))
    assert (again.lines, again.limits, again.remap) == (table.lines, table.limits, table.remap)
    assert [rule.id for rule in again.rules] == ["no", "1.10", "on", "last"]
    depths = [
        evaluate(again, signals_of({"compaction_count": depth, "budget": {"ceiling_tokens": 5}})).rule
        for depth in range(6)
    ]
    assert depths == ["on", "on", "1.10", "1.10", "1.10", "on"]


def test_export__what_the_format_lacks__is_said_and_a_lost_rule_blocks() -> None:
    first = replace(DEFAULT_TABLE.rules[2], parameters=Compact("keep names"))
    table = replace(
        DEFAULT_TABLE,
        rules=(first, replace(DEFAULT_TABLE.rules[0], enabled=False), DEFAULT_TABLE.rules[6]),
        hit_policy=HitPolicy.UNIQUE,
        working_windows=(WorkingWindow(ModelPattern("claude-*"), 200_000),),
    )
    exported = export_policy(table)
    assert exported.text is not None
    assert [remark.field for remark in exported.remarks] == [
        "hit_policy",
        "working_windows",
        "rules.P3",
        "rules.P1",
        "rules",
    ]
    lost = replace(table, rules=(Rule("idle", Operation.COMPACT, (at_least("idle_seconds", 300),)), *table.rules))
    refused = export_policy(lost)
    assert refused.text is None
    assert [r.field for r in refused.remarks if r.severity is Severity.BLOCKS] == ["rules.idle.when.idle_seconds"]


def test_import__several_faults__all_of_them_are_named_at_once() -> None:
    source = policy(
        zones={"amber": float("nan"), "red": float("inf"), "critical": 0.9},
        limits={"prompt_path_ms": "soon"},
        rules=[
            {"id": "a", "operation": "strategise"},
            {"id": None, "operation": "compact"},
            {"id": "c", "operation": "compact", "when": {"zone": "red", "mood": 1}},
            {
                "id": "d",
                "operation": "compact",
                "when": {"budget_ceiling_set": False, "budget_spent_gte_ceiling": True},
            },
        ],
    )
    assert blocked(source) == [
        "zones.amber",
        "zones.red",
        "limits.prompt_path_ms",
        "rules[0].operation",
        "rules[1].id",
        "rules[2].when.mood",
        "rules[3].when.budget_spent_gte_ceiling",
    ]


@pytest.mark.parametrize("zones", [{"amber": 0.8}, {"amber": 0, "red": 0.5}, {"critical": 1.1}, []])
def test_import__lines_that_do_not_rise_within_the_window__blocked(zones: object) -> None:
    assert blocked(policy(zones=zones or [1]))


@pytest.mark.parametrize("source", ["", "[]", "just words", "a: 1\na: 2", "rules: []", "x: [" * 50])
def test_import__no_policy_at_all__blocked_in_words(source: str) -> None:
    assert blocked(source)


def test_import__number_beside_its_limit__follows_it_or_is_told() -> None:
    limits = {"compaction_depth_cap": 3, "tool_result_share_prune": 0.4}
    source = policy(limits=limits)
    assert said(source)["rules.P3"] == (
        "P3 says 2 where compaction_depth_cap says 3: one number in two places. The rule keeps its own."
    )
    share = table_of(import_policy(source)).rule("P5").on("tool_result_share")
    assert share == InRange("tool_result_share", Bound(Decimal("0.4"), limit="tool_result_share_prune"))


def test_import__keys_that_nothing_reads__are_said() -> None:
    source = policy(
        ecm_version="0.9",
        strategies=["any"],
        operations={"magic": {}, "compact": {"steps": ["host_compact"]}},
        subagents={"meter": "shared"},
        pins=[*DEFAULT_PINS[1:], "our-own"],
    )
    remarks = said(source)
    assert {"ecm_version", "strategies", "operations.magic", "operations.compact", "subagents.meter", "pins"} <= set(
        remarks
    )
    assert import_policy(source).pins == (*DEFAULT_PINS, "our-own")


@pytest.mark.parametrize(
    ("when", "met", "not_met"),
    [
        ({"budget_ceiling_set": True}, [UNKNOWN, 0, 2], [UNSET]),
        ({"budget_ceiling_set": False}, [UNSET], [UNKNOWN, 0, 2]),
        ({"budget_spent_gte_ceiling": True}, [1, 2], [UNSET, UNKNOWN, "0.999999"]),
        ({"budget_spent_gte_ceiling": False}, [UNSET, UNKNOWN, "0.999999"], [1, 2]),
        ({"budget_ceiling_set": True, "budget_spent_gte_ceiling": False}, [UNKNOWN, 0], [UNSET, 1]),
    ],
)
def test_when__budget_flags__mean_what_the_shell_kernel_meant(
    when: dict[str, object], met: list[object], not_met: list[object]
) -> None:
    (condition,) = conditions_of(when, Limits(), field="when")
    values = [Signals.of({"budget_spent_ratio": raw})["budget_spent_ratio"] for raw in (*met, *not_met)]
    assert [condition.matches(value) for value in values] == [True] * len(met) + [False] * len(not_met)
    again = conditions_of(when_of(Rule("r", Operation.CONTINUE, (condition,))), Limits(), field="when")
    assert again == (condition,)


def test_when__key_that_nobody_knows__refused_because_leaving_it_out_widens_the_rule() -> None:
    with pytest.raises(Refused) as caught:
        conditions_of({"zone": "red", "compaction_count": 2}, Limits(), field="rules[0].when")
    assert caught.value.field == "rules[0].when.compaction_count"
