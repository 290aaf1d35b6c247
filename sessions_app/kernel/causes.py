"""Why tokens were sent again: every cause that could be is looked at, and each says by what number.

Looked at are those that usage, time, the host's own records and the provider's word can prove. The first
that holds names the miss, others that hold are also true, and what a number excludes is ruled out. What
needs the prompt itself (fingerprints) stays open: without evidence there is no cause.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sessions_app.kernel import names
from sessions_app.kernel.calls_sent import Case, Sent
from sessions_app.kernel.mechanisms import Mechanism


class Cause(StrEnum):
    """Codes as pages and API show them."""

    SUMMARY = "compaction_call"
    COMPACTION = "compaction"
    CONTEXT_EDIT = "context_edit"
    MODEL_SWITCH = "model_switch"
    PARAM_SWITCH = "param_switch"
    TTL_5M = "ttl_expired_5m"
    TTL_1H = "ttl_expired_1h"
    TTL_MIXED = "ttl_mixed"
    TTL_OTHER = "ttl_expired_other"
    BELOW_MINIMUM = "below_min_prefix"
    DISABLED = "caching_disabled"
    NOT_ADVANCING = "breakpoint_not_advancing"
    TOOLS = "tools_changed"
    SYSTEM = "system_changed"
    MESSAGES = "messages_rewritten"
    CACHE_KEY = "cache_key_changed"
    #: Without evidence for any: the prefix changed, or the provider dropped it.
    UNKNOWN = "prefix_changed_or_evicted"
    #: Too few tokens to look for a cause.
    SMALL = "small"


class Part(StrEnum):
    """Which part of the bill an extra belongs to."""

    EXPECTED = "expected"
    AVOIDABLE = "avoidable"
    UNEXPLAINED = "unexplained"


class Confidence(StrEnum):
    """Proved by a record, likely by arithmetic and time, or a guess that explains nothing."""

    PROVED = "proved"
    LIKELY = "likely"
    GUESS = "guess"


class Says(StrEnum):
    """Who says so: the provider, a record of the host, or numbers."""

    PROVIDER = "provider"
    RECORD = "record"
    ARITHMETIC = "arithmetic"


class Standing(StrEnum):
    """What the evidence does to one cause."""

    HOLDS = "holds"
    RULED_OUT = "ruled_out"
    OPEN = "open"


#: Wanted work is a rebuild; what somebody could change is avoidable; the rest is not explained.
_EXPECTED = (Cause.SUMMARY, Cause.COMPACTION, Cause.CONTEXT_EDIT, Cause.MODEL_SWITCH, Cause.PARAM_SWITCH, Cause.TTL_1H)
PART_OF = {
    cause: Part.EXPECTED
    if cause in _EXPECTED
    else Part.UNEXPLAINED
    if cause in (Cause.UNKNOWN, Cause.SMALL)
    else Part.AVOIDABLE
    for cause in Cause
}

#: The provider's reasons in our words; others ("not found", "unavailable") carry no information.
TOLD = {
    "model_changed": Cause.MODEL_SWITCH,
    "tools_changed": Cause.TOOLS,
    "system_changed": Cause.SYSTEM,
    "messages_changed": Cause.MESSAGES,
    "input_changed": Cause.MESSAGES,
    "context_compacted": Cause.COMPACTION,
    "prompt_cache_key_changed": Cause.CACHE_KEY,
    "reasoning_effort_changed": Cause.PARAM_SWITCH,
    "verbosity_changed": Cause.PARAM_SWITCH,
    "text_format_changed": Cause.PARAM_SWITCH,
    "service_tier_changed": Cause.PARAM_SWITCH,
}

#: Start of a request and clocks are known this well.
BAND_MS = 10_000
#: Within this nothing has expired, whatever was promised.
SOON_MS = 240_000
#: So many calls in a row make a rule of it.
RUN = 3
#: Reads that differ by less are one level: 2%.
FLAT_PERCENT = 2
#: Reads count as the written part when they differ by less: 5%.
NEAR_PERCENT = 5


@dataclass(frozen=True, slots=True)
class Check:
    """What became of one cause: `measured` against `limit`, in the unit of the cause (ms, tokens, calls)."""

    cause: Cause
    standing: Standing
    measured: int | None = None
    limit: int | None = None
    confidence: Confidence = Confidence.LIKELY
    says: Says = Says.ARITHMETIC


def checks(case: Case) -> tuple[Check, ...]:
    """All causes in the order of their rules."""
    return tuple(check for rule in _RULES for check in rule(case))


def _record(cause: Cause, holds: bool) -> Check:
    standing = Standing.HOLDS if holds else Standing.RULED_OUT
    return Check(cause, standing, int(holds), 1, Confidence.PROVED, Says.RECORD)


def _below_minimum(case: Case) -> Iterator[Check]:
    least = case.call.minimum
    if least is not None:
        prompt = case.call.leaves.prompt
        holds = case.call.is_uncached and case.call.tells_cache and prompt < least
        yield Check(Cause.BELOW_MINIMUM, Standing.HOLDS if holds else Standing.RULED_OUT, prompt, least)


def _disabled(case: Case) -> Iterator[Check]:
    """Nothing read and nothing written, call after call, though the prompt is large enough."""
    if case.mechanism is None or not case.mechanism.is_marked or case.call.minimum is None:
        return
    if not _is_off(case.call):
        yield Check(Cause.DISABLED, Standing.RULED_OUT, case.call.cached, 0)
        return
    run = 1 + _run(reversed(case.before)) + _run(case.after)
    yield Check(Cause.DISABLED, Standing.HOLDS if run >= RUN else Standing.OPEN, run, RUN)


def _is_off(call: Sent) -> bool:
    return call.tells_cache and call.is_uncached and call.minimum is not None and call.leaves.prompt >= call.minimum


def _run(calls: Iterable[Sent]) -> int:
    """How many of them, from the first on, ran without a cache."""
    return sum(1 for _ in itertools.takewhile(_is_off, calls))


def _compaction(case: Case) -> Iterator[Check]:
    yield _record(Cause.COMPACTION, case.call.follows == "compaction")


def _context_edit(case: Case) -> Iterator[Check]:
    yield _record(Cause.CONTEXT_EDIT, case.call.follows == "clearing")


def _told(case: Case) -> Iterator[Check]:
    cause = TOLD.get(case.call.told)
    if cause is not None:
        told = case.call.told_tokens
        yield Check(cause, Standing.HOLDS, told, None, Confidence.PROVED, Says.PROVIDER)


def _model_switch(case: Case) -> Iterator[Check]:
    if case.previous is not None and case.call.model and case.previous.model:
        changed = names.normalise(case.previous.model) != names.normalise(case.call.model)
        yield _record(Cause.MODEL_SWITCH, changed)


def _pause(case: Case) -> Iterator[Check]:
    """The cache's life counts from the start of the request that last touched the prefix."""
    previous, mechanism = case.previous, case.mechanism
    if previous is None or mechanism is None or mechanism.longest_seconds is None:
        return
    least = _ms(previous.ended_at or previous.started_at, case.call)
    most = _ms(previous.started_at, case.call)
    cause, limit = _lifetime(case, mechanism, mechanism.longest_seconds)
    limit_ms = limit * 1_000
    if most <= limit_ms - BAND_MS:
        yield Check(cause, Standing.RULED_OUT, most, limit_ms)
    elif least <= limit_ms + BAND_MS:
        yield Check(cause, Standing.OPEN, most, limit_ms, Confidence.GUESS)
    elif case.call.leaves.cache_read <= case.floor:
        yield Check(cause, Standing.HOLDS, least, limit_ms)
    elif _is_written_short(case, mechanism, least):
        yield Check(Cause.TTL_MIXED, Standing.HOLDS, least, limit_ms)
    else:
        yield Check(cause, Standing.OPEN, least, limit_ms, Confidence.GUESS)


