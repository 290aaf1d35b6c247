"""What fills the context before anyone speaks: the first prompt of fresh sessions, by project and host."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cache
from itertools import pairwise
from statistics import median_low
from typing import NamedTuple

from django.contrib.postgres.aggregates import ArrayAgg
from django.contrib.postgres.fields import ArrayField
from django.db.models import BigIntegerField, ExpressionWrapper, F, Func, Max, Sum
from django.db.models.functions import Extract, Greatest, TruncDate
from django.db.models.lookups import GreaterThan

from sessions_app.dashboard import sparks, words
from sessions_app.dashboard.filters import in_scope
from sessions_app.dashboard.scope import Scope
from sessions_app.kernel.money import EXACT
from sessions_app.kernel.pricing import PER_MILLION, PriceBook, Rates
from sessions_app.models import Session, Viewer

#: So many of the dearest are shown.
MOST_LINES = 12
#: A day whose median is so much above that of the day before is a jump.
JUMP_TOKENS = 2_000


@dataclass(frozen=True, slots=True)
class Jump:
    """The day on which the first prompt grew most, and what else was new on it."""

    day: date
    tokens: int
    also_new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PrefixLine:
    """One project on one host; tokens are medians of fresh sessions."""

    project: str
    host: str
    sessions: int
    tokens: int
    newest_tokens: int
    #: What carrying it cost in the period: written once a session, read by each later call.
    cost_usd: Decimal | None
    cost_a_day_usd: Decimal | None
    spark: sparks.Spark
    jump: Jump | None


type _Rates = Callable[[str, date], Rates | None]


class _Pair(Func):
    """Two whole numbers, ordered by the first: to order the sessions of each group would sort all of them by text."""

    template = "ARRAY[%(expressions)s]::bigint[]"
    output_field = ArrayField(BigIntegerField())


class _Row(NamedTuple):
    """Sessions of one day that are alike; each `later` call of the main thread reads what the first one wrote.

    `sizes` are first prompts in tokens; `read` is their sum, each times its later calls; `newest` when the last session
    began, in seconds, with its first prompt. `is_hourly`: what was written stays for an hour.
    """

    project: str | None
    host: str
    day: date
    model: str
    version: str
    is_hourly: bool
    sizes: list[int]
    read: int
    newest: list[int]


def prefix_lines(user: Viewer, scope: Scope, now: datetime, book: PriceBook) -> tuple[tuple[PrefixLine, ...], int]:
    """Lines, and the sessions behind them: one query."""
    sessions = in_scope(Session.objects.for_user(user), scope, now)
    fresh = sessions.filter(first_prompt_tokens__gt=0, first_at__isnull=False).order_by()
    tokens, later = F("first_prompt_tokens"), Greatest(F("calls") - F("subagent_calls") - 1, 0)
    alike = fresh.values_list(
        *("project__name", "host", TruncDate("first_at", tzinfo=UTC), "model", "version"),
        GreaterThan(F("cache_write_1h"), F("cache_write_5m")),
    )
    found = alike.annotate(
        sizes=ArrayAgg(tokens),
        read=Sum(ExpressionWrapper(tokens * later, BigIntegerField())),
        newest=Max(_Pair(Extract("first_at", "epoch"), tokens)),
    )
    groups: dict[tuple[str, str], list[_Row]] = defaultdict(list)
    for row in sorted((_Row(*row) for row in found), key=lambda row: row.newest):
        groups[(row.project or "project unknown", row.host)].append(row)

    # Thousands of sessions share few prices.
    @cache
    def rates(model: str, day: date) -> Rates | None:
        price = book.price(model, datetime.combine(day, time.max, UTC))
        return price.rates(0) if price else None

    lines = [_line(project, host, members, rates) for (project, host), members in groups.items()]
    lines.sort(key=lambda line: (-(line.cost_usd or Decimal()), -line.tokens, line.project))
    return tuple(lines[:MOST_LINES]), sum(line.sessions for line in lines)


def _line(project: str, host: str, rows: Sequence[_Row], rates: _Rates) -> PrefixLine:
    by_day: dict[date, list[_Row]] = defaultdict(list)
    for row in rows:
        by_day[row.day].append(row)
    medians = {day: _median(members) for day, members in by_day.items()}
    cost = _cost(rows, rates)
    return PrefixLine(
        project=project,
        host=words.word(words.HOSTS, host),
        sessions=sum(len(row.sizes) for row in rows),
        tokens=_median(rows),
        newest_tokens=rows[-1].newest[1],
        cost_usd=cost,
        cost_a_day_usd=None if cost is None else cost / len(by_day),
        spark=sparks.spark([sparks.SparkValue(size, f"{day:%d %b}: {size:,}") for day, size in medians.items()]),
        jump=_jump(medians, by_day),
    )


def _median(rows: Iterable[_Row]) -> int:
    return int(median_low(size for row in rows for size in row.sizes))


def _cost(rows: Iterable[_Row], rates: _Rates) -> Decimal | None:
    """Writing the prefix in the first call and reading it in the others of the main thread; None: unpriced."""
    total = Decimal()
    for row in rows:
        price = rates(row.model, row.day)
        if price is None:
            return None
        write = price.cache_write_1h if row.is_hourly else price.cache_write_5m
        total = EXACT.fma(Decimal(sum(row.sizes)), write, total)
        total = EXACT.fma(Decimal(row.read), price.cache_read, total)
    return EXACT.scaleb(total, PER_MILLION)


def _jump(medians: dict[date, int], by_day: dict[date, list[_Row]]) -> Jump | None:
    """The largest step up from one day with sessions to the next, if it is one."""
    steps = [(medians[day] - medians[before], before, day) for before, day in pairwise(medians)]
    if not steps:
        return None
    tokens, before, day = max(steps)
    return Jump(day, tokens, _new(by_day[before], by_day[day])) if tokens >= JUMP_TOKENS else None


def _new(before: Iterable[_Row], after: Iterable[_Row]) -> tuple[str, ...]:
    """Versions and models that the day has and the day before had not."""
    seen = {row.version for row in before}, {row.model for row in before}
    versions = {row.version for row in after if row.version} - seen[0]
    models = {row.model for row in after if row.model} - seen[1]
    return (*sorted(models), *(f"version {version}" for version in sorted(versions)))
