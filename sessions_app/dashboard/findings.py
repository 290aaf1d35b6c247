"""The one-sentence findings of the pages. Pure: each claims only what its numbers show."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from ecm_site.common import figures
from sessions_app.dashboard.sentences import Piece, Sentence, count, money, say

ALARMING = ("AMBER", "RED", "CRITICAL")
TRIGGERS = {"manual": "by hand", "auto": "by the host"}
#: From this share of the spend on, one session is worth naming: one fifth.
NAMED_SHARE = 5
#: From this share of the spend on, a loss leads the page: one hundredth.
WORTH_SAYING = 100


MICRO = Decimal(1_000_000)
#: The smallest prompt that any of the models caches; below it nothing can be lost.
LEAST_TOKENS = 1_024


@dataclass(frozen=True, slots=True)
class Loss:
    """A call that read `read` tokens from the cache where `read + missed` could have been read."""

    number: int
    missed: int
    read: int
    extra_usd: Decimal | None

    @property
    def is_whole(self) -> bool:
        """True when nothing at all was read."""
        return self.read == 0

    @property
    def is_large(self) -> bool:
        """True when at least half of what could be read was not: worth a sentence."""
        return self.missed >= max(self.read, LEAST_TOKENS)


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What the finding of one session may speak of; call numbers are those of the page's table."""

    calls: int
    cost_usd: Decimal | None
    unpriced_calls: int
    is_lower_bound: bool
    peak_zone: str
    peak_percent: str
    #: The first call in the peak zone, and where it is.
    peak_call: int | None
    peak_href: str
    #: Large losses only, without those that a compaction explains.
    losses: tuple[Loss, ...]
    #: Triggers of completed compactions, in order, each with the fill before it (such as "76.9%", or "?").
    compactions: tuple[tuple[str, str], ...]
    is_open_after_compaction: bool
    #: What the host's own meter says where no call was seen, else "".
    gauge: str = ""


def of_session(facts: SessionFacts) -> Sentence:
    """What happened in one session, in two or three sentences."""
    if not facts.calls:
        return _without_calls(facts)
    return (*_bill(facts), *_fill(facts), *_compactions(facts))


def _without_calls(facts: SessionFacts) -> Sentence:
    gauge = f" The host’s own meter {facts.gauge}." if facts.gauge else " Its context is not known."
    if facts.cost_usd is None:
        return say("No call of this session has been seen, so its cost is not known.", gauge)
    bill = say("Only counters arrived, no single call: ", money(facts.cost_usd, "#cost"), " at list price.")
    return (*bill, *say(gauge))


def _bill(facts: SessionFacts) -> Sentence:
    calls = count(facts.calls, "call", href="#calls")
    if facts.cost_usd is None:
        return say(calls, "; no price is known for any of them.")
    bound = "at least " if facts.is_lower_bound or facts.unpriced_calls else ""
    bill = say(calls, f", {bound}", money(facts.cost_usd, "#cost"), " at list price")
    if facts.unpriced_calls:
        return (*bill, *say(f"; {facts.unpriced_calls} without a price."))
    return (*bill, *say("."))


def _fill(facts: SessionFacts) -> Sentence:
    lost = _lost(facts.losses)
    if facts.peak_zone == "UNKNOWN" or facts.peak_call is None:
        start = say(" How full it was is not known")
        joint = "; it "
    elif facts.peak_zone in ALARMING:
        where = Piece(f"call {facts.peak_call}", facts.peak_href, str(facts.peak_call))
        start = say(f" It reached {facts.peak_zone} at ", where)
        later = facts.losses and facts.losses[0].number > facts.peak_call
        joint = " and then " if later else " and "
    else:
        start = say(f" It stayed {facts.peak_zone}, at most {facts.peak_percent}")
        joint = ", and "
    return (*start, *say(joint), *lost, *say(".")) if lost else (*start, *say("."))


def _lost(found: Sequence[Loss]) -> Sentence:
    """What was lost of the cache, how often and for how much; nothing when nothing was."""
    if not found:
        return ()
    what = "its whole cache" if all(loss.is_whole for loss in found) else "most of its cache"
    how_often = Piece(figures.times(len(found)), "#losses", str(len(found)))
    prices = [loss.extra_usd for loss in found if loss.extra_usd is not None]
    if not prices:
        return say(f"lost {what} ", how_often)
    bound = "" if len(prices) == len(found) else "at least "
    return say(f"lost {what} ", how_often, f", for {bound}", money(sum(prices, Decimal()), "#losses"), " extra")


def _compactions(facts: SessionFacts) -> Sentence:
    if not facts.compactions:
        return ()
    end = " The context is unknown since the last one, until the next call." if facts.is_open_after_compaction else ""
    done = Piece(figures.times(len(facts.compactions)), "#compactions", str(len(facts.compactions)))
    if len(facts.compactions) == 1:
        trigger, fill = facts.compactions[0]
        at = f", at {fill}" if fill != figures.NONE else ""
        return say(" It was compacted ", done, f", {TRIGGERS.get(trigger, 'trigger unknown')}{at}.{end}")
    by_hand = sum(1 for trigger, _ in facts.compactions if trigger == "manual")
    return say(" It was compacted ", done, f", {_of_them(by_hand, len(facts.compactions))} by hand.{end}")


