"""Zones as free rows: the traps of the field around boundaries, gaps, overlaps and hidden rows."""

import json
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from policy_app.kernel.analysis import Analysis, analyse_zones
from policy_app.kernel.conditions import Bound, InRange
from policy_app.kernel.documents import zone_table_of
from policy_app.kernel.errors import OutOfRange, Refused, WrongOrder
from policy_app.kernel.numbers import percent
from policy_app.kernel.space import Region, span_document
from policy_app.kernel.zones import Lines, Zone, ZoneRow, ZoneTable
from tests.support.inputs import TRAPS, traps


def trap(number: str, name: str = "") -> Any:
    return json.loads((TRAPS / (name or f"{number}.json")).read_text())


def spans(region: Region) -> list[dict[str, object]]:
    (part,) = region.parts
    return [span_document(span) for span in part.spans]


def as_expected(found: Analysis) -> dict[str, object]:
    """The analysis in the words of the expectations."""
    overlaps = [{"rules": list(each.rules), **span} for each in found.overlaps for span in spans(each.region)]
    gaps = [span for gap in found.gaps for span in spans(gap.region)]
    return {
        "publishable": found.is_clean,
        "overlaps": overlaps,
        "gaps": gaps,
        "unreachable": [each.rule for each in found.unreachable],
    }


def test_first_table__row_covered_by_two_together__unreachable_with_both() -> None:
    found = analyse_zones(zone_table_of(trap("T142")))
    assert as_expected(found) == traps()["T142"]["expectation"]
    assert {each.rule: each.taken_by for each in found.unreachable} == {"r3": ("r2",), "r4": ("r1", "r2")}
    assert [(each.rule, each.by) for each in found.masked] == [("r3", "r2")]


@pytest.mark.parametrize("index", [0, 1, 2])
def test_unique_table__ends_around_three_quarters__overlap_gap_or_clean(index: int) -> None:
    raw = trap("T143")[index]
    expected = dict(traps()["T143"]["expectation"][raw["table"]])
    values = expected.pop("evaluate", {})
    table = zone_table_of(raw)
    assert as_expected(analyse_zones(table)) == expected
    assert {value: table.zone_at(Fraction(value)).value for value in values} == values


def test_custom_lines__exactly_at_57_percent__red_then_amber() -> None:
    """The story's two turns: 114,000 and 58,000 of 200,000."""
    expectation = traps()["T148"]["expectation"]
    lines = [json.loads(line) for line in (TRAPS / "T148.jsonl").read_text().splitlines()]
    tokens = [line["message"]["usage"]["cache_read_input_tokens"] for line in lines]
    table = zone_table_of(trap("T148", "T148.policy.json"))
    assert [table.zone_at(Fraction(each, expectation["window"])) for each in tokens] == expectation["zones"]
    same = Lines(Decimal("0.29"), Decimal("0.57"), Decimal("0.9"))
    assert [same.zone_of(each, expectation["window"]) for each in tokens] == expectation["zones"]


def test_lines__as_rows__tile_every_share() -> None:
    assert analyse_zones(ZoneTable.of(Lines())) == Analysis()


ENDS = [(0, "high"), (1, "low"), (1, "high"), (2, "low"), (2, "high"), (3, "low")]


@pytest.mark.parametrize(("row", "end"), ENDS)
@pytest.mark.parametrize("step", ["-0.01", "0.01"])
def test_rows_that_tile__any_end_moved__gap_or_overlap_with_its_witness(row: int, end: str, step: str) -> None:
    rows = list(ZoneTable.of(Lines()).rows)
    span = rows[row].span
    bound = span.low if end == "low" else span.high
    assert bound is not None
    moved = Bound(bound.value + Decimal(step), bound.inclusive)
    low, high = (moved, span.high) if end == "low" else (span.low, moved)
    rows[row] = ZoneRow(rows[row].id, InRange("utilization", low, high), rows[row].zone)
    found = analyse_zones(ZoneTable(tuple(rows)))
    assert len(found.gaps) + len(found.overlaps) == 1
    witnesses = [gap.witness for gap in found.gaps] + [overlap.witness for overlap in found.overlaps]
    for witness in witnesses:
        share = witness.values["utilization"]
        assert sum(each.span.matches(share) for each in rows) == (2 if found.overlaps else 0)


@pytest.mark.parametrize("row", [0, 1, 2])
def test_rows_that_tile__one_end_included_or_not__gap_or_overlap_at_that_point(row: int) -> None:
    rows = list(ZoneTable.of(Lines()).rows)
    high = rows[row].span.high
    assert high is not None
    closed = InRange("utilization", rows[row].span.low, Bound(high.value, inclusive=True))
    rows[row] = ZoneRow(rows[row].id, closed, rows[row].zone)
    (overlap,) = analyse_zones(ZoneTable(tuple(rows))).overlaps
    assert overlap.witness.values == {"utilization": Fraction(high.value)}


@pytest.mark.parametrize("lines", list(pairwise(range(1, 100, 9))))
def test_lines__any_percent__met_exactly_at_its_tokens(lines: tuple[int, int]) -> None:
    """Every pair of whole percents of a window that is no round number of tokens."""
    window = 100 * 1_999
    amber, red = (Decimal(each) / 100 for each in lines)
    table = Lines(amber, red, Decimal(1))
    assert table.zone_of(lines[0] * 1_999 - 1, window) is Zone.GREEN
    assert table.zone_of(lines[0] * 1_999, window) is Zone.AMBER
    assert table.zone_of(lines[1] * 1_999 - 1, window) is Zone.AMBER
    assert table.zone_of(lines[1] * 1_999, window) is Zone.RED


@pytest.mark.parametrize(
    ("lines", "refusal", "field"),
    [
        (("0.5", "0.5", "0.9"), WrongOrder, "zones.red"),
        (("0.5", "0.75", "0.7"), WrongOrder, "zones.critical"),
        (("0", "0.75", "0.9"), OutOfRange, "zones.amber"),
        (("0.5", "0.75", "1.01"), OutOfRange, "zones.critical"),
    ],
)
def test_lines__that_do_not_rise__refused_by_name(
    lines: tuple[str, str, str], refusal: type[Refused], field: str
) -> None:
    with pytest.raises(refusal) as caught:
        Lines(*map(Decimal, lines))
    assert caught.value.field == field


def test_percent__just_below_a_line__never_rounded_onto_it() -> None:
    assert [percent(each) for each in (Decimal("0.7499"), Decimal("0.75"), Decimal("0.999999"))] == [
        "74.9%",
        "75%",
        "99.9%",
    ]
