"""When hosts compact by themselves: what was seen, by host, version and model, against what their documents say."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median_low

from django.db.models import OuterRef, QuerySet, Subquery

from sessions_app.dashboard import shapes, words
from sessions_app.dashboard.compaction_sums import DONE, in_period
from sessions_app.dashboard.scope import Scope
from sessions_app.dashboard.sentences import Sentence, count, say
from sessions_app.kernel import names
from sessions_app.models import Call, Compaction, Host, Viewer

#: Compactions looked at, the newest; a distribution needs no more.
MOST = 5_000
#: A point so many permille beside what is claimed is as claimed: hosts count before the last answer, we after it.
SLACK = 30


@dataclass(frozen=True, slots=True)
class Claim:
    """What a host's documents say: in words, and as lowest and highest permille of the window where they name any."""

    text: str
    low: int | None = None
    high: int | None = None


#: From the hosts' own documents; where those are silent, that is said.
CLAIMS: Mapping[str, Claim] = {
    Host.CLAUDE_CODE: Claim("at the limit of the window, or of autoCompactWindow where one is set", 950, 1000),
    Host.CODEX: Claim("at about 90% of the window, or at model_auto_compact_token_limit", 900, 900),
    Host.OPENCODE: Claim("where less than about 20,000 tokens of the window are left"),
    Host.COPILOT: Claim("nothing; the host only says that a threshold was met"),
    Host.GEMINI: Claim("at a share of the window that can be set"),
}
SILENT = Claim("nothing that we know of")


@dataclass(frozen=True, slots=True)
class Point:
    """One compaction: tokens before it and their share of the window then known."""

    tokens: int
    permille: int | None


@dataclass(frozen=True, slots=True)
class PointsLine:
    """The compactions of one host in one version with one model, begun by the host or by nobody knows whom."""

    host: str
    version: str
    model: str
    by_host: bool
    claim: Claim
    points: tuple[Point, ...]

    @property
    def lowest(self) -> int:
        return min(p.tokens for p in self.points)

    @property
    def median(self) -> int:
        return median_low(sorted(p.tokens for p in self.points))

    @property
    def highest(self) -> int:
        return max(p.tokens for p in self.points)

    @property
    def shares(self) -> tuple[int, ...]:
        """Permille of the window, lowest first; those without a window are not in it."""
        return tuple(sorted(p.permille for p in self.points if p.permille is not None))

    @property
    def places(self) -> tuple[str, ...]:
        """Where to draw each share, as a percentage of the strip."""
        return tuple(shapes.percent(min(share, 1000) / 10) for share in self.shares)

    @property
    def verdict(self) -> str:
        """How it compares to what is claimed."""
        if self.claim.low is None or self.claim.high is None or not self.shares:
            return ""
        middle = median_low(self.shares)
        if middle < self.claim.low - SLACK:
            return "earlier than claimed"
        return "later than claimed" if middle > self.claim.high + SLACK else "as claimed"


@dataclass(frozen=True, slots=True)
class PointsPage:
    """All that the template shows."""

    scope: Scope
    finding: Sentence
    lines: tuple[PointsLine, ...]
    by_hand: int
    without_count: int

    @property
    def claims(self) -> dict[str, str]:
        """What the documents of the hosts say that are shown."""
        return {line.host: line.claim.text for line in self.lines}


def points_page(user: Viewer, scope: Scope, now: datetime) -> PointsPage:
    """The page of a scope: two queries."""
    rows = in_period(user, scope, now).filter(DONE, thread="")
    lines, without_count = _lines(rows.exclude(trigger="manual").order_by("-at", "-pk")[:MOST])
    return PointsPage(scope, _finding(lines, scope), lines, rows.filter(trigger="manual").count(), without_count)


def _lines(rows: QuerySet[Compaction]) -> tuple[tuple[PointsLine, ...], int]:
    before = Call.objects.filter(
        session=OuterRef("session"), thread="", purpose="turn", started_at__lte=OuterRef("at")
    ).order_by("-number")
    told = rows.annotate(
        model=Subquery(before.values("model")[:1]), window=Subquery(before.values("window")[:1])
    ).values_list("session__host", "session__version", "model", "window", "trigger", "before_tokens")
    groups: dict[tuple[str, str, str, bool], list[Point]] = defaultdict(list)
    without_count = 0
    for host, version, model, window, trigger, tokens in told:
        if tokens is None:
            without_count += 1
            continue
        share = tokens * 1000 // window if window else None
        groups[host, version, names.normalise(model or ""), trigger == "auto"].append(Point(tokens, share))
    lines = (
        PointsLine(words.word(words.HOSTS, host), version, model, by_host, CLAIMS.get(host, SILENT), tuple(points))
        for (host, version, model, by_host), points in groups.items()
    )
    return tuple(sorted(lines, key=lambda line: (line.host, line.model, line.version, not line.by_host))), without_count


def _finding(lines: Sequence[PointsLine], scope: Scope) -> Sentence:
    points = sum(len(line.points) for line in lines)
    if not points:
        return say(f"No compaction that a host may have begun by itself was seen in {scope.period.words}.")
    shares = sorted(share for line in lines for share in line.shares)
    head = count(points, "compaction")
    if not shares:
        return say(head, " by the host or by nobody says whom; no window is known for any of them.")
    odd = sum(line.verdict not in ("", "as claimed") for line in lines)
    span = f" came at {shares[0] / 10:.0f} to {shares[-1] / 10:.0f}% of the window"
    held = sum(bool(line.verdict) for line in lines)
    tail = f"; {odd} of {held} rows are not as the host's documents say." if held else "."
    return say(head, span + tail)
