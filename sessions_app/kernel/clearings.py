"""Old results that left the context: by context editing, by the host, or from the front without a word.

Context editing is reported again by every later call, so only an increase is an event. What a clearing cost
is observed: the call's own price against the same call with the cleared tokens still read from the cache.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import accumulate, pairwise

from sessions_app.kernel import money
from sessions_app.kernel.charges import Prices
from sessions_app.kernel.compactions import Kind
from sessions_app.kernel.facts import CallFact, ClearingFact, ClearingKind, CompactionFact, Leaves
from sessions_app.kernel.money import EXACT
from sessions_app.kernel.pauses import is_late
from sessions_app.kernel.readings import Purpose
from sessions_app.kernel.worth import saving

#: A front that is lost call after call while the size stands still: so many calls in a row.
FRONT_CALLS = 3
#: The size stands still within so many tokens, and is at least so large.
STANDS_STILL, FRONT_LEAST = 2_000, 20_000


def clearings(calls: Sequence[CallFact], compactions: Sequence[CompactionFact], prices: Prices) -> list[ClearingFact]:
    """Clearings of a session, in the order of its calls."""
    chains: dict[str, list[CallFact]] = {}
    for call in calls:
        if call.purpose is Purpose.TURN:
            chains.setdefault(call.thread, []).append(call)
    rebuilt = {c.next_call for c in compactions if c.kind is Kind.COMPACTION and c.next_call}
    found: list[ClearingFact] = []
    for thread, chain in chains.items():
        micro = [c for c in compactions if c.kind is Kind.MICRO and c.thread == thread]
        events = [*_edits(chain), *_micros(chain, micro), *_fronts(chain, rebuilt)]
        starts = sorted({at for at, _, _, _ in events} | {i for i, c in enumerate(chain) if c.key in rebuilt})
        for at, kind, uses, tokens in sorted(events, key=lambda event: event[0]):
            later = bisect_right(starts, at)
            end = starts[later] if later < len(starts) else len(chain)
            found.append(_fact(chain, at, end, kind, uses, tokens, prices))
    return found


type _Event = tuple[int, ClearingKind, int | None, int]


def _edits(chain: Sequence[CallFact]) -> Iterator[_Event]:
    """Where more was cleared than the call before had already said; a smaller count begins anew."""
    uses = tokens = 0
    for index, call in enumerate(chain):
        if call.cleared_uses is None:
            continue
        if call.cleared_uses < uses:
            uses = tokens = 0
        if call.cleared_uses > uses:
            more = max(0, (call.cleared_tokens or 0) - tokens)
            yield index, ClearingKind.EDIT, call.cleared_uses - uses, more
            uses, tokens = call.cleared_uses, call.cleared_tokens or 0


def _micros(chain: Sequence[CallFact], micro: Iterable[CompactionFact]) -> Iterator[_Event]:
    """The host cleared by itself and said how much; the first call after it met the shorter prompt."""
    saved: dict[int, int] = {}
    # Calls stand in causal order; where a clock was set back, the latest moment so far counts.
    moments = list(accumulate((call.started_at for call in chain), max))
    for event in micro:
        index = bisect_left(moments, event.at) if event.at is not None else len(chain)
        if index < len(chain):
            saved[index] = saved.get(index, 0) + (event.saved_tokens or 0)
    for index, tokens in saved.items():
        yield index, ClearingKind.MICRO, None, tokens


def _fronts(chain: Sequence[CallFact], rebuilt: Iterable[str]) -> Iterator[_Event]:
    """Calls in a row that read no more than the fixed part while the size stands still: the front is cut each time."""
    floor = min((call.leaves.cache_read for call in chain if call.leaves.cache_read), default=0)
    run = 0
    for index, (before, call) in enumerate(pairwise(chain), 1):
        still = abs(call.leaves.prompt - before.leaves.prompt) <= STANDS_STILL
        large = call.leaves.prompt >= max(FRONT_LEAST, 2 * floor)
        lost = call.leaves.cache_read <= floor and not is_late(before, call) and call.key not in rebuilt
        run = run + 1 if still and large and lost and before.model == call.model else 0
        if run == FRONT_CALLS:
            yield index, ClearingKind.FRONT, None, 0


def _fact(
    chain: Sequence[CallFact],
    at: int,
    end: int,
    kind: ClearingKind,
    uses: int | None,
    tokens: int,
    prices: Prices,
) -> ClearingFact:
    call, before = chain[at], chain[at - 1] if at else None
    later = chain[at + 1 : end]
    savings = [saving(one, tokens, is_late(previous, one), prices) for previous, one in pairwise(chain[at:end])]
    return ClearingFact(
        key=f"{kind}:{call.key}",
        kind=kind,
        thread=call.thread,
        at=call.started_at,
        call=call.key,
        cleared_uses=uses,
        cleared_tokens=tokens,
        read_tokens=call.leaves.cache_read,
        written_tokens=call.leaves.cache_write_5m + call.leaves.cache_write_1h,
        cost_usd=_cost(before, call, tokens, prices) if before and tokens else None,
        per_call_usd=saving(call, tokens, False, prices) if tokens else None,
        later_calls=len(later),
        saved_usd=money.total(savings) if None not in savings else None,
        is_warm=None if before is None else not is_late(before, call),
    )


def _cost(before: CallFact, call: CallFact, tokens: int, prices: Prices) -> Decimal | None:
    """The call's price less that of going on: all that was held is read, or written where it is cold."""
    held = before.leaves.cache_read + before.leaves.cache_write_5m + before.leaves.cache_write_1h
    prompt = call.leaves.prompt + tokens
    read = 0 if is_late(before, call) else min(held, prompt)
    hourly = call.leaves.cache_write_1h > call.leaves.cache_write_5m
    sent = {
        "cache_write_1h" if hourly else "cache_write_5m": prompt - read - min(call.leaves.uncached_input, prompt - read)
    }
    kept = Leaves(
        uncached_input=min(call.leaves.uncached_input, prompt - read),
        cache_read=read,
        output=call.leaves.output,
        **sent,
    )
    cleared, going_on = (prices.charge(call.model, call.started_at, leaves) for leaves in (call.leaves, kept))
    return EXACT.subtract(cleared.cost_usd, going_on.cost_usd) if cleared and going_on else None
