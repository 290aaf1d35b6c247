"""Cache discipline C-1 to C-4 by project: holds, breached or unknown, by what evidence, since when, at what cost."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import TruncWeek

from ecm_site.common import figures
from sessions_app.dashboard.filters import in_scope
from sessions_app.dashboard.scope import Scope
from sessions_app.kernel.causes import Cause, Part
from sessions_app.models import Clearing, InstructionFile, MissDay, Session, UsageDay, Verdict, Viewer

#: Prefixes that were sent again and read: fewer prove nothing.
LEAST_REPEATS = 20
#: What may be injected at one prompt, in tokens (C-4).
MOST_INJECTED = 200
MOST_PROJECTS = 50
RULES = {
    "C-1": "stable first, volatile last: tools, then system, then messages",
    "C-2": "what is generated stays byte for byte the same",
    "C-3": "nothing is cut from the front",
    "C-4": f"what is injected at a prompt stays within {MOST_INJECTED} tokens",
    "Files": "instruction files are the same on every machine and change by commits",
}
#: Causes that break a rule, as the provider or a record proves them.
_BREAKS = {"C-1": (Cause.TOOLS, Cause.SYSTEM, Cause.CACHE_KEY), "C-2": (Cause.MESSAGES,)}


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule in one project."""

    rule: str
    state: str
    evidence: str
    since: datetime | None = None
    cost_usd: Decimal | None = None
    #: On how much evidence it holds, in short.
    count: str = ""


@dataclass(frozen=True, slots=True)
class DisciplineLine:
    """One project."""

    project: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Tier:
    """How much of what could be known is known: 1 to 4, and the cheapest next step."""

    number: int
    name: str
    next_step: str
    have: str


@dataclass(frozen=True, slots=True)
class WeekLine:
    """Sessions of one week that pass the certificate's test of reads."""

    week: datetime
    sessions: int
    passed: int

    @property
    def share(self) -> str:
        """Passed of all."""
        return figures.percent_whole(self.passed, self.sessions)


@dataclass(frozen=True, slots=True)
class DisciplinePage:
    """All that the template shows."""

    scope: Scope
    now: datetime
    lines: tuple[DisciplineLine, ...]
    tier: Tier | None
    weeks: tuple[WeekLine, ...]
    rules: Mapping[str, str]

    @property
    def breached(self) -> int:
        """Rules broken, over all projects."""
        return sum(finding.state == "breached" for line in self.lines for finding in line.findings)

    @property
    def held(self) -> int:
        """Rules that hold."""
        return sum(finding.state == "holds" for line in self.lines for finding in line.findings)


type _Row = Mapping[str, Any]


def discipline(user: Viewer, scope: Scope, now: datetime) -> DisciplinePage:
    """The page of a scope: eight queries, whatever the size."""
    sessions = in_scope(Session.objects.for_user(user), scope, now).order_by()
    name = "session__project__name"
    slots = UsageDay.objects.filter(session__in=sessions)
    repeats = {
        row[name]: row
        for row in slots.values(name).annotate(n=Sum("repeats"), read=Sum("repeats_read"), c=Sum("calls"))
    }
    broken: dict[str | None, list[_Row]] = defaultdict(list)
    causes = [cause for names in _BREAKS.values() for cause in names]
    misses = MissDay.objects.filter(session__in=sessions, cause__in=causes)
    for row in misses.values(name, "cause").annotate(n=Sum("misses"), cost=Sum("cost_usd"), since=Min("slot_at")):
        broken[row[name]].append(row)
    fronts = Clearing.objects.filter(session__in=sessions, kind="front")
    cut = {row[name]: row for row in fronts.values(name).annotate(n=Count("pk"), since=Min("at"))}
    verdicts = Verdict.objects.filter(session__in=sessions).exclude(event="SessionStart").counted().spoken()
    said = {
        row[name]: row
        for row in verdicts.values(name).annotate(
            n=Count("pk"),
            most=Max("injected_tokens"),
            since=Min("at", filter=Q(injected_tokens__gt=MOST_INJECTED)),
        )
    }
    files = _files(sessions)
    dearest = sorted(repeats, key=lambda project: -(repeats[project]["c"] or 0))[:MOST_PROJECTS]
    lines = tuple(
        DisciplineLine(
            project or "project unknown",
            (
                _prefix("C-1", repeats[project], broken[project]),
                _prefix("C-2", repeats[project], broken[project]),
                _front(repeats[project], cut.get(project)),
                _injected(said.get(project)),
                files.get(project, _NO_FILES),
            ),
        )
        for project in dearest
    )
    return DisciplinePage(scope, now, lines, _tier(sessions, is_told=any(broken.values())), _weeks(sessions), RULES)


