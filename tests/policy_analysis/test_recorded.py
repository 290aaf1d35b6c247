"""Peaks of recorded calls as a table reads them, and the findings that follow."""

from dataclasses import replace
from fractions import Fraction

from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.names import ModelPattern
from policy_app.kernel.recorded import Peak, Recorded, history_of, recorded_findings
from policy_app.kernel.zones import WorkingWindow

AT_88 = Peak("claude-opus-4-5", 412, Fraction(88, 100), 176_000, 1, None, None)


def idle_rules(*peaks: Peak, hosts: tuple[str, ...] = (), working: int | None = None) -> list[str]:
    windows = (WorkingWindow(ModelPattern("claude-*"), working),) if working else ()
    table = replace(DEFAULT_TABLE, working_windows=windows)
    found = recorded_findings(table, Recorded(None, hosts, peaks))
    return [each.rule for each in found if each.code == "idle"]


def test_peaks__never_above_88__critical_is_idle_with_the_highest_seen() -> None:
    (idle,) = (
        each
        for each in recorded_findings(DEFAULT_TABLE, Recorded(None, (), (AT_88, replace(AT_88, depth=2))))
        if each.code == "idle"
    )
    assert idle.text == "P2 is idle: CRITICAL was not reached, highest seen 88%."


def test_peaks__of_a_smaller_working_window__are_shares_of_that() -> None:
    assert "P2" in idle_rules(AT_88)
    assert "P2" not in idle_rules(AT_88, working=190_000)


def test_peaks__without_a_known_window__count_where_the_policy_has_one() -> None:
    unknown = replace(AT_88, utilization=None)
    assert history_of(DEFAULT_TABLE, (unknown,))["utilization"].count == 0
    assert idle_rules(unknown) == ["P4"]  # a depth of 2 was never seen; of zones nothing is claimed
    assert "P2" not in idle_rules(unknown, working=190_000)


def test_recorded__nothing__says_nothing() -> None:
    assert recorded_findings(DEFAULT_TABLE, None) == ()
    assert recorded_findings(DEFAULT_TABLE, Recorded(None, (), ())) == ()


def test_recorded__hosts_that_report__tells_what_they_cannot_do() -> None:
    found = recorded_findings(DEFAULT_TABLE, Recorded(None, ("claude-code", "opencode"), ()))
    assert [each.text for each in found if each.rule == "P5"] == ["P5: claude-code cannot prune tool results."]
