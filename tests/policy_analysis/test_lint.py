"""The laws of ECM against tables that break them, each with a situation that the evaluation confirms."""

from dataclasses import replace

import pytest

from policy_app.kernel.conditions import Bound, Condition, InRange, OneOf, Only, at_least, below
from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.evaluate import evaluate
from policy_app.kernel.findings import Finding, Severity
from policy_app.kernel.lint import lint
from policy_app.kernel.operations import Operation, PruneToolResults
from policy_app.kernel.signals import UNKNOWN, UNSET
from policy_app.kernel.table import Limits, Rule, Table

REST = Rule("rest", Operation.CONTINUE, reason="nothing else to do")
RED = OneOf("zone", ("RED",))
AMBER = OneOf("zone", ("AMBER",))
ESCALATED = Rule("full", Operation.HANDOFF_FRESH, (OneOf("zone", ("RED", "CRITICAL")),), reason="full")


def rule(rule_id: str, operation: Operation, *when: Condition, **given: PruneToolResults) -> Rule:
    return Rule(rule_id, operation, when, given.get("parameters"), reason="said")


def found(code: str, *rules: Rule, **given: Limits) -> list[Finding]:
    """Findings of that code; a witness must be a situation in which the blamed rule answers."""
    table = Table(rules, limits=given.get("limits", Limits()))
    findings = [each for each in lint(table) if each.code == code]
    for each in findings:
        assert each.witness is None or evaluate(table, each.witness.signals()).rule == each.rule
    return findings


def test_default_table__all_laws__one_note_and_nothing_that_blocks() -> None:
    assert [(each.code, each.severity, each.rule) for each in lint(DEFAULT_TABLE)] == [
        ("prunes_beyond_cap", Severity.NOTES, "P5")
    ]


def test_red__rest_goes_on__blocked_with_a_situation() -> None:
    (finding,) = found("red_continues", rule("half", Operation.COMPACT, RED), REST)
    assert finding.severity is Severity.BLOCKS
    assert finding.witness is not None
    assert finding.witness.values["zone"] == "CRITICAL"


def test_red__an_earlier_rule_takes_it__not_held_against_the_rest() -> None:
    assert found("red_continues", ESCALATED, REST) == []


def test_red__by_utilization_only__found_by_the_lines_of_the_table() -> None:
    (finding,) = found(
        "red_continues",
        rule("late", Operation.COMPACT, at_least("utilization", "0.8")),
        rule("unread", Operation.CONTINUE, Only("utilization", frozenset({UNKNOWN}))),
        rule("rest", Operation.CONTINUE, below("utilization", "0.8")),
    )
    assert finding.rule == "rest"
    assert (
        found(
            "red_continues",
            rule("in-time", Operation.COMPACT, at_least("utilization", "0.75")),
            rule("rest", Operation.CONTINUE, below("utilization", "0.75")),
        )
        == []
    )


def test_unknown__everything_checkpoints_at_the_end__escalates() -> None:
    (finding,) = found("unknown_escalates", ESCALATED, rule("rest", Operation.EXTERNALIZE))
    assert (finding.rule, finding.severity) == ("rest", Severity.BLOCKS)
    assert finding.witness is not None
    assert finding.witness.values["zone"] is UNKNOWN


def test_unknown__compacts_while_the_zone_is_unknown__escalates() -> None:
    idle = rule("idle", Operation.COMPACT, at_least("idle_seconds", 3_600))
    assert [each.rule for each in found("unknown_escalates", ESCALATED, idle, REST)] == ["idle"]
    known = rule("idle", Operation.COMPACT, AMBER, at_least("idle_seconds", 3_600))
    assert found("unknown_escalates", ESCALATED, known, REST) == []


def test_unknown__budget_is_known_to_be_spent__may_act() -> None:
    spent = rule("spent", Operation.WRAP_UP, at_least("budget_spent_ratio", 1))
    assert found("unknown_escalates", spent, ESCALATED, REST) == []


def test_unknown__prunes_where_the_share_is_unknown__warned() -> None:
    share = InRange("tool_result_share", Bound(Limits().tool_result_share_prune), accepts=frozenset({UNKNOWN}))
    (finding,) = found("unknown_as_reason", ESCALATED, rule("prune", Operation.PRUNE_TOOL_RESULTS, AMBER, share), REST)
    assert (finding.rule, finding.severity) == ("prune", Severity.WARNS)


def test_unknown__unset_is_no_unknown__may_act() -> None:
    never = Only("externalize_age_calls", frozenset({UNSET}))
    assert found("unknown_escalates", ESCALATED, rule("never", Operation.EXTERNALIZE, AMBER, never), REST) == []


@pytest.mark.parametrize(("cap", "blamed"), [(2, []), (1, ["P3"])])
def test_depth__compacts_below_two__blocked_where_the_cap_is_one(cap: int, blamed: list[str]) -> None:
    compact = rule("P3", Operation.COMPACT, RED, below("depth", 2))
    findings = found("depth_cap", compact, ESCALATED, REST, limits=Limits(compaction_depth_cap=cap))
    assert [each.rule for each in findings] == blamed
    assert all(each.witness is not None and each.witness.values["depth"] == cap for each in findings)


def test_depth__every_compaction_unless_a_handoff_comes_first__no_finding() -> None:
    handoff = rule("deep", Operation.HANDOFF_FRESH, at_least("depth", 2))
    compact = rule("red", Operation.COMPACT, RED)
    assert found("depth_cap", handoff, compact, ESCALATED, REST) == []
    assert [each.rule for each in found("depth_cap", compact, handoff, ESCALATED, REST)] == ["red"]


def test_prune__memory_not_exempt__blocked_with_a_situation() -> None:
    bare = PruneToolResults(exclude_tools=("Read",))
    (finding,) = found(
        "memory_not_exempt", ESCALATED, rule("p", Operation.PRUNE_TOOL_RESULTS, AMBER, parameters=bare), REST
    )
    assert finding.witness is not None
    assert finding.witness.values["zone"] == "AMBER"
    exempt = PruneToolResults(exclude_tools=("Read", "memory"))
    assert found("memory_not_exempt", rule("p", Operation.PRUNE_TOOL_RESULTS, AMBER, parameters=exempt), REST) == []


def test_rule__switched_off__breaks_no_law() -> None:
    off = replace(rule("off", Operation.COMPACT, RED), enabled=False)
    assert found("depth_cap", off, ESCALATED, REST) == []


def test_hosts__prune__claude_code_cannot_and_opencode_can() -> None:
    findings = {each.rule: each for each in lint(DEFAULT_TABLE, hosts=("claude-code", "opencode")) if each.hosts}
    assert list(findings) == ["P5"]
    assert findings["P5"].hosts == ("claude-code",)
    assert findings["P5"].code == "some_cannot"


def test_hosts__only_ones_that_cannot__nobody_can() -> None:
    findings = [each for each in lint(DEFAULT_TABLE, hosts=("claude-code", "codex")) if each.hosts]
    assert [(each.code, each.rule, each.severity) for each in findings] == [("nobody_can", "P5", Severity.WARNS)]


def test_hosts__rule_for_one_host__others_are_not_asked() -> None:
    only = rule("p", Operation.PRUNE_TOOL_RESULTS, AMBER, OneOf("host", ("opencode",)))
    assert [
        each for each in lint(Table((only, ESCALATED, REST)), hosts=("claude-code", "opencode")) if each.hosts
    ] == []
