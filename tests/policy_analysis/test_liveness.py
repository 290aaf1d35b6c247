"""Rules that wait for signals which nobody sends, or for what was never recorded."""

from decimal import Decimal
from fractions import Fraction

from policy_app.kernel.analysis import analyse
from policy_app.kernel.conditions import Condition, OneOf, Only, at_least
from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.liveness import History, Seen, Sent, asleep, idle, liveness_findings
from policy_app.kernel.operations import Operation
from policy_app.kernel.signals import CATALOGUE, UNKNOWN
from policy_app.kernel.table import Rule, Table
from policy_app.kernel.zones import Lines, Zone

METERS = {name: {"claude-code": Sent.RECEIVED} for name in ("context_tokens", "window_tokens", "depth")}
NEVER_RED: History = {
    "GREEN": Seen(Fraction(48, 100), 900),
    "AMBER": Seen(Fraction(748, 1_000), 118),
    "RED": Seen(None, 0),
}


def one(*when: Condition) -> Table:
    return Table((Rule("r", Operation.EXTERNALIZE, when), Rule("rest", Operation.CONTINUE)))


def test_default_table__analysed__complete_and_no_rule_hides_another() -> None:
    found = analyse(DEFAULT_TABLE)
    assert found.is_clean
    assert (found.gaps, found.masked, found.unreachable) == ((), (), ())


def test_default_table__no_budget_and_no_tool_result_share__p1_and_p5_asleep_with_who_could_send() -> None:
    found = {each.rule: each for each in asleep(DEFAULT_TABLE, METERS)}
    assert list(found) == ["P1", "P5"]
    assert found["P1"].signals == ("budget_spent_ratio",)
    assert set(found["P1"].could_send) == set(CATALOGUE["budget_spent_ratio"].senders)
    assert set(found["P5"].could_send) == {"claude-code", "opencode", "canonical"}


def test_default_table__share_received_and_budget_by_its_parts__nobody_sleeps() -> None:
    told = {
        **METERS,
        "tool_result_share": {"opencode": Sent.ESTIMATED},
        "budget_spent_tokens": {"codex": Sent.RECEIVED},
        "budget_ceiling_tokens": {"codex": Sent.RECEIVED},
    }
    assert asleep(DEFAULT_TABLE, told) == ()


def test_default_table__silent_or_impossible__asleep_and_the_impossible_could_not() -> None:
    told = {**METERS, "tool_result_share": {"claude-code": Sent.IMPOSSIBLE, "opencode": Sent.SILENT}}
    (sleeper,) = (each for each in asleep(DEFAULT_TABLE, told) if each.rule == "P5")
    assert sleeper.could_send == ("opencode", "canonical")


def test_rule__for_one_host__sleeps_though_another_host_sends() -> None:
    told = {"repeat_failures": {"opencode": Sent.RECEIVED}}
    failing = at_least("repeat_failures", 3)
    assert asleep(one(failing), told) == ()
    (sleeper,) = asleep(one(failing, OneOf("host", ("claude-code",))), told)
    assert sleeper.could_send == ("claude-code",)


def test_rule__takes_unknown__never_sleeps() -> None:
    assert asleep(one(Only("zone", frozenset({UNKNOWN}))), {}) == ()


def test_default_table__never_red_or_critical__p2_to_p4_idle_with_the_highest_value_seen() -> None:
    found = idle(DEFAULT_TABLE, NEVER_RED)
    assert [(each.rule, each.zones) for each in found] == [
        ("P2", (Zone.CRITICAL,)),
        ("P3", (Zone.RED,)),
        ("P4", (Zone.RED,)),
    ]
    assert {each.highest for each in found} == {Fraction(748, 1_000)}
    texts = [each.text for each in liveness_findings(DEFAULT_TABLE, None, NEVER_RED)]
    assert texts[0] == "P2 is idle: CRITICAL was not reached, highest seen 74.8%."


def test_default_table__highest_seen_88_percent__only_critical_is_idle() -> None:
    found = idle(DEFAULT_TABLE, {"utilization": Seen(Fraction(88, 100), 412)})
    assert [(each.rule, each.highest) for each in found] == [("P2", Fraction(88, 100))]


def test_draft__red_line_moved_below_what_was_seen__no_longer_idle() -> None:
    """The history was counted by the old lines; it is read by those of the table at hand."""
    moved = Table(DEFAULT_TABLE.rules, lines=Lines(red=Decimal("0.65")))
    assert [each.rule for each in idle(moved, NEVER_RED)] == ["P2"]


def test_number__never_that_high__idle_with_the_highest_value_seen() -> None:
    (found,) = idle(one(at_least("depth", 2)), {"depth": Seen(1, 60)})
    assert (found.signal, found.highest) == ("depth", 1)
    assert idle(one(at_least("depth", 2)), {"depth": Seen(2, 60)}) == ()


def test_history__nothing_recorded__claims_nothing() -> None:
    assert idle(DEFAULT_TABLE, {}) == ()
    assert idle(DEFAULT_TABLE, {"AMBER": Seen(None, 0), "utilization": Seen(None, 0)}) == ()


def test_findings__both__warn_and_never_block() -> None:
    found = list(liveness_findings(DEFAULT_TABLE, METERS, NEVER_RED))
    assert [(each.code, each.rule) for each in found] == [
        ("asleep", "P1"),
        ("asleep", "P5"),
        ("idle", "P2"),
        ("idle", "P3"),
        ("idle", "P4"),
    ]
    assert {each.severity.value for each in found} == {"warns"}
    assert found[1].text == (
        "P5 sleeps until somebody sends the share of tool results; claude-code, opencode or canonical could."
    )
