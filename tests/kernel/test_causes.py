"""Each cause by its rule; none where evidence or mechanism is missing."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from sessions_app.kernel import cache_check
from sessions_app.kernel.cache_check import CacheState, Tally
from sessions_app.kernel.calls_sent import Sent
from sessions_app.kernel.causes import PART_OF, Cause, Confidence, Part, Standing
from sessions_app.kernel.facts import Leaves
from sessions_app.kernel.misses import Miss, explain
from sessions_app.kernel.pricing import Price
from tests.support.pins import ALWAYS

START = datetime(2026, 11, 2, 9, tzinfo=UTC)


def price(model: str) -> Price:
    return Price(model, ALWAYS, Decimal(3), Decimal(15), cache_read=Decimal("0.3"), cache_write_5m=Decimal("3.75"),
                 cache_write_1h=Decimal(6), min_prefix=1_024)  # fmt: skip


def thread(*used: tuple[float, Leaves], model: str = "claude-sonnet-4-5") -> list[Sent]:
    """Turns at these seconds."""
    return [
        Sent(str(n), n, "", "turn", model, START + timedelta(seconds=at), None, leaves, price(model))
        for n, (at, leaves) in enumerate(used, 1)
    ]


def last(calls: Sequence[Sent]) -> Miss | None:
    return explain(calls)[calls[-1].key].miss


def cause(calls: Sequence[Sent]) -> Cause | None:
    miss = last(calls)
    return miss.cause if miss else None


FULL = Leaves(2, 0, 60_000)
LOST = Leaves(2, 0, 61_000)


@pytest.mark.parametrize(
    ("seconds", "first", "second", "expected"),
    [
        (290, FULL, LOST, Cause.UNKNOWN),
        (305, FULL, LOST, Cause.UNKNOWN),
        (311, FULL, LOST, Cause.TTL_5M),
        (311, Leaves(2, 0, 0, 60_000), Leaves(2, 0, 0, 61_000), Cause.UNKNOWN),
        (3_611, Leaves(2, 0, 0, 60_000), Leaves(2, 0, 0, 61_000), Cause.TTL_1H),
        (400, Leaves(2, 0, 20_000, 40_000), Leaves(2, 40_000, 21_000), Cause.UNKNOWN),
    ],
)
def test_pause__around_the_limits__blamed_only_beyond_the_band(
    seconds: float, first: Leaves, second: Leaves, expected: Cause
) -> None:
    assert cause(thread((0, first), (seconds, second))) is expected


def test_pause__only_the_short_part_gone__mixed() -> None:
    calls = thread((0, Leaves(2, 0, 0, 40_000)), (5, Leaves(2, 40_000, 20_000)), (400, Leaves(2, 40_000, 20_500)))
    # The read goes beyond the first prompt, which others could keep warm.
    calls = [*calls[:2], replace(calls[2], leaves=Leaves(2, 40_500, 20_000))]
    assert cause(calls) is Cause.TTL_MIXED


def test_pause__of_unknown_lifetime__blamed_after_the_longest_alone() -> None:
    unknown = Leaves(2, 0, 60_000, cache_write_unknown_ttl=60_000)
    assert cause(thread((0, unknown), (400, LOST))) is Cause.UNKNOWN
    assert cause(thread((0, unknown), (3_700, LOST))) is Cause.TTL_OTHER


def test_model_switch__also_after_a_pause__names_the_switch_and_says_the_pause() -> None:
    calls = thread((0, FULL), (400, LOST))
    calls[1] = replace(calls[1], model="claude-opus-4-6")
    miss = last(calls)
    assert miss is not None
    assert (miss.cause, miss.part, miss.confidence) == (Cause.MODEL_SWITCH, Part.EXPECTED, Confidence.PROVED)
    assert [check.cause for check in miss.others(Standing.HOLDS)] == [Cause.TTL_5M]


def test_model_switch__same_model_with_another_date__none() -> None:
    calls = thread((0, FULL), (5, LOST))
    calls[1] = replace(calls[1], model="claude-sonnet-4-5-20250929")
    assert cause(calls) is Cause.UNKNOWN


def test_compaction__after_lunch__expected_and_the_pause_also_true() -> None:
    calls = thread((0, FULL), (4_000, Leaves(2, 14_000, 9_800)))
    calls[1] = replace(calls[1], follows="compaction")
    miss = last(calls)
    assert miss is not None
    assert (miss.cause, miss.missed_tokens, miss.part) == (Cause.COMPACTION, 9_800, Part.EXPECTED)
    assert Cause.TTL_5M in {check.cause for check in miss.others(Standing.HOLDS)}


def test_clearing__what_it_breaks__is_expected() -> None:
    calls = thread((0, FULL), (5, Leaves(2, 20_000, 10_000)))
    calls[1] = replace(calls[1], follows="clearing")
    assert cause(calls) is Cause.CONTEXT_EDIT


@pytest.mark.parametrize(
    ("told", "expected", "part"),
    [
        ("tools_changed", Cause.TOOLS, Part.AVOIDABLE),
        ("system_changed", Cause.SYSTEM, Part.AVOIDABLE),
        ("messages_changed", Cause.MESSAGES, Part.AVOIDABLE),
        ("prompt_cache_key_changed", Cause.CACHE_KEY, Part.AVOIDABLE),
        ("previous_message_not_found", Cause.UNKNOWN, Part.UNEXPLAINED),
        ("unavailable", Cause.UNKNOWN, Part.UNEXPLAINED),
    ],
)
def test_provider_said__a_reason__is_proved_and_silence_is_not(told: str, expected: Cause, part: Part) -> None:
    calls = thread((0, FULL), (5, LOST))
    calls[1] = replace(calls[1], told=told)
    miss = last(calls)
    assert miss is not None
    assert (miss.cause, miss.part) == (expected, part)
    assert (miss.confidence is Confidence.PROVED) == (expected is not Cause.UNKNOWN)


def test_disabled__three_large_prompts__all_but_the_first_lost_and_priced_as_a_cache_would() -> None:
    calls = thread(*((n * 5, Leaves(20_000 + n * 1_000)) for n in range(3)))
    found = explain(calls)
    assert [entry.miss.cause if entry.miss else None for entry in found.values()] == [
        None,
        Cause.DISABLED,
        Cause.DISABLED,
    ]
    # 20,000 read instead of sent, 1,000 written instead: 20,000 x 2.70 - 1,000 x 0.75, per million.
    assert found["2"].extra_usd == Decimal("0.05325")
    assert PART_OF[Cause.DISABLED] is Part.AVOIDABLE


def test_disabled__two_calls__no_evidence_yet() -> None:
    assert cause(thread((0, Leaves(20_000)), (5, Leaves(21_000)))) is None


def test_disabled__records_without_cache_counts__never() -> None:
    calls = [replace(c, tells_cache=False) for c in thread(*((n, Leaves(20_000 + n)) for n in range(5)))]
    assert cause(calls) is None


def test_below_minimum__small_prompts__silent_loss() -> None:
    assert cause(thread((0, Leaves(900)), (5, Leaves(1_000)))) is Cause.BELOW_MINIMUM


def test_not_advancing__same_level_four_times__lost_against_the_prompt_before() -> None:
    calls = thread((0, Leaves(2, 0, 10_000)), *((n * 9, Leaves(n * 9_000, 10_000)) for n in range(1, 6)))
    miss = last(calls)
    assert miss is not None
    assert (miss.cause, miss.missed_tokens) == (Cause.NOT_ADVANCING, 36_000)


@pytest.mark.parametrize("model", ["gpt-5", "gemini-3-pro", "deepseek-flash", "grok-4.7", "acme-coder-9"])
def test_causes__provider_without_the_mechanism__never_fire(model: str) -> None:
    marked = {Cause.DISABLED, Cause.NOT_ADVANCING, Cause.TTL_5M, Cause.TTL_1H, Cause.TTL_MIXED}
    silent = thread(*((n * 400, Leaves(20_000 + n * 1_000)) for n in range(6)), model=model)
    flat = thread(*((n * 400, Leaves(n * 9_000, 10_000)) for n in range(1, 6)), model=model)
    lost = thread((0, Leaves(2, 60_000)), (4_000, Leaves(62_000)), model=model)
    for calls in (silent, flat, lost):
        for entry in explain(calls).values():
            named = {entry.miss.cause} | {c.cause for c in entry.miss.checks} if entry.miss else set()
            assert not named & marked


def test_ruled_out__read_beyond_the_first_prompt__tools_and_system_by_number() -> None:
    calls = thread((0, Leaves(2, 0, 30_000)), (5, Leaves(2, 30_000, 70_000)), (9, Leaves(2, 80_000, 22_000)))
    miss = last(calls)
    assert miss is not None
    out = {check.cause: (check.measured, check.limit) for check in miss.others(Standing.RULED_OUT)}
    assert out[Cause.TOOLS] == out[Cause.SYSTEM] == (80_000, 30_002)


def test_small__shortfall_under_two_thousand__has_no_cause() -> None:
    assert cause(thread((0, FULL), (400, Leaves(2, 58_500, 1_600)))) is Cause.SMALL


def test_cache_check__second_identical_prefix__is_read() -> None:
    """The published vector: read 0 and written 22,585, then read 22,585."""
    calls = thread((0, Leaves(10, 0, 22_585)), (4, Leaves(10, 22_585)))
    assert [explain(calls)[key].is_repeat for key in "12"] == [False, True]
    assert cache_check.check([Tally(date(2026, 11, 2), 1, 1)]).state is CacheState.READ


def test_cache_check__written_again_each_time__not_read_since_the_first_day_without() -> None:
    days = [Tally(date(2026, 11, 1), 9, 8), Tally(date(2026, 11, 2), 2, 0), Tally(date(2026, 11, 3), 4, 0)]
    found = cache_check.check(days)
    assert (found.state, found.since, found.repeats) == (CacheState.NOT_READ, date(2026, 11, 2), 6)
    assert cache_check.check(days[:2]).state is CacheState.READ
    assert cache_check.check([]).state is CacheState.UNTESTED
    again = cache_check.check([*days, Tally(date(2026, 11, 4), 3, 3)])
    assert (again.state, again.since) == (CacheState.READ, date(2026, 11, 4))


def test_repeat__long_pause_small_prompt_or_other_model__is_none() -> None:
    two = Leaves(10, 0, 22_585), Leaves(10, 22_585)
    assert not explain(thread((0, two[0]), (250, two[1])))["2"].is_repeat
    assert not explain(thread((0, Leaves(500)), (4, Leaves(600))))["2"].is_repeat
    calls = thread((0, two[0]), (4, two[1]))
    assert not explain([calls[0], replace(calls[1], model="claude-opus-4-6")])["2"].is_repeat
