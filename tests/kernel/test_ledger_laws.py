"""Laws of the ledger: nothing is left over, a new call changes nothing far away, formulas are the simulation's."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.kernel import misses, parts
from sessions_app.kernel.calls_sent import Sent
from sessions_app.kernel.facts import Leaves
from sessions_app.kernel.misses import explain
from sessions_app.kernel.pricing import Price, cost
from tests.support.pins import ALWAYS

START = datetime(2026, 11, 2, 9, tzinfo=UTC)
OPUS = Price(
    "claude-opus-5-5",
    ALWAYS,
    input=Decimal(4),
    output=Decimal(20),
    cache_read=Decimal("0.20"),
    cache_write_5m=Decimal(5),
    cache_write_1h=Decimal(8),
)
tokens = st.integers(0, 400_000)
leaves = st.builds(Leaves, tokens, tokens, tokens, tokens, tokens)
rate = st.decimals(min_value=0, max_value=500, places=4, allow_nan=False, allow_infinity=False)
prices = st.builds(
    Price,
    model=st.just("claude-sonnet-4-5"),
    valid_from=st.just(ALWAYS),
    input=rate,
    output=rate,
    cache_read=st.none() | rate,
    cache_write_5m=st.none() | rate,
    cache_write_1h=st.none() | rate,
    above_tokens=st.none() | st.integers(0, 900_000),
    above_input=st.none() | rate,
    above_cache_read=st.none() | rate,
    fast_multiplier=st.none() | st.just(Decimal(6)),
    min_prefix=st.none() | st.just(1_024),
)


@st.composite
def sessions(draw: st.DrawFn) -> list[Sent]:
    """Some calls of two threads, prices that may lack, compactions, words of the provider."""
    price = draw(prices)
    at, found = START, []
    for number in range(1, draw(st.integers(2, 14)) + 1):
        at += timedelta(seconds=draw(st.sampled_from((1, 90, 295, 320, 4_000))))
        used = draw(leaves | st.just(Leaves(5_000 + number * 3_000, output=10)))
        found.append(
            Sent(
                key=str(number),
                number=number,
                thread=draw(st.sampled_from(("", "", "", "a"))),
                purpose=draw(st.sampled_from(("turn", "turn", "turn", "turn", "compaction", "title"))),
                model=draw(st.sampled_from(("claude-sonnet-4-5", "claude-sonnet-4-5", "claude-haiku-4-5"))),
                started_at=at,
                ended_at=draw(st.sampled_from((None, at + timedelta(seconds=2)))),
                leaves=used,
                price=draw(st.sampled_from((price, price, None))),
                fast=draw(st.booleans()),
                follows=draw(st.sampled_from(("", "", "", "compaction", "clearing"))),
                told=draw(st.sampled_from(("", "", "tools_changed", "unavailable"))),
            )
        )
    return found


@settings(max_examples=150, deadline=None)
@given(sessions())
def test_explain__any_calls__needed_and_lost_are_the_cost_exactly(calls: list[Sent]) -> None:
    found = explain(calls)
    assert set(found) == {call.key for call in calls}
    for call in calls:
        entry = found[call.key]
        if call.cost_usd is None:
            assert (entry.needed_usd, entry.extra_usd) == (None, None)
        else:
            assert entry.needed_usd is not None
            assert entry.needed_usd + (entry.extra_usd or 0) == call.cost_usd
        assert entry.miss is None or 0 <= entry.miss.missed_tokens <= call.leaves.prompt


@settings(max_examples=60, deadline=None)
@given(sessions(), st.data())
def test_explain__one_more_call__same_from_some_neighbours_as_from_all(calls: list[Sent], data: st.DataObject) -> None:
    whole = explain(calls)
    cut = data.draw(st.integers(1, len(calls)))
    firsts, near = {}, list[Sent]()
    for thread in ("", "a"):
        turns = [call for call in calls if call.thread == thread and call.is_turn]
        before = [call for call in turns if call.number < cut]
        if turns:
            firsts[thread] = turns[0].leaves.prompt
        near += before[-misses.BEFORE - misses.AFTER :]
    near += [call for call in calls if call.number >= cut]
    only = {call.key for call in calls if call.number >= cut}
    part = explain(sorted(near, key=lambda c: c.number), first_prompts=firsts, only=only)
    assert part == {key: whole[key] for key in only}


@given(leaves, prices, st.booleans())
def test_saved__any_call__is_the_price_without_a_cache_less_the_price(used: Leaves, price: Price, fast: bool) -> None:
    paid = cost(used, price, fast=fast)
    uncached = cost(Leaves(used.prompt, output=used.output), price, fast=fast)
    saved = parts.saved(used, price, fast=fast)
    assert (paid is None) == (saved is None)
    if paid is not None and uncached is not None:
        assert saved == uncached - paid


def _simulated(used: Leaves, missed: int, price: Price) -> Fraction:
    """Penalty by sending the prompt token by token, in fractions: a second way to the formula of a miss."""
    rates = price.rates(used.prompt)
    billed = [
        (used.cache_write_5m, rates.cache_write_5m),
        (used.cache_write_1h, rates.cache_write_1h),
        (used.uncached_input, rates.input),
    ]
    order = sorted(billed[:2], key=lambda pair: -pair[0]) + billed[2:]
    total, rest = Fraction(0), missed
    for count, paid in order:
        moved = min(rest, count)
        total += moved * (Fraction(paid) - Fraction(rates.cache_read)) / 1_000_000
        rest -= moved
    return total


@given(leaves, prices, st.integers(0, 900_000))
def test_lost__any_miss__agrees_with_simulation(used: Leaves, price: Price, missed: int) -> None:
    lost = parts.lost(used, parts.read_instead(used, missed), price)
    assert lost is not None
    expected = _simulated(used, missed, price)
    assert abs(Fraction(lost) - expected) <= abs(expected) / 10**9


def test_cost_and_saved__opus_5_5__the_published_example() -> None:
    """90k read, 3k written for 5 min, 5k for an hour: $0.101 - output and uncached apart - and $0.319 saved."""
    used = Leaves(2_000, 90_000, 3_000, 5_000, 1_000)
    assert cost(used, OPUS) == Decimal("0.101")
    assert parts.saved(used, OPUS) == Decimal("0.319")


def test_lost__cold_180k__what_the_table_says() -> None:
    """Opus 5.5: $0.86 extra at 5 min, $1.40 at 1 h, against $0.036 for the hit."""
    cold = (Leaves(cache_write_5m=180_000), Leaves(cache_write_1h=180_000))
    found = [parts.lost(used, parts.read_instead(used, 180_000), OPUS) for used in cold]
    assert found == [Decimal("0.864"), Decimal("1.404")]
    assert cost(Leaves(cache_read=180_000), OPUS) == Decimal("0.036")
