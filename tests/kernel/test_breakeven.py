"""The closed forms of clearing and compacting against a simulation of both arms, call by call."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.kernel.breakeven import (
    CacheRates,
    Choice,
    Clearing,
    Compacting,
    clear,
    compact,
    hourly_net_usd,
    least_worth_clearing,
)

#: Later calls that are simulated.
MOST = 400
#: Opus 5.5-like unit: input 1, so that a cost is in tokens of input times 10⁻⁶.
UNIT = CacheRates(Decimal(1), Decimal("0.1"), Decimal("1.25"), Decimal(5))


class Arm:
    """One way to go on: a bill, and a cache that holds a prefix of the prompt."""

    def __init__(self, rates: CacheRates, held: int) -> None:
        self.rates, self.held, self.bill = rates, held, Decimal(0)

    def call(self, prompt: int, read: int | None = None) -> None:
        found = min(self.held if read is None else read, prompt)
        self.bill += self.rates.read * found + self.rates.write * (prompt - found)
        self.held = prompt

    def ask(self, sent: int, output: int, *, is_warm: bool) -> None:
        """A summarising call: reads what is held, else sends it uncached, and writes nothing."""
        self.bill += (self.rates.read if is_warm else self.rates.input) * self.held
        self.bill += self.rates.input * sent + self.rates.output * output


def first_ahead(stay: Arm, act: Arm, sizes: tuple[int, int], growth: int) -> int | None:
    """The first later call after which acting has cost no more than staying; 0: at once."""
    large, small = sizes
    for later in range(MOST):
        if act.bill <= stay.bill:
            return later
        large, small = large + growth, small + growth
        stay.call(large)
        act.call(small)
    return None


tokens = st.integers(min_value=0, max_value=200_000)
prices = st.builds(
    CacheRates,
    input=st.just(Decimal(1)),
    read=st.sampled_from([Decimal(text) for text in ("0.025", "0.05", "0.1", "0.5")]),
    write=st.sampled_from([Decimal(text) for text in ("1", "1.25", "2")]),
    output=st.sampled_from([Decimal(5), Decimal(8)]),
)


def agrees(choice: Choice, simulated: int | None) -> bool:
    if simulated is None:
        return choice.pays_back_in is None or choice.pays_back_in >= MOST
    return simulated == choice.pays_back_in


@settings(max_examples=1_000, deadline=None)
@given(
    kept=tokens,
    cleared=tokens,
    suffix=tokens,
    new=tokens,
    mark=st.integers(0, 200),
    rates=prices,
    is_warm=st.booleans(),
)
def test_clear__any_trace__breaks_even_where_the_simulation_does(
    kept: int, cleared: int, suffix: int, new: int, mark: int, rates: CacheRates, is_warm: bool
) -> None:
    stay, act = (Arm(rates, kept + cleared + suffix if is_warm else 0) for _ in range(2))
    stay.call(kept + cleared + suffix + new)
    act.call(kept + mark + suffix + new, read=kept if is_warm else 0)
    choice = clear(Clearing(kept, cleared, suffix, new, mark), rates, is_warm=is_warm)
    assert choice.extra_usd.scaleb(6) == act.bill - stay.bill
    sizes = (kept + cleared + suffix + new, kept + mark + suffix + new)
    assert agrees(choice, first_ahead(stay, act, sizes, 700))


@settings(max_examples=1_000, deadline=None)
@given(
    prefix=tokens, history=tokens, rest=st.integers(0, 40_000), asked=st.integers(0, 600), told=st.integers(0, 8_000),
    rates=prices, is_warm=st.booleans(),
)  # fmt: skip
def test_compact__any_trace__breaks_even_where_the_simulation_does(
    prefix: int, history: int, rest: int, asked: int, told: int, rates: CacheRates, is_warm: bool
) -> None:
    context = prefix + history
    stay = Arm(rates, context if is_warm else 0)
    act = Arm(rates, context)
    stay.call(context)
    act.ask(asked, told, is_warm=is_warm)
    act.call(prefix + rest, read=prefix if is_warm else 0)
    given_ = Compacting(prefix, history, rest, instruction_tokens=asked, written_output_tokens=told)
    choice = compact(given_, rates, is_warm=is_warm)
    assert choice.extra_usd.scaleb(6) == act.bill - stay.bill
    assert agrees(choice, first_ahead(stay, act, (context, prefix + rest), 700))


@pytest.mark.parametrize(
    ("read", "write", "read_after", "later"),
    [
        ("0.1", "1.25", None, 3),
        ("0.1", "2", None, 6),
        ("0.05", "1.25", None, 7),
        ("0.025", "1.25", None, 16),
        ("0.1", "1", None, 2),
        ("0.5", "1", None, 0),
        ("0.1", "1.25", 0, 11),
        ("0.1", "2", 0, 18),
        ("0.05", "1.25", 0, 23),
        ("0.025", "1.25", 0, 48),
        ("0.1", "1", 0, 8),
        ("0.5", "1", 0, 0),
    ],
)
def test_clear__published_example__later_calls(read: str, write: str, read_after: int | None, later: int) -> None:
    """20k kept, 30k cleared, 10k suffix; the published column counts this call too where the prefix is read."""
    rates = CacheRates(Decimal(1), Decimal(read), Decimal(write), Decimal(5))
    assert clear(Clearing(20_000, 30_000, 10_000, read_tokens=read_after), rates).pays_back_in == later


@pytest.mark.parametrize(
    ("read", "warm", "cold"), [("0.1", "4.2", "2.8"), ("0.05", "8.3", "5.7"), ("0.025", "16.4", "11.3")]
)
def test_compact__published_example__later_calls(read: str, warm: str, cold: str) -> None:
    rates = CacheRates(Decimal(1), Decimal(read), Decimal("1.25"), Decimal(5))
    given_ = Compacting(20_000, 140_000, 4_000, 10_000, 5_000, 500, 5_000)
    for is_warm, calls in ((True, warm), (False, cold)):
        choice = compact(given_, rates, is_warm=is_warm)
        assert round(choice.extra_usd / choice.per_call_usd, 1) == Decimal(calls)


def test_hourly__at_the_published_margin__costs_the_same() -> None:
    net = hourly_net_usd(UNIT, Decimal(2), rewritten=39_500, kept_alive=60_500)
    assert abs(net) < Decimal("0.0002")
    assert hourly_net_usd(UNIT, Decimal(2), rewritten=45_000, kept_alive=55_000) > 0


@given(kept=tokens, cleared=st.integers(1, 200_000), suffix=tokens, rates=prices, later=st.integers(0, 60))
def test_least_worth_clearing__that_much_taken_out__is_paid_back_in_time(
    kept: int, cleared: int, suffix: int, rates: CacheRates, later: int
) -> None:
    choice = clear(Clearing(kept, cleared, suffix), rates)
    least = least_worth_clearing(cleared, choice.extra_usd, choice.per_call_usd, later + 1)
    assert least is not None
    enough = clear(Clearing(kept, least, suffix), rates)
    assert enough.net_usd(later) >= 0
    if least > 1:
        assert clear(Clearing(kept, least - 1, suffix), rates).net_usd(later) < 0
