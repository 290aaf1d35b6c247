"""The page of the cache: from the bill without it to what is billed, where it is lost, whether it is read at all."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from ecm_site.common import figures
from sessions_app.dashboard import cause_words
from sessions_app.dashboard.ledger import MICRO, ZERO, Entry, Ledger, ledger
from sessions_app.dashboard.scope import Scope
from sessions_app.dashboard.sentences import Sentence, money, say
from sessions_app.dashboard.shapes import percent
from sessions_app.kernel import cache_check
from sessions_app.kernel.cache_check import CacheCheck, Tally
from sessions_app.kernel.causes import Cause, Part
from sessions_app.models import AcceptedLoss, Call, MissDay, Role, Team, UsageDay, Viewer
from sessions_app.services import accepting, marking, waiting_time
from sessions_app.services.marking import Marked
from sessions_app.services.waiting_time import Waited

MOST_LINES, MOST_CALLS, MOST_MARKERS = 12, 10, 8
#: The cache is watched over so many days, whatever the period.
WATCH = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the waterfall: a bar from `x` over `width` of the widest amount."""

    kind: str
    label: str
    usd: Decimal
    x: str
    width: str
    is_sum: bool = False


@dataclass(frozen=True, slots=True)
class CauseLine:
    """One cause over the period, with what to do about it, and the team's acceptance if there is one."""

    entry: Entry
    share: str
    fix: str
    accepted: AcceptedLoss | None
    why_back: str

    @property
    def is_quiet(self) -> bool:
        """Accepted, and not come back."""
        return self.accepted is not None and not self.why_back


@dataclass(frozen=True, slots=True)
class GroupLine:
    """Losses of one project or model."""

    name: str
    avoidable_usd: Decimal
    unexplained_usd: Decimal
    expected_usd: Decimal
    misses: int


@dataclass(frozen=True, slots=True)
class WatchLine:
    """Whether a repeated prefix is read, by host and model."""

    host: str
    model: str
    check: CacheCheck


@dataclass(frozen=True, slots=True)
class _Lost:
    """Misses of one cause in one project by one model."""

    cause: str
    part: str
    model: str
    project: str | None
    n: int
    sent: int
    usd: Decimal | None


@dataclass(frozen=True, slots=True)
class CachePage:
    """All that the template shows."""

    scope: Scope
    now: datetime
    finding: Sentence
    ledger: Ledger | None
    steps: tuple[Step, ...]
    saved_usd: Decimal | None
    causes: tuple[CauseLine, ...]
    projects: tuple[GroupLine, ...]
    models: tuple[GroupLine, ...]
    dearest: tuple[Call, ...]
    watched: tuple[WatchLine, ...]
    waited: Waited | None
    markers: tuple[Marked, ...]
    team: Team | None
    #: Whether the reader administers this one team.
    may_accept: bool
    multiplier: Decimal

    @property
    def contract_usd(self) -> Decimal | None:
        """The bill by the company's contract, where it is not the list price."""
        return None if self.ledger is None or self.multiplier == 1 else self.ledger.billed_usd * self.multiplier


def cache_page(user: Viewer, scope: Scope, now: datetime) -> CachePage:
    """The page of a scope; the number of queries does not depend on the size."""
    since = scope.period.since(now)
    days = UsageDay.objects.for_user(user).filter(session__team_id__in=scope.team.ids)
    misses = MissDay.objects.for_user(user).filter(session__team_id__in=scope.team.ids)
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    watched = days.filter(slot_at__gte=today - WATCH)
    if since is not None:
        days, misses = days.filter(slot_at__gte=since), misses.filter(slot_at__gte=since)
    sums = days.aggregate(cost=Sum("cost_usd"), needed=Sum("needed_usd"), uncached=Sum("no_cache_cost_usd"))
    lost = _lost(misses)
    found = ledger(sums["cost"], sums["needed"], _entries(lost))
    mine = Team.objects.for_user(user, Role.ADMIN).filter(pk=OuterRef("pk"))
    teams = Team.objects.filter(pk__in=scope.team.ids[:1]).select_related("organisation")
    team = teams.annotate(may_accept=Exists(mine)).first()
    calls = _calls(user, scope, since)
    return CachePage(
        scope=scope,
        now=now,
        finding=_finding(found, scope),
        ledger=found,
        steps=_steps(found, sums["uncached"]),
        saved_usd=None if found is None or sums["uncached"] is None else sums["uncached"] - found.billed_usd,
        causes=_causes(found, scope, now),
        projects=_groups(lost, "project", "project unknown"),
        models=_groups(lost, "model", "model unknown"),
        dearest=tuple(calls.select_related("session__project").order_by("-miss_cost_usd", "pk")[:MOST_CALLS]),
        watched=_watched(watched),
        waited=waiting_time.waited(scope.team.ids, since),
        markers=tuple(marking.newest(team_ids=scope.team.ids, since=None, limit=MOST_MARKERS)),
        team=team if len(scope.team.ids) == 1 else None,
        may_accept=len(scope.team.ids) == 1 and bool(getattr(team, "may_accept", False)),
        multiplier=team.organisation.price_multiplier if team else Decimal(1),
    )


def _lost(misses: QuerySet[MissDay]) -> list[_Lost]:
    """Sums by cause, project and model: one scan, of which every table here is a sum."""
    rows = misses.values("cause", "part", "model", project=F("session__project__name"))
    sums = rows.annotate(n=Sum("misses"), sent=Sum("tokens"), usd=Sum("cost_usd"))
    return [_Lost(**row) for row in sums.order_by()]


