"""Why one call cost what it cost: a page to pass on, with the same as plain text to paste."""

from dataclasses import dataclass
from decimal import Decimal

from django.shortcuts import get_object_or_404

from ecm_site.common import figures
from sessions_app.dashboard import cause_words, words
from sessions_app.dashboard.billing import with_billing
from sessions_app.dashboard.losses import LossCard, card_of
from sessions_app.dashboard.sentences import Sentence, money, plain, say
from sessions_app.kernel import parts
from sessions_app.kernel.calls_sent import evidence_of
from sessions_app.kernel.causes import TOLD, Cause, Part
from sessions_app.kernel.facts import Leaves
from sessions_app.kernel.money import EXACT
from sessions_app.kernel.pricing import PER_MILLION, Price
from sessions_app.models import Call, PriceRow, Session, Viewer
from sessions_app.services.prices import load_price_book

PART_WORDS = {
    Part.EXPECTED: "expected: somebody wanted it",
    Part.AVOIDABLE: "avoidable",
    Part.UNEXPLAINED: "not explained",
}
_LEAVES = (
    ("cache_read", "read from the cache"),
    ("cache_write_5m", "written to the cache, 5 min"),
    ("cache_write_1h", "written to the cache, 1 h"),
    ("uncached_input", "sent uncached"),
    ("output", "output"),
)


@dataclass(frozen=True, slots=True)
class BillLine:
    """Tokens of one kind at their rate (USD per million), as billed and without the miss."""

    label: str
    tokens: int
    rate: Decimal
    usd: Decimal
    needed_tokens: int
    needed_usd: Decimal


@dataclass(frozen=True, slots=True)
class CallPage:
    """All that the template shows."""

    session: Session
    call: Call
    finding: Sentence
    lines: tuple[BillLine, ...]
    fees_usd: Decimal
    price: PriceRow | None
    is_upper_tier: bool
    is_fast: bool
    saved_usd: Decimal | None
    card: LossCard | None
    part: str
    previous: Call | None
    following: Call | None
    #: The provider's own word for the miss, where it gave one.
    told: str
    told_tokens: int | None

    @property
    def text(self) -> str:
        """The page as plain text."""
        return "\n".join(_text(self))


def call_page(user: Viewer, pk: int, number: int) -> CallPage:
    """The page of one call that the user may see; 404 for any other."""
    sessions = with_billing(Session.objects.for_user(user).select_related("project", "team"))
    session = get_object_or_404(sessions, pk=pk)
    rows = session.call_rows.select_related("price_row", "former_price_row")
    call = get_object_or_404(rows, number=number)
    price = load_price_book().row(call.price_row_id)
    evidence = evidence_of(call.evidence)
    leaves = _leaves(call)
    is_fast = bool(evidence.get("fast"))
    lines = _lines(call, leaves, price, fast=is_fast) if price and call.cost_usd is not None else ()
    fees = EXACT.multiply(Decimal(evidence.get("web_searches", 0)), (price and price.web_search_usd) or Decimal())
    thread = session.call_rows.filter(thread=call.thread, purpose="turn")
    return CallPage(
        session=session,
        call=call,
        finding=_finding(call),
        lines=lines,
        fees_usd=fees if lines else Decimal(),
        price=call.price_row,
        is_upper_tier=bool(price and price.above_tokens is not None and leaves.prompt > price.above_tokens),
        is_fast=is_fast,
        saved_usd=parts.saved(leaves, price, fast=is_fast) if price and lines else None,
        card=card_of(call, session.host) if call.miss_cause and call.miss_cause != Cause.SUMMARY else None,
        part=PART_WORDS.get(Part(call.miss_part), "") if call.miss_part else "",
        previous=thread.filter(number__lt=number).order_by("-number").first(),
        following=session.call_rows.filter(number__gt=number).order_by("number").first(),
        told=_told(str(evidence.get("told", ""))),
        told_tokens=evidence.get("told_tokens"),
    )


