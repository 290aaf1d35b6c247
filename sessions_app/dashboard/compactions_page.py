"""The page of compactions: how full, by whom, what each cost and gave back, and what clearing would."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import F, QuerySet
from django.urls import reverse

from ecm_site.common import figures
from sessions_app.dashboard import compaction_sums as sums
from sessions_app.dashboard import shapes, words
from sessions_app.dashboard.clearing_lines import ClearingPart, clearing_part
from sessions_app.dashboard.compaction_sums import CompactionSums, DepthLine, FullnessBin
from sessions_app.dashboard.forgetting import Forgetting, forgetting
from sessions_app.dashboard.names import name_of
from sessions_app.dashboard.scope import Link, Scope, link_suffix
from sessions_app.dashboard.sentences import Sentence, count, money, say
from sessions_app.dashboard.strategies import StrategyLine, strategies_of
from sessions_app.kernel.breakeven import pays_back_in
from sessions_app.models import Compaction, Viewer

SORTS = {"last": "newest", "net": "worst first"}
PAGE_SIZE = 25


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of the picture of fullness."""

    bin: FullnessBin
    width: str


@dataclass(frozen=True, slots=True)
class WorthLine:
    """One compaction of the table."""

    compaction: Compaction
    name: str
    href: str
    trigger: str
    share: str
    cache: str
    cost_usd: Decimal | None
    net_usd: Decimal | None
    pays_back_in: int | None
    outcome: str
    is_thrash: bool


@dataclass(frozen=True, slots=True)
class CompactionsPage:
    """All that the template shows."""

    scope: Scope
    now: datetime
    finding: Sentence
    sums: CompactionSums
    bars: tuple[Bar, ...]
    placed: int
    lines: tuple[WorthLine, ...]
    total: int
    sort_links: tuple[Link, ...]
    previous_href: str
    next_href: str
    depths: tuple[DepthLine, ...]
    forgetting: Forgetting
    clearing: ClearingPart
    strategies: tuple[StrategyLine, ...]

    @property
    def is_empty(self) -> bool:
        """True when neither a compaction nor a clearing was seen."""
        return not self.total and not self.clearing.count