def _entries(lost: Iterable[_Lost]) -> list[Entry]:
    by_cause: dict[tuple[str, str], list[_Lost]] = defaultdict(list)
    for row in lost:
        by_cause[(row.cause, row.part)].append(row)
    return [
        Entry(cause, part, sum(row.n for row in rows), sum(row.sent for row in rows), _sum(row.usd for row in rows))
        for (cause, part), rows in by_cause.items()
    ]


def _sum(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """None where no amount is known."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known, ZERO) if known else None


def _calls(user: Viewer, scope: Scope, since: datetime | None) -> QuerySet[Call]:
    calls = Call.objects.for_user(user).filter(session__team_id__in=scope.team.ids)
    calls = calls.filter(~Q(miss_cause=""), miss_cost_usd__gt=0).exclude(miss_part=Part.EXPECTED)
    return calls if since is None else calls.filter(started_at__gte=since)


def _finding(found: Ledger | None, scope: Scope) -> Sentence:
    if found is None:
        return say(f"Nothing with a price happened in {scope.period.words}.")
    bill = money(found.billed_usd)
    avoidable = found.avoidable
    if avoidable.usd > 0:
        first = found.avoidable_causes[0]
        share = figures.percent(int((first.usd or ZERO) * MICRO), int(avoidable.usd * MICRO))
        how_much = "all" if first.usd == avoidable.usd else share
        start = say(money(avoidable.usd, "#causes"), " of ", bill, f" was avoidable, {how_much} of it by ")
        return (*start, *say(f"{cause_words.name(first.cause)}."))
    if found.not_explained.usd > 0:
        lost = money(found.not_explained.usd, "#causes")
        return say(lost, " of ", bill, " was sent again without a known cause; nothing was proved to be avoidable.")
    return say("Nothing of ", bill, " was lost: every prefix that could be read was read.")


def _steps(found: Ledger | None, uncached: Decimal | None) -> tuple[Step, ...]:
    """From no cache down to what was needed, and up by what was lost to the bill."""
    if found is None or uncached is None or uncached <= 0:
        return ()
    widest = max(uncached, found.billed_usd)

    def step(kind: str, label: str, start: Decimal, end: Decimal, *, is_sum: bool = False) -> Step:
        low, high = min(start, end), max(start, end)
        x, width = float(low / widest * 100), float((high - low) / widest * 100)
        return Step(kind, label, end - start, percent(x), percent(max(width, 0.2)), is_sum)

    needed, expected, avoidable, unexplained = found.parts
    first, second = needed + expected, needed + expected + avoidable
    return (
        step("whole", "without a cache", ZERO, uncached, is_sum=True),
        step("saved", "a cache without loss saves", uncached, needed),
        step("needed", "needed", ZERO, needed, is_sum=True),
        step("expected", "rebuilds: expected", needed, first),
        step("avoidable", "avoidable", first, second),
        step("unexplained", "not explained", second, second + unexplained),
        step("whole", "billed", ZERO, found.billed_usd, is_sum=True),
    )


def _causes(found: Ledger | None, scope: Scope, now: datetime) -> tuple[CauseLine, ...]:
    if found is None:
        return ()
    held = AcceptedLoss.objects.filter(team_id__in=scope.team.ids, project=None, withdrawn_at=None)
    losses = {loss.cause: loss for loss in accepting.with_monthly(held, now)} if len(scope.team.ids) == 1 else {}
    lines = []
    for entry in found.entries:
        loss = losses.get(entry.cause)
        back = ""
        if loss is not None:
            back = accepting.why_back(loss, getattr(loss, "now_usd", None) or ZERO, now.date())
        share = figures.percent(int((entry.usd or ZERO) * MICRO), int(found.billed_usd * MICRO))
        lines.append(CauseLine(entry, share, cause_words.fix(entry.cause), loss, back))
    # What was accepted goes last, until it comes back.
    return tuple(sorted(lines, key=lambda line: line.is_quiet))


def _groups(lost: Iterable[_Lost], column: str, nameless: str) -> tuple[GroupLine, ...]:
    groups: dict[str, list[_Lost]] = defaultdict(list)
    for row in lost:
        groups[getattr(row, column) or nameless].append(row)

    def usd(rows: Iterable[_Lost], part: Part) -> Decimal:
        return _sum(row.usd for row in rows if row.part == part) or ZERO

    lines = [
        GroupLine(
            name,
            usd(rows, Part.AVOIDABLE),
            usd(rows, Part.UNEXPLAINED),
            usd(rows, Part.EXPECTED),
            sum(row.n for row in rows if row.cause != Cause.SUMMARY),
        )
        for name, rows in groups.items()
    ]
    return tuple(sorted(lines, key=lambda line: -(line.avoidable_usd + line.unexplained_usd))[:MOST_LINES])


def _watched(days: QuerySet[UsageDay]) -> tuple[WatchLine, ...]:
    rows = days.filter(repeats__gt=0).values("session__host", "model", day=TruncDate("slot_at", tzinfo=UTC))
    found: dict[tuple[str, str], list[Tally]] = defaultdict(list)
    for row in rows.annotate(n=Sum("repeats"), read=Sum("repeats_read")).order_by():
        found[(row["session__host"], row["model"])].append(Tally(row["day"], row["n"], row["read"]))
    lines = [WatchLine(host, model, cache_check.check(tallies)) for (host, model), tallies in found.items()]
    order = ("not_read", "untested", "read")
    return tuple(sorted(lines, key=lambda line: (order.index(line.check.state), -line.check.repeats, line.model)))