def _ms(since: datetime, call: Sent) -> int:
    return max(int((call.started_at - since).total_seconds() * 1_000), 0)


def _lifetime(case: Case, mechanism: Mechanism, longest: int) -> tuple[Cause, int]:
    """Which promise held for what was written last, and for how many seconds."""
    short, long = mechanism.short_seconds, mechanism.long_seconds
    last = next((c.leaves for c in reversed(case.before) if c.written), None)
    known = 0 if last is None else last.cache_write_5m - last.cache_write_unknown_ttl
    is_anthropic = mechanism.is_marked
    if short is None or long is None or last is None or (not known and not last.cache_write_1h):
        return Cause.TTL_OTHER, longest
    if last.cache_write_1h > known:
        return Cause.TTL_1H if is_anthropic else Cause.TTL_OTHER, long
    return Cause.TTL_5M if is_anthropic else Cause.TTL_OTHER, short


def _is_written_short(case: Case, mechanism: Mechanism, gap_ms: int) -> bool:
    """What is missing is what was written for the short time, and the long time has not passed."""
    short = sum(c.leaves.cache_write_5m for c in case.before)
    long_ms = (mechanism.long_seconds or 0) * 1_000
    has_long = any(c.leaves.cache_write_1h for c in case.before)
    return has_long and gap_ms <= long_ms and case.missed * 100 <= short * (100 + NEAR_PERCENT)


def _not_advancing(case: Case) -> Iterator[Check]:
    """The same level is read again and again, at short intervals, while the prompt grows.

    A level that was read twice may be the shared front after two changes; only a run of misses shows a mark that
    stands still, so that the call before the run counts as well.
    """
    run = (*case.before[-RUN:], case.call)
    if case.mechanism is None or not case.mechanism.is_marked or len(run) <= RUN:
        return
    reads = [c.leaves.cache_read for c in run]
    spread = max(reads) - min(reads)
    is_flat = min(reads) > 0 and spread * 100 <= max(reads) * FLAT_PERCENT
    grows = all(a.leaves.prompt < b.leaves.prompt for a, b in itertools.pairwise(run))
    at_once = all(_ms(a.started_at, b) <= SOON_MS for a, b in itertools.pairwise(run))
    holds = is_flat and grows and at_once and all(c.follows == "" for c in run)
    yield Check(Cause.NOT_ADVANCING, Standing.HOLDS if holds else Standing.RULED_OUT, spread, max(reads))


def _needs_the_prompt(case: Case) -> Iterator[Check]:
    """What only fingerprints or the provider can tell; a long read excludes what stands at the front."""
    first = case.first_prompt
    beyond = first is not None and case.call.leaves.cache_read > first
    for cause in (Cause.TOOLS, Cause.SYSTEM):
        if beyond:
            yield Check(cause, Standing.RULED_OUT, case.call.leaves.cache_read, first)
        else:
            yield Check(cause, Standing.OPEN)
    yield Check(Cause.MESSAGES, Standing.OPEN)
    yield Check(Cause.UNKNOWN, Standing.HOLDS, None, None, Confidence.GUESS)


#: Wanted rebuilds stand before pauses: after a compaction the rest of the prefix would not have been read anyway.
_RULES: tuple[Callable[[Case], Iterator[Check]], ...] = (
    _compaction,
    _context_edit,
    _below_minimum,
    _disabled,
    _told,
    _model_switch,
    _pause,
    _not_advancing,
    _needs_the_prompt,
)
