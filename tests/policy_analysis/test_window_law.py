"""Tokens, the share of the window that they are, and a working window: exact for any of the three."""

import random
from fractions import Fraction

from policy_app.kernel.analysis import analyse
from policy_app.kernel.cells import Span
from policy_app.kernel.conditions import OneOf, at_least
from policy_app.kernel.evaluate import evaluate
from policy_app.kernel.names import ModelPattern
from policy_app.kernel.operations import Operation
from policy_app.kernel.table import Rule, Table
from policy_app.kernel.window_law import reading_in
from policy_app.kernel.zones import WorkingWindow

OPUS = OneOf("model", ("claude-opus-*",))
GREEN = OneOf("zone", ("GREEN",))
WORKING = (WorkingWindow(ModelPattern("claude-opus-*"), 200_000),)


def full_but_green(tokens: int, *, model: OneOf = OPUS) -> Table:
    rule = Rule("green", Operation.EXTERNALIZE, (GREEN, at_least("context_tokens", tokens), model))
    return Table((rule, Rule("rest", Operation.CONTINUE)), working_windows=WORKING)


def test_rule__green_beyond_half_of_the_working_window__never_answers() -> None:
    assert [each.rule for each in analyse(full_but_green(100_000)).unreachable] == ["green"]


def test_rule__green_one_token_below_half_of_it__answers() -> None:
    assert analyse(full_but_green(99_999)).is_clean


def test_rule__green_for_a_model_without_a_working_window__answers() -> None:
    assert analyse(full_but_green(100_000, model=OneOf("model", ("gpt-*",)))).is_clean


def test_witness__tied_signals__tells_the_window_and_is_confirmed() -> None:
    red = Rule("red", Operation.COMPACT, (OneOf("zone", ("RED",)), at_least("context_tokens", 7), OPUS))
    again = Rule("again", Operation.CONTINUE, (OneOf("zone", ("RED",)), at_least("context_tokens", 150_001), OPUS))
    table = Table((red, again, Rule("rest", Operation.CONTINUE)), working_windows=WORKING)
    (found,) = analyse(table).masked
    assert (found.rule, found.by) == ("again", "red")
    verdict = evaluate(table, found.witness.signals())
    assert verdict.rule == "red"
    assert verdict.situation.signals["context_tokens"] == found.witness.values["context_tokens"]
    assert verdict.situation.signals["utilization"] == found.witness.values["utilization"]


def test_reading__spans_and_windows_of_a_few_tokens__equals_trying_all() -> None:
    rng = random.Random(7)
    for _ in range(4_000):
        working, low = rng.randint(1, 14), rng.randint(0, 14)
        high = low + rng.randint(0, 6)
        places = rng.choice((7, 10, 13, 97))
        least, most = sorted(Fraction(rng.randint(0, places + places // 3), places) for _ in range(2))
        sides = (0, 1) if least == most else (rng.randint(0, 1), rng.randint(0, 1))
        share = Span((least, sides[0]), (most, sides[1]))
        found = reading_in(Span((Fraction(low), 0), (Fraction(high + 1), 0)), share, working)
        possible = [
            (tokens, window)
            for window in range(1, working + 1)
            for tokens in range(low, high + 1)
            if _inside(Fraction(tokens, window), share)
        ]
        case = (low, high, share, working)
        assert (found is not None) == bool(possible), case
        assert found is None or (found.tokens, found.window) in possible, case


def _inside(share: Fraction, span: Span) -> bool:
    low, side = span.low
    assert span.high is not None
    high, high_side = span.high
    return (low < share or (low == share and side == 0)) and (share < high or (share == high and high_side == 1))


def test_reading__share_with_few_multiples_in_a_large_window__found_or_refused_at_once() -> None:
    third = Span((Fraction(333_333, 1_000_000), 1), (Fraction(333_334, 1_000_000), 0))
    found = reading_in(Span((Fraction(1), 0), None), third, 200_000)
    assert found is not None
    assert (found.tokens, found.window) == (1, 3)
    assert (
        reading_in(Span((Fraction(1), 0), (Fraction(10**6), 0)), Span((Fraction(1, 3), 1), third.high), 2_000) is None
    )