def _prefix(rule: str, repeats: _Row, broken: list[_Row]) -> Finding:
    mine = [row for row in broken if row["cause"] in _BREAKS[rule]]
    if mine:
        costs = [row["cost"] for row in mine if row["cost"] is not None]
        times = figures.plural(sum(row["n"] for row in mine), "call")
        evidence = f"{times} where the provider or a record says so"
        return Finding(rule, "breached", evidence, min(row["since"] for row in mine), sum(costs, Decimal()))
    read = repeats["read"] or 0
    if read < LEAST_REPEATS:
        return Finding(rule, "unknown", f"{read} repeated prefixes were read; {LEAST_REPEATS} would tell")
    return Finding(rule, "holds", f"{read:,} of {repeats['n']:,} repeated prefixes were read", count=f"n = {read:,}")


def _front(repeats: _Row, cut: _Row | None) -> Finding:
    if cut is not None:
        return Finding(
            "C-3", "breached", figures.plural(cut["n"], "run") + " of calls that lost their front", cut["since"]
        )
    calls = repeats["c"] or 0
    if calls < LEAST_REPEATS:
        return Finding("C-3", "unknown", f"{figures.plural(calls, 'call')}; {LEAST_REPEATS} would tell")
    return Finding("C-3", "holds", f"no such run in {calls:,} calls", count=f"n = {calls:,}")


def _injected(said: _Row | None) -> Finding:
    if said is None:
        return Finding("C-4", "unknown", "no verdict was told to a model; what others inject is not seen")
    state = "breached" if said["most"] > MOST_INJECTED else "holds"
    return Finding(
        "C-4",
        state,
        f"at most {said['most']} tokens in {figures.plural(said['n'], 'message')}",
        said["since"],
        count=f"n = {said['n']:,}",
    )


_NO_FILES = Finding("Files", "unknown", "no client told of them; ecm connect does, from Claude Code 2.1.69 on")


def _files(sessions: QuerySet[Session]) -> dict[str | None, Finding]:
    """Instruction files of projects: changed without a commit, or unlike on machines at one commit."""
    name = "session__project__name"
    told = InstructionFile.objects.filter(session__in=sessions, kind="project")
    seen = told.values(name).annotate(
        n=Count("name", distinct=True),
        machines=Count("machine", distinct=True),
        loose=Count("digest", distinct=True, filter=Q(committed=False)),
        since=Min("at", filter=Q(committed=False)),
    )
    places = told.exclude(head="").values(name, "name", "head")
    pairs = places.annotate(d=Count("digest", distinct=True), m=Count("machine", distinct=True), since=Min("at"))
    unlike = {row[name]: row for row in pairs.filter(d__gt=1, m__gt=1).order_by("-since")}
    return {row[name]: _file_finding(row, unlike.get(row[name])) for row in seen}


def _file_finding(seen: _Row, unlike: _Row | None) -> Finding:
    told = [f"{figures.plural(seen['loose'], 'content')} in no commit"] if seen["loose"] else []
    if unlike is not None:
        told.append(f"{unlike['name']} differs between {unlike['m']} machines at commit {unlike['head'][:7]}")
    if told:
        moments = [row["since"] for row in (seen, unlike) if row is not None and row["since"] is not None]
        return Finding("Files", "breached", "; ".join(told), min(moments))
    n, machines = figures.plural(seen["n"], "file"), figures.plural(seen["machines"], "machine")
    return Finding("Files", "holds", f"{n}, the same on {machines}", count=f"n = {seen['n']}")


def _tier(sessions: QuerySet[Session], *, is_told: bool) -> Tier | None:
    """Which kinds of sources the sessions of the scope have; `is_told`: a provider gave a reason for a miss."""
    found = sessions.aggregate(
        n=Count("pk"),
        telemetry=Count("pk", filter=Q(sources__has_key="otlp_log")),
        hooks=Count("pk", filter=Q(sources__has_key="hook")),
    )
    if not found["n"]:
        return None
    n = found["n"]
    have = f"{found['telemetry']:,} of {n:,} sessions have telemetry, {found['hooks']:,} have hooks"
    if not found["telemetry"]:
        step = "switch telemetry on (ecm connect): it has compactions’ own calls and the host’s own price"
        return Tier(1, "what transcripts say", step, have)
    if not found["hooks"]:
        return Tier(2, "every call", "add the hooks (ecm connect): verdicts, pins, and what is fetched again", have)
    if not is_told:
        step = "a host that writes the provider’s reasons for misses (Claude Code 2.1.120 and later does)"
        return Tier(3, "every call, live", step, have)
    return Tier(4, "every call, live, with the provider’s reasons", "", have)


def _weeks(sessions: QuerySet[Session]) -> tuple[WeekLine, ...]:
    """Of sessions with calls: those without a loss that is avoidable or not explained."""
    lost = MissDay.objects.filter(session=OuterRef("pk"), part__in=(Part.AVOIDABLE, Part.UNEXPLAINED))
    rows = (
        sessions.filter(calls__gt=1, first_at__isnull=False)
        .annotate(week=TruncWeek("first_at"), lost=Exists(lost.exclude(cause=Cause.SMALL)))
        .values("week")
        .annotate(n=Count("pk"), good=Count("pk", filter=Q(lost=False)))
        .order_by("-week")[:12]
    )
    return tuple(WeekLine(row["week"], row["n"], row["good"]) for row in reversed(rows))
