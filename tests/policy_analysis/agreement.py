"""Where the analysis and trying everything say different things about a table."""

from collections.abc import Iterator

from policy_app.kernel.analysis import Analysis, analyse, overlaps_of
from policy_app.kernel.evaluate import evaluate, matching
from policy_app.kernel.table import Table
from policy_app.kernel.zones import HitPolicy
from tests.policy_analysis.brute import Tried, tried


def disagreements(table: Table) -> list[str]:
    """Each difference, and each witness that evaluation does not confirm; none where all is well."""
    found, expected = analyse(table), tried(table)
    wrong = [] if not found.undecided else ["undecided"]
    wrong += _different(table, found, expected)
    wrong += _unconfirmed(table, found)
    return wrong


def _different(table: Table, found: Analysis, expected: Tried) -> Iterator[str]:
    pairs, _ = overlaps_of(table)
    if bool(found.gaps) != expected.has_gap:
        yield "gaps"
    if {pair.rules for pair in pairs} != expected.overlaps:
        yield "pairs"
    if {pair.rules for pair in found.overlaps} != (
        expected.overlaps if table.hit_policy is HitPolicy.UNIQUE else frozenset()
    ):
        yield "overlaps"
    if {rule.rule for rule in found.unreachable} != expected.unreachable:
        yield "unreachable"
    if {rule.rule for rule in found.masked} != expected.masked:
        yield "masked"
    if {rule.rule for rule in found.unreachable if rule.witness is None} != expected.contradictory:
        yield "contradictory"


def _unconfirmed(table: Table, found: Analysis) -> Iterator[str]:
    for gap in found.gaps:
        if matching(table, gap.witness.signals()) or evaluate(table, gap.witness.signals()).rule:
            yield "witness of a gap"
    for pair in (*found.overlaps, *overlaps_of(table)[0]):
        if not set(pair.rules) <= set(matching(table, pair.witness.signals())):
            yield "witness of an overlap"
    for masked in found.masked:
        if not {masked.rule, masked.by} <= set(matching(table, masked.witness.signals())):
            yield "witness of a masked rule"
    for rule in found.unreachable:
        if rule.witness is None:
            continue
        taker = evaluate(table, rule.witness.signals()).rule
        if rule.rule not in matching(table, rule.witness.signals()) or taker == rule.rule:
            yield "witness of an unreachable rule"
