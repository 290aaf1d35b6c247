"""Clearings: one event however often it is reported, its cost observed, its saving per later call."""

from decimal import Decimal
from typing import Any

from sessions_app.kernel.facts import ClearingFact, ClearingKind
from tests.support import deliveries as story
from tests.support import told
from tests.support.pins import BOOK

READ, WRITE = Decimal("0.30"), Decimal("3.75")


def edited(message: str, seconds: float, used: dict[str, Any], uses: int, tokens: int) -> told.Line:
    line = told.call("s", message, seconds, used)
    edit = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": uses, "cleared_input_tokens": tokens}
    line["message"]["context_management"] = {"applied_edits": [edit]}
    return line


def found(*lines: told.Line) -> list[ClearingFact]:
    (outcome,) = story.folded([told.transcript(*lines)], BOOK).values()
    return list(outcome.clearings)


def test_clearings__same_edit_reported_five_times__one_event() -> None:
    calls = [edited(f"m{n}", n, told.usage(2, 60_000, 500), 11, 38_200) for n in range(2, 7)]
    (event,) = found(told.call("s", "m1", 0, told.usage(2, 0, 98_000)), *calls)
    assert (event.kind, event.cleared_uses, event.cleared_tokens, event.later_calls) == (
        ClearingKind.EDIT,
        11,
        38_200,
        4,
    )
    assert event.saved_usd == 4 * READ * 38_200 / 1_000_000


def test_clearings__count_grows__each_growth_is_an_event_with_its_own_tokens() -> None:
    events = found(
        told.call("s", "m1", 0, told.usage(2, 0, 98_000)),
        edited("m2", 1, told.usage(2, 60_000, 500), 11, 38_200),
        edited("m3", 2, told.usage(2, 50_000, 500), 15, 50_000),
    )
    assert [(e.cleared_uses, e.cleared_tokens, e.later_calls) for e in events] == [(11, 38_200, 0), (4, 11_800, 0)]


def test_clearings__prefix_read_and_suffix_written_again__cost_is_what_the_call_cost_more() -> None:
    """20k kept, 30k cleared, 10k suffix: the formula's warm clearing with the prefix read."""
    (event,) = found(
        told.call("s", "m1", 0, told.usage(0, 0, 60_000)), edited("m2", 1, told.usage(0, 20_000, 10_000), 3, 30_000)
    )
    assert event.cost_usd == ((WRITE - READ) * 10_000 - READ * 30_000) / 1_000_000
    assert (event.per_call_usd, event.is_warm) == (READ * 30_000 / 1_000_000, True)


def test_clearings__cache_was_cold__clearing_was_a_gain_at_once() -> None:
    (event,) = found(
        told.call("s", "m1", 0, told.usage(0, 0, 60_000)), edited("m2", 400, told.usage(0, 0, 30_000), 3, 30_000)
    )
    assert (event.is_warm, event.cost_usd) == (False, -WRITE * 30_000 / 1_000_000)


def test_clearings__empty_edits__nothing() -> None:
    line = told.call("s", "m1", 0, told.usage(2, 0, 9_000))
    line["message"]["context_management"] = {"applied_edits": []}
    assert found(line) == []


def test_clearings__front_lost_call_after_call__one_event_that_knows_no_tokens() -> None:
    calls = [told.call("s", f"m{n}", n, told.usage(100, 9_000, 91_000)) for n in range(1, 7)]
    (event,) = found(told.call("s", "m0", 0, told.usage(100, 9_000, 91_000)), *calls)
    assert (event.kind, event.cleared_tokens, event.cost_usd) == (ClearingKind.FRONT, 0, None)


def test_clearings__host_clears_twice_before_one_call__one_event_with_both() -> None:
    def cleared(seconds: float) -> told.Line:
        line = told.compacted("s", seconds, None, subtype="microcompact_boundary")
        return {**line, "microcompactMetadata": {"trigger": "auto", "preTokens": 58_573, "tokensSaved": 20_000}}

    events = found(
        told.call("s", "m1", 0, told.usage(0, 0, 60_000)),
        cleared(1),
        cleared(2),
        told.call("s", "m2", 3, told.usage(0, 20_000, 5_000)),
    )
    assert [(event.kind, event.cleared_tokens) for event in events] == [(ClearingKind.MICRO, 40_000)]