def _told(reason: str) -> str:
    """The provider's word in ours; reasons without information are said to be that."""
    if not reason:
        return ""
    return cause_words.name(TOLD[reason]) if reason in TOLD else f"{reason.replace('_', ' ')}: no reason given"


def _leaves(call: Call) -> Leaves:
    names = ("uncached_input", "cache_read", "cache_write_5m", "cache_write_1h", "output", "cache_write_unknown_ttl")
    return Leaves(*(getattr(call, name) for name in names))


def _lines(call: Call, leaves: Leaves, price: Price, *, fast: bool) -> tuple[BillLine, ...]:
    """Each kind of token at its rate; without the miss its tokens would have been read."""
    rates = price.rates(leaves.prompt)
    factor = price.fast_multiplier if fast and price.fast_multiplier is not None else Decimal(1)
    by_leaf = {
        "cache_read": rates.cache_read,
        "cache_write_5m": rates.cache_write_5m,
        "cache_write_1h": rates.cache_write_1h,
        "uncached_input": rates.input,
        "output": rates.output,
    }
    without = _without(call, leaves)
    found = []
    for name, label in _LEAVES:
        billed, needed = getattr(leaves, name), getattr(without, name)
        if billed or needed:
            rate = EXACT.multiply(by_leaf[name], factor)
            found.append(BillLine(label, billed, rate, _usd(billed, rate), needed, _usd(needed, rate)))
    return tuple(found)


def _without(call: Call, leaves: Leaves) -> Leaves:
    if call.miss_cause in (Cause.BELOW_MINIMUM, Cause.DISABLED):
        return parts.shifted(leaves, parts.cached_instead(leaves, call.missed_tokens))
    if call.miss_cause == Cause.SUMMARY:
        return Leaves()
    return parts.as_read(leaves, call.missed_tokens)


def _usd(tokens: int, rate: Decimal) -> Decimal:
    return EXACT.scaleb(EXACT.multiply(Decimal(tokens), rate), PER_MILLION)


def _finding(call: Call) -> Sentence:
    what = words.PURPOSES.get(call.purpose, "")
    start = say(f"Call {call.number}{f', {what},' if what else ''} cost ", money(call.cost_usd))
    if call.cost_usd is None:
        return say(f"Call {call.number} has no known price.")
    if call.miss_cause == Cause.SUMMARY:
        return (*start, *say(": it wrote the summary of a compaction."))
    if not call.miss_cause or call.miss_cost_usd is None:
        return (*start, *say(", all of it needed."))
    again = f" for sending {figures.tokens(call.missed_tokens)} tokens again, {PART_WORDS[Part(call.miss_part)]}."
    return (*start, *say(": "), *say(money(call.needed_usd), " needed and "), *say(money(call.miss_cost_usd), again))


def _text(page: CallPage) -> list[str]:
    call = page.call
    lines = [plain(page.finding), "", *map(_line_text, page.lines)]
    if page.fees_usd:
        lines.append(f"  {'web searches':<28} {figures.usd_ledger(page.fees_usd)}")
    card = page.card
    if card is not None:
        lines += ["", f"  Expected to read {card.expected:,}, read {call.cache_read:,}."]
        lines.append(f"  Cause      {card.cause} ({card.standing})")
        for label, texts in (
            ("Also true", card.also),
            ("Ruled out", [c.text for c in card.ruled_out]),
            ("Open", [c.text for c in card.open]),
            ("To settle", [card.settles]),
            ("To do", [card.fix]),
        ):
            if any(texts):
                lines.append(f"  {label:<10} {' · '.join(texts)}")
    price = page.price
    if price is not None:
        lines += ["", f"  {price.model}, list prices from {price.valid_from:%Y-%m-%d} ({price.source})"]
    return lines


def _line_text(line: BillLine) -> str:
    rate = figures.usd_exact(line.rate)
    return f"  {line.label:<28} {line.tokens:>11,} x ${rate}/M = {figures.usd_ledger(line.usd)}"
