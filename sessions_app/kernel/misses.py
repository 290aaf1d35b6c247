"""Misses: what a call should have read from the cache, what it did not, why, and the bill in four parts.

Expected read E = min(read + written of the turn before, prompt of this one); missed M = max(0, E - read).
After a compaction the prefix is new: what is written then is rebuild. Each call is worked out from a few
neighbours of its thread alone, so that a new call costs the same however long the session is.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from sessions_app.kernel import cache_check, parts
from sessions_app.kernel.calls_sent import Case, Sent
from sessions_app.kernel.causes import (
    FLAT_PERCENT,
    PART_OF,
    RUN,
    Cause,
    Check,
    Confidence,
    Part,
    Says,
    Standing,
    checks,
)
from sessions_app.kernel.parts import Shift
from sessions_app.kernel.readings import Purpose

#: So many turns before a call may matter for it, and so many after it.
BEFORE, AFTER = 8, RUN - 1
#: Below both, a shortfall is too small to have a cause: tokens, and percent of what was expected.
LEAST_TOKENS, LEAST_PERCENT = 2_048, 5
#: Causes by which there is nothing to read at all: all of the prompt before could have been cached.
_WITHOUT_CACHE = (Cause.BELOW_MINIMUM, Cause.DISABLED)


@dataclass(frozen=True, slots=True)
class Miss:
    """Tokens that were sent again: the cause, who says so, and what became of the other causes.

    `checks` holds every cause that was looked at, the naming one included.
    """

    cause: Cause
    confidence: Confidence
    says: Says
    expected_tokens: int
    missed_tokens: int
    shifts: tuple[Shift, ...]
    checks: tuple[Check, ...] = ()

    @property
    def part(self) -> Part:
        """Where its extra is booked."""
        return PART_OF[self.cause]

    def others(self, standing: Standing) -> tuple[Check, ...]:
        """Other causes of this standing, each once; one that holds is not open as well."""
        holding = {c.cause for c in self.checks if c.standing is Standing.HOLDS} | {self.cause}
        if standing is Standing.HOLDS:
            rest = holding - {self.cause, Cause.UNKNOWN}
            return tuple(c for c in self.checks if c.cause in rest and c.standing is standing)
        return tuple(c for c in self.checks if c.standing is standing and c.cause not in holding)


@dataclass(frozen=True, slots=True)
class Explained:
    """One call's bill: needed + extra = cost. None: the call has no price."""

    needed_usd: Decimal | None
    extra_usd: Decimal | None
    miss: Miss | None = None
    #: It sent again what had been sent a moment before (kernel/cache_check.py).
    is_repeat: bool = False


def explain(
    calls: Iterable[Sent], *, first_prompts: Mapping[str, int] | None = None, only: Collection[str] | None = None
) -> dict[str, Explained]:
    """Each call's bill by key; `calls` in causal order.

    To work out a few calls alone, name them in `only` and give BEFORE turns before and AFTER after them with the
    prompt of each thread's first turn: the outcome is the same as from all calls.
    """
    threads: dict[str, list[Sent]] = defaultdict(list)
    found: dict[str, Explained] = {}
    for call in calls:
        if call.is_turn and not call.is_suspect:
            threads[call.thread].append(call)
        elif only is None or call.key in only:
            found[call.key] = _aside(call)
    for thread, turns in threads.items():
        first = turns[0].leaves.prompt if first_prompts is None else first_prompts.get(thread)
        for number, call in enumerate(turns):
            if only is None or call.key in only:
                before, after = turns[max(number - BEFORE, 0) : number], turns[number + 1 : number + 1 + AFTER]
                entry = _explained(call, _miss(Case(call, tuple(before), tuple(after), first)))
                repeats = cache_check.is_repeat(before[-1] if before else None, call)
                found[call.key] = replace(entry, is_repeat=True) if repeats else entry
    return found


def _aside(call: Sent) -> Explained:
    """A compaction's own call is rebuild as a whole; other calls beside the conversation are needed."""
    cost = call.cost_usd
    if call.purpose != Purpose.COMPACTION:
        return Explained(cost, None)
    miss = Miss(Cause.SUMMARY, Confidence.PROVED, Says.RECORD, 0, 0, ())
    return Explained(None if cost is None else Decimal(), cost, miss)


def _explained(call: Sent, miss: Miss | None) -> Explained:
    if call.price is None:
        return Explained(None, None, miss)
    shifts = miss.shifts if miss else ()
    needed = parts.needed(call.leaves, shifts, call.price, fast=call.fast, web_searches=call.web_searches)
    if miss is None or needed is None:
        return Explained(needed, None, miss)
    extra = parts.lost(call.leaves, shifts, call.price, fast=call.fast)
    if miss.cause in _WITHOUT_CACHE and extra is not None and extra <= 0:
        # The prompt grew so much that writing it would have cost more than reading the rest saved.
        return Explained(call.cost_usd, None)
    return Explained(needed, extra, miss)


def _miss(case: Case) -> Miss | None:
    call, previous = case.call, case.previous
    if call.follows == "compaction":
        return _named(replace(case, expected=call.cached), call.written) if call.written else None
    if previous is None:
        return None
    if _may_be_standing(case):
        whole = replace(case, expected=min(previous.leaves.prompt, call.leaves.prompt))
        found = _standing(whole)
        if found is not None:
            return found
    case = replace(case, expected=min(previous.cached, call.leaves.prompt))
    if not case.missed:
        return None
    if case.missed <= max(LEAST_TOKENS, case.expected * LEAST_PERCENT // 100):
        shifts = parts.read_instead(call.leaves, case.missed)
        return Miss(Cause.SMALL, Confidence.GUESS, Says.ARITHMETIC, case.expected, case.missed, shifts)
    return _named(case, case.missed)


def _named(case: Case, missed: int) -> Miss:
    looked = checks(case)
    cause = next(c for c in looked if c.standing is Standing.HOLDS)
    shifts = parts.read_instead(case.call.leaves, missed)
    return Miss(cause.cause, cause.confidence, cause.says, case.expected, missed, shifts, looked)


def _may_be_standing(case: Case) -> bool:
    """Whether the cache stands still or is not there at all; cheap, as it is asked of every call."""
    call, before = case.call, case.before
    if call.is_uncached:
        return call.tells_cache
    if len(before) < RUN:
        return False
    difference = abs(call.leaves.cache_read - before[-1].leaves.cache_read)
    return difference * 100 <= call.leaves.cache_read * FLAT_PERCENT


def _standing(case: Case) -> Miss | None:
    """A miss that the turn before does not show, because nothing of it was ever cached."""
    if case.missed <= 0:
        return None
    looked = checks(case)
    cause = next(c for c in looked if c.standing is Standing.HOLDS)
    if cause.cause in _WITHOUT_CACHE:
        shifts = parts.cached_instead(case.call.leaves, case.missed)
    elif cause.cause is Cause.NOT_ADVANCING and case.missed > max(LEAST_TOKENS, case.expected * LEAST_PERCENT // 100):
        shifts = parts.read_instead(case.call.leaves, case.missed)
    else:
        return None
    return Miss(cause.cause, cause.confidence, cause.says, case.expected, case.missed, shifts, looked)