def _of_them(part: int, whole: int) -> str:
    if part == whole:
        return "both" if whole == 2 else "all"
    return f"{part or 'none'} of them"


@dataclass(frozen=True, slots=True)
class Dearest:
    """The session that cost most within a period."""

    name: str
    href: str
    cost_usd: Decimal


@dataclass(frozen=True, slots=True)
class OverviewFacts:
    """What the finding of the overview may speak of."""

    sessions: int
    calls: int
    cost_usd: Decimal | None
    is_lower_bound: bool
    #: Parts of the bill: losses that could have been avoided, and losses without a cause that is proved.
    avoidable_usd: Decimal
    unexplained_usd: Decimal
    #: The dearest cause of those that could have been avoided, in words, with its cost; empty where there is none.
    first_cause: tuple[str, Decimal] | None
    dearest: Dearest | None
    #: Calls of main threads whose zone is known, and those of them in RED or CRITICAL.
    placed_calls: int
    high_calls: int
    sessions_href: str
    high_href: str
    #: The period before, where something was recorded in it.
    before: "OverviewBefore | None" = None


@dataclass(frozen=True, slots=True)
class OverviewBefore:
    """The bill of the period before and its two losses; `words` as in "the 7 days before"."""

    words: str
    cost_usd: Decimal | None
    avoidable_usd: Decimal
    unexplained_usd: Decimal


def of_overview(facts: OverviewFacts) -> Sentence:
    """The one finding: the largest loss with its share; without any to speak of, the bill and its dearest session."""
    sessions = count(facts.sessions, "session", href=facts.sessions_href)
    if facts.cost_usd is None:
        return say(sessions, " without a known price.")
    part, words = _largest(facts)
    if part is not None:
        share = _share(part, facts.cost_usd)
        return say(f"{share} of what ", sessions, f" cost {words}: ", money(part, "#went"), ".")
    bound = "at least " if facts.is_lower_bound else ""
    verb = "costs" if facts.sessions == 1 else "cost"
    return (*say(sessions, f" {verb} {bound}", money(facts.cost_usd), "."), *_named(facts))


def beside_overview(facts: OverviewFacts) -> Sentence:
    """What goes with the finding: its first cause, the period before, and how full contexts were."""
    part, _ = _largest(facts)
    cause = _first(facts) if part is not None and part == facts.avoidable_usd else ()
    return (*cause, *(_before(facts) if part is not None else ()), *_high(facts))


def _largest(facts: OverviewFacts) -> tuple[Decimal | None, str]:
    """The larger of what was avoidable and what has no known cause, where it is worth saying."""
    largest = max(facts.avoidable_usd, facts.unexplained_usd)
    if not facts.cost_usd or largest * WORTH_SAYING < facts.cost_usd:
        return None, ""
    is_avoidable = largest == facts.avoidable_usd
    return largest, "was avoidable" if is_avoidable else "was sent again without a known cause"


def _named(facts: OverviewFacts) -> Sentence:
    dearest, bill = facts.dearest, facts.cost_usd or Decimal()
    if dearest is None or facts.sessions < 2 or dearest.cost_usd * NAMED_SHARE < bill:
        return ()
    return say(f" {_share(dearest.cost_usd, bill)} of it is one: ", Piece(dearest.name, dearest.href), ".")


def _first(facts: OverviewFacts) -> Sentence:
    """The dearest avoidable cause; its cost only where there are others."""
    if facts.first_cause is None:
        return ()
    name, cost = facts.first_cause
    if cost >= facts.avoidable_usd:
        return say(f"All of it: {name}. ")
    return say(f"First of all {name}: ", money(cost, "#went"), ". ")


def _before(facts: OverviewFacts) -> Sentence:
    """The same figure of the period before."""
    if facts.before is None or not facts.before.cost_usd:
        return ()
    is_avoidable = facts.avoidable_usd >= facts.unexplained_usd
    part = facts.before.avoidable_usd if is_avoidable else facts.before.unexplained_usd
    share = _share(part, facts.before.cost_usd) if part else "nothing"
    return say(f"In {facts.before.words} it was {share}", *((", ", money(part)) if part else ()), ". ")


def _share(part: Decimal, whole: Decimal) -> str:
    return figures.percent(int(part * MICRO), int(whole * MICRO))


def _high(facts: OverviewFacts) -> Sentence:
    if not facts.placed_calls:
        return say("How full their contexts were is not known.")
    if not facts.high_calls:
        return say("No call came near the end of its window.")
    share = Piece(figures.percent(facts.high_calls, facts.placed_calls), facts.high_href, str(facts.high_calls))
    return say(share, " of calls were made in RED or CRITICAL.")