def compactions_page(user: Viewer, scope: Scope, sort: str, number: str, now: datetime) -> CompactionsPage:
    """The page of a scope: nine queries, whatever the size."""
    sort = sort if sort in SORTS else "last"
    rows = sums.in_period(user, scope, now)
    found = sums.sums_of(rows, now)
    bins, placed = sums.fullness_of(rows)
    largest = max((one.count for one in bins), default=0)
    listed = rows.filter(kind="compaction")
    total = found.completed + found.failed + found.unseen_end
    pages = max(-(-total // PAGE_SIZE), 1)
    at = min(int(number) if number.isascii() and number.isdecimal() and len(number) < 9 else 1, pages) or 1
    return CompactionsPage(
        scope=scope,
        now=now,
        finding=_finding(found, scope),
        sums=found,
        bars=tuple(Bar(one, shapes.percent(one.count * 100 / largest) if largest else "0%") for one in bins),
        placed=placed,
        lines=_lines(listed, sort, (at - 1) * PAGE_SIZE, now) if total else (),
        total=total,
        sort_links=tuple(Link(text, _address(scope, key, 1), key == sort) for key, text in SORTS.items()),
        previous_href=_address(scope, sort, at - 1) if at > 1 else "",
        next_href=_address(scope, sort, at + 1) if at < pages else "",
        depths=sums.depths_of(rows),
        forgetting=forgetting(user, scope, now),
        clearing=clearing_part(user, scope, now),
        strategies=strategies_of(user, scope, now),
    )


def _address(scope: Scope, sort: str, page: int) -> str:
    chosen = {"sort": sort if sort != "last" else "", "page": str(page) if page > 1 else ""}
    return reverse("compactions") + link_suffix({**scope.query, **{k: v for k, v in chosen.items() if v}})


def _finding(found: CompactionSums, scope: Scope) -> Sentence:
    """The one thing to know: what they cost and whether it came back."""
    if not found.completed:
        return say(f"No compaction was completed in {scope.period.words}.")
    head = count(found.completed, "compaction", href="#worth")
    if not found.known:
        return say(
            head, " wrote ", money(found.rewrite_usd, "#worth"), " of new prefixes and made later calls ",
            money(found.lighter_usd, "#worth"), " cheaper. ", _surely(found),
        )  # fmt: skip
    net = found.net_usd or Decimal()
    came = f"{figures.plural(found.paid_back, 'has', 'have')} paid back" if found.paid_back else "none has paid back"
    if found.known < found.completed:
        # What a few cost is not what all of them cost.
        sure = figures.plural(found.surely_back, "other has", "others have")
        return say(
            "Of ", head, f" the cost of {found.known:,} is known: ", money(found.cost_usd, "#worth"), ", with ",
            money(found.saved_usd, "#worth"), f" given back so far; {came}.",
            f" {sure} surely paid back." if found.surely_back else "",
        )  # fmt: skip
    verdict = "ahead" if net >= 0 else "behind"
    return say(
        head, " cost ", money(found.cost_usd, "#worth"), " and gave back ", money(found.saved_usd, "#worth"),
        f" so far: {came}, and the team is ", money(abs(net)), f" {verdict}.",
    )  # fmt: skip


def _surely(found: CompactionSums) -> str:
    unseen = "What their own calls cost is in no record that arrived"
    if not found.surely_back:
        return f"{unseen}."
    return f"{unseen}, yet {figures.plural(found.surely_back, 'has', 'have')} surely paid back."


def _lines(rows: QuerySet[Compaction], sort: str, start: int, now: datetime) -> tuple[WorthLine, ...]:
    order = (
        *((F("net_usd").asc(nulls_last=True),) if sort == "net" else ()), F("at").desc(nulls_last=True), "-pk"
    )  # fmt: skip
    # Chosen by their keys first: to sort whole rows of compaction, session and project takes thrice the time.
    chosen = rows.order_by(*order).values("pk")[start : start + PAGE_SIZE]
    shown = sums.with_worth(Compaction.objects.filter(pk__in=chosen)).select_related("session__project")
    return tuple(_line(row, now) for row in shown.order_by(*order))


def _line(row: Compaction, now: datetime) -> WorthLine:
    cost: Decimal | None = getattr(row, "cost_usd", None)
    net: Decimal | None = getattr(row, "net_usd", None)
    share = figures.percent_whole(row.before_tokens, row.session.window) if row.before_tokens else ""
    return WorthLine(
        compaction=row,
        name=name_of(row.session),
        href=f"{reverse('session', args=[row.session_id])}#compaction-{row.number}",
        trigger=words.word(words.TRIGGERS, row.trigger),
        share=share,
        cache="" if row.is_warm is None else "warm" if row.is_warm else "cold",
        cost_usd=cost,
        net_usd=net,
        pays_back_in=pays_back_in(cost, row.per_call_usd),
        outcome=_outcome(row, net, now),
        is_thrash=row.later_calls is not None
        and row.later_calls <= sums.THRASH_CALLS
        and row.depth < row.session.depth,
    )


def _is_surely_back(row: Compaction) -> bool:
    """Whether more was saved than its own call, which no record has, can have cost."""
    if row.saved_usd is None or row.summary_most_usd is None or row.rewrite_usd is None:
        return False
    return row.saved_usd >= row.summary_most_usd + row.rewrite_usd


def _outcome(row: Compaction, net: Decimal | None, now: datetime) -> str:
    """What came of it, in words."""
    if row.state != "completed":
        return words.word(words.STATES, row.state)
    if row.before_tokens is not None and row.after_tokens is not None and row.after_tokens > row.before_tokens:
        return "left the context larger"
    if net is None and _is_surely_back(row):
        return "paid back"
    if net is None:
        return "not known" if row.later_calls else "no call since"
    if net >= 0:
        return "paid back"
    ended = row.session.ended_at or (row.session.last_at and now - row.session.last_at > sums.ENDED_AFTER)
    return "not paid back" if ended or row.depth < row.session.depth else "not yet"
