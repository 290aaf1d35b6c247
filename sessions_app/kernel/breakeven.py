"""When clearing tool results or compacting pays: both arms of the choice in closed form.

Prices are USD per million tokens of one model in one tier, tokens are integers, results exact decimals in
USD. Each formula is held against a simulation of both arms (`tests/kernel/test_breakeven.py`).
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from sessions_app.kernel.money import EXACT

PER_MILLION = -6


@dataclass(frozen=True, slots=True)
class CacheRates:
    """What a token costs uncached, read, written and as output."""

    input: Decimal
    read: Decimal
    write: Decimal
    output: Decimal


@dataclass(frozen=True, slots=True)
class Choice:
    """Acting now against going on: what it costs more at once, and what each later call saves."""

    extra_usd: Decimal
    per_call_usd: Decimal

    @property
    def pays_back_in(self) -> int | None:
        """In which later call it is back; 0: at once, None: never."""
        return pays_back_in(self.extra_usd, self.per_call_usd)

    def net_usd(self, later_calls: int) -> Decimal:
        """What is gained after so many later calls while the cache is warm."""
        return EXACT.fma(self.per_call_usd, Decimal(later_calls), -self.extra_usd)


def pays_back_in(cost_usd: Decimal | None, per_call_usd: Decimal | None) -> int | None:
    """In which later call a cost is back; 0: at once, None: never, or not known."""
    if cost_usd is None or per_call_usd is None:
        return None
    if cost_usd <= 0:
        return 0
    if per_call_usd <= 0:
        return None
    return int((cost_usd / per_call_usd).to_integral_value(ROUND_CEILING))


@dataclass(frozen=True, slots=True)
class Clearing:
    """A prompt as a clearing cuts it: kept in front | cleared | suffix, then what is new in this call."""

    kept_tokens: int
    cleared_tokens: int
    suffix_tokens: int
    new_tokens: int = 0
    placeholder_tokens: int = 0
    #: How much of the kept part is really read after the cut; entries exist at former breakpoints only.
    read_tokens: int | None = None


def clear(cut: Clearing, rates: CacheRates, *, is_warm: bool = True) -> Choice:
    """What a clearing costs now and saves later; with a cold cache it costs less at once."""
    stays = cut.kept_tokens + cut.suffix_tokens + cut.placeholder_tokens
    if is_warm:
        found = cut.kept_tokens if cut.read_tokens is None else min(cut.read_tokens, cut.kept_tokens)
        goes_on = _usd((rates.read, cut.kept_tokens + cut.cleared_tokens + cut.suffix_tokens))
        cleared = _usd((rates.read, found), (rates.write, stays - found))
    else:
        goes_on = _usd((rates.write, cut.kept_tokens + cut.cleared_tokens + cut.suffix_tokens))
        cleared = _usd((rates.write, stays))
    saving = _usd((rates.read, cut.cleared_tokens - cut.placeholder_tokens))
    return Choice(EXACT.subtract(cleared, goes_on), saving)


def least_worth_clearing(cleared_tokens: int, cost_usd: Decimal, per_call_usd: Decimal, calls: int) -> int | None:
    """How much that clearing should have taken out to be paid back within `calls`, itself included.

    Breaking the cache cost (w - r)S = cost + rR; it is paid back by rR' a call. None where nothing was saved.
    """
    if per_call_usd <= 0 or calls < 1:
        return None
    broken = max(Decimal(), EXACT.add(cost_usd, per_call_usd))
    return int((cleared_tokens * broken / (per_call_usd * calls)).to_integral_value(ROUND_CEILING))


@dataclass(frozen=True, slots=True)
class Compacting:
    """A context of a fixed prefix and a history that a summary takes the place of."""

    prefix_tokens: int
    history_tokens: int
    summary_tokens: int
    tail_tokens: int = 0
    reloaded_tokens: int = 0
    instruction_tokens: int = 0
    #: Output of the summarising call, its thinking included.
    written_output_tokens: int = 0


def compact(given: Compacting, rates: CacheRates, *, is_warm: bool = True) -> Choice:
    """What a compaction costs now and saves later.

    Warm: the summariser reads the context, then the next call reads the prefix and writes the rest.
    Cold: the summariser sends the context uncached, and the next call writes everything.
    """
    context = given.prefix_tokens + given.history_tokens
    rest = given.summary_tokens + given.tail_tokens + given.reloaded_tokens
    asked = _usd((rates.input, given.instruction_tokens), (rates.output, given.written_output_tokens))
    if is_warm:
        goes_on = _usd((rates.read, context))
        compacted = _usd((rates.read, context), (rates.read, given.prefix_tokens), (rates.write, rest))
    else:
        goes_on = _usd((rates.write, context))
        compacted = _usd((rates.input, context), (rates.write, given.prefix_tokens + rest))
    extra = EXACT.subtract(EXACT.add(compacted, asked), goes_on)
    return Choice(extra, _usd((rates.read, given.history_tokens - rest)))


def hourly_net_usd(rates: CacheRates, hourly_write: Decimal, *, rewritten: int, kept_alive: int) -> Decimal:
    """What writing for one hour instead of five minutes would have saved.

    `rewritten` are tokens written again after pauses of 5 to 60 minutes, `kept_alive` all other writes.
    """
    saved = _usd((EXACT.subtract(rates.write, rates.read), rewritten))
    return EXACT.subtract(saved, _usd((EXACT.subtract(hourly_write, rates.write), kept_alive)))


def _usd(*parts: tuple[Decimal, int]) -> Decimal:
    total = Decimal()
    for rate, tokens in parts:
        total = EXACT.fma(rate, Decimal(tokens), total)
    return EXACT.scaleb(total, PER_MILLION)
