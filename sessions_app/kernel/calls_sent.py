"""A call as the ledger looks at it, and one call among its neighbours."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Any

from sessions_app.kernel import pricing
from sessions_app.kernel.facts import CallFact, Leaves
from sessions_app.kernel.mechanisms import Mechanism, mechanism_of
from sessions_app.kernel.pricing import Price
from sessions_app.kernel.readings import Purpose

#: Fields of a call that records tell beside its usage.
EVIDENCE = ("fast", "web_searches", "follows", "told", "told_tokens", "tells_cache", "is_suspect")


@dataclass(frozen=True)
class Sent:
    """One billed call with the price that it was charged by (None: unpriced) and what its records tell.

    `follows` is "compaction" or "clearing" where the call is the first after one, `told` the provider's own
    reason for a miss with its tokens, `tells_cache` False where no record carried cache counts at all.
    """

    key: str
    number: int
    thread: str
    purpose: str
    model: str
    started_at: datetime
    ended_at: datetime | None
    leaves: Leaves
    price: Price | None
    fast: bool = False
    web_searches: int = 0
    follows: str = ""
    told: str = ""
    told_tokens: int | None = None
    tells_cache: bool = True
    #: Its counts contradict each other, so that nothing can be worked out from them.
    is_suspect: bool = False

    @property
    def is_turn(self) -> bool:
        """True for calls of the conversation; others are made once and have nothing to read again."""
        return self.purpose == Purpose.TURN

    @property
    def written(self) -> int:
        """Cache writes of all lifetimes."""
        return self.leaves.cache_write_5m + self.leaves.cache_write_1h

    @property
    def cached(self) -> int:
        """What the cache held after the call: read and written."""
        return self.leaves.cache_read + self.written

    @property
    def is_uncached(self) -> bool:
        """True when the cache was neither read nor written."""
        return self.cached == 0

    @property
    def minimum(self) -> int | None:
        """The smallest prompt that this model caches, where the price row says it."""
        return self.price.min_prefix if self.price else None

    @property
    def cost_usd(self) -> Decimal | None:
        """What it was billed at list price."""
        if self.price is None:
            return None
        return pricing.cost(self.leaves, self.price, fast=self.fast, web_searches=self.web_searches)


def evidence_of(told: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a Sent that a call's stored evidence fills."""
    return {name: value for name, value in told.items() if name in EVIDENCE}


def sent(fact: CallFact, price: Price | None) -> Sent:
    """A fact of the fold with its price."""
    return Sent(
        fact.key,
        fact.number,
        fact.thread,
        str(fact.purpose),
        fact.model,
        fact.started_at,
        fact.ended_at,
        fact.leaves,
        price if fact.cost_usd is not None else None,
        **evidence_of(fact.evidence),
    )


@dataclass(frozen=True)
class Case:
    """One turn among those of its thread: up to some before (oldest first) and after it."""

    call: Sent
    before: tuple[Sent, ...]
    after: tuple[Sent, ...]
    #: The prompt of the thread's first turn: tools, system text and the first message.
    first_prompt: int | None
    expected: int = 0

    @property
    def previous(self) -> Sent | None:
        """The turn before."""
        return self.before[-1] if self.before else None

    @property
    def missed(self) -> int:
        """Tokens that should have been read and were not."""
        return max(0, self.expected - self.call.leaves.cache_read)

    @property
    def floor(self) -> int:
        """What stands at the front of the thread's prompt and may be kept warm by others."""
        return self.first_prompt or 0

    @cached_property
    def mechanism(self) -> Mechanism | None:
        """How the provider's cache works."""
        return mechanism_of(self.call.model)
