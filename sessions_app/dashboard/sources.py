"""The page of sources: who reports from where, and which signals of each host are known."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Sum
from django.db.models.functions import Coalesce

from ecm_site.common import figures
from sessions_app.dashboard import coverage_words, words
from sessions_app.dashboard.coverage_card import HostCard, host_cards, matrix_of
from sessions_app.dashboard.scope import Scope
from sessions_app.dashboard.sentences import Piece, Sentence, count, say
from sessions_app.kernel.coverage import State, skew_ms
from sessions_app.kernel.readings import Source
from sessions_app.kernel.topics import Topic
from sessions_app.models import Billing, Role, SourceRow, Team, VaultRecord, Viewer

#: Rows looked at, machines shown and lines of one machine; of more, the ones that spoke last.
MOST_ROWS, MOST_MACHINES, MOST_LINES = 5_000, 40, 8
#: A way that is this much older than the newest one of its machine has stopped.
STOPPED = timedelta(days=1)
#: Deliveries take time; a clock within this is right.
CLOCK_IS_RIGHT_MS, CLOCK_IS_WRONG_MS = 10_000, 60_000


@dataclass(frozen=True, slots=True)
class WayLine:
    """One feed of a machine."""

    row: SourceRow
    way: str
    clock: str
    #: Its clock is ahead of ours for certain.
    is_ahead: bool
    has_stopped: bool


@dataclass(frozen=True, slots=True)
class MachineCard:
    """One host on one machine."""

    host: str
    machine: str
    team: str
    versions: str
    last_at: datetime
    lines: tuple[WayLine, ...]
    more_lines: int
    lost_hook_events: int
    quota: SourceRow | None


@dataclass(frozen=True, slots=True)
class BillingLine:
    """How one team pays for one host, and whether the reader may say so."""

    team: Team
    host: str
    host_name: str
    stated: Billing | None
    may_state: bool
    hint: str

    @property
    def mode(self) -> str:
        """metered, subscription or unknown."""
        return self.stated.mode if self.stated else "unknown"


@dataclass(frozen=True, slots=True)
class SourcesPage:
    """All that the template shows."""

    now: datetime
    finding: Sentence
    hosts: tuple[HostCard, ...]
    machines: tuple[MachineCard, ...]
    more_machines: int
    #: Of several hosts: each signal with its state per host.
    matrix: tuple[tuple[str, tuple[State, ...]], ...]
    billing: tuple[BillingLine, ...]
    #: Records that no feed knows, kept for a later version.
    unknown_records: int
    #: Hosts whose counters came without a session, so that nothing could be counted.
    sessionless: str


def sources_page(user: Viewer, scope: Scope, now: datetime) -> SourcesPage:
    """The sources of the chosen teams: five queries."""
    rows = list(
        SourceRow.objects.for_user(user)
        .filter(team_id__in=scope.team.ids)
        .select_related("team")
        .order_by("-last_received_at", "pk")[:MOST_ROWS]
    )
    stated = {(b.team_id, b.host): b for b in Billing.objects.filter(team_id__in=scope.team.ids)}
    mine = set(Team.objects.for_user(user, Role.ADMIN).values_list("pk", flat=True))
    hosts = host_cards(rows, {host for _, host in stated})
    machines = _machines(rows)
    return SourcesPage(
        now=now,
        finding=finding_of(hosts, machines, now),
        hosts=hosts,
        machines=tuple(machines[:MOST_MACHINES]),
        more_machines=max(len(machines) - MOST_MACHINES, 0),
        matrix=matrix_of(hosts),
        billing=_billing(rows, stated, mine),
        unknown_records=VaultRecord.objects.filter(team_id__in=scope.team.ids, feed="unknown").aggregate(
            n=Coalesce(Sum("records"), 0)
        )["n"],
        sessionless=words.listed(_sessionless(rows)),
    )


def _sessionless(rows: Sequence[SourceRow]) -> list[str]:
    """Hosts whose newest row of metrics holds counters without a session."""
    newest: dict[tuple[int, str, str], SourceRow] = {}
    for row in rows:
        if coverage_words.way_of(row.feed) is Source.OTLP_METRIC:
            newest.setdefault((row.team_id, row.host, row.machine), row)
    told = (row for row in newest.values() if Topic.SESSIONLESS in row.topics and not _has_sessions(row))
    return sorted({words.word(words.HOSTS, row.host) for row in told})


def _has_sessions(row: SourceRow) -> bool:
    """Whether counters with a session came after the last one without."""
    return int(row.topics.get(Topic.COUNTERS, 0)) > int(row.topics[Topic.SESSIONLESS])


def _machines(rows: Sequence[SourceRow]) -> list[MachineCard]:
    places: dict[tuple[int, str, str], list[SourceRow]] = {}
    for row in rows:
        places.setdefault((row.team_id, row.host, row.machine), []).append(row)
    return [_machine(together) for together in places.values()]


def _machine(rows: Sequence[SourceRow]) -> MachineCard:
    """One host on one machine; its rows are in the order in which they spoke last."""
    newest = rows[0]
    versions = dict.fromkeys(row.version for row in rows if row.version)
    # An older version is history; of each way only its newest row can have stopped.
    current: dict[Source, SourceRow] = {}
    for row in rows:
        current.setdefault(coverage_words.way_of(row.feed), row)
    quotas = [row for row in rows if row.quota_at is not None]
    return MachineCard(
        host=words.word(words.HOSTS, newest.host),
        machine=newest.machine,
        team=newest.team.name,
        versions=words.listed(list(versions)),
        last_at=newest.last_received_at,
        lines=tuple(_way(row, newest, is_current=row in current.values()) for row in rows[:MOST_LINES]),
        more_lines=max(len(rows) - MOST_LINES, 0),
        lost_hook_events=max((row.lost_hook_events or 0 for row in rows), default=0),
        quota=max(quotas, key=lambda row: row.quota_at or newest.last_received_at, default=None),
    )


def _way(row: SourceRow, newest: SourceRow, *, is_current: bool) -> WayLine:
    lead_ms = skew_ms(row.leads_ms)
    return WayLine(
        row=row,
        way=coverage_words.WAYS[coverage_words.way_of(row.feed)],
        clock=clock_words(lead_ms),
        is_ahead=lead_ms is not None and lead_ms > CLOCK_IS_WRONG_MS,
        has_stopped=is_current and newest.last_received_at - row.last_received_at > STOPPED,
    )


def clock_words(lead_ms: int | None) -> str:
    """How a sender's clock stands to ours; "" where nobody can tell."""
    if lead_ms is None:
        return ""
    if abs(lead_ms) <= CLOCK_IS_RIGHT_MS:
        return "agrees"
    length = figures.duration(abs(lead_ms) / 1000)
    return f"{length} ahead" if lead_ms > 0 else f"{length} behind, or late"


def _billing(
    rows: Sequence[SourceRow], stated: dict[tuple[int, str], Billing], mine: set[int]
) -> tuple[BillingLine, ...]:
    pairs = {(row.team_id, row.host): row.team for row in rows}
    limited = {(row.team_id, row.host) for row in rows if row.quota_at is not None}
    return tuple(
        BillingLine(
            team=team,
            host=host,
            host_name=words.word(words.HOSTS, host),
            stated=stated.get((team_id, host)),
            may_state=team_id in mine,
            hint="Limits of a subscription were told." if (team_id, host) in limited else "",
        )
        for (team_id, host), team in sorted(pairs.items(), key=lambda pair: (pair[1].name, pair[0]))
    )


def finding_of(hosts: Sequence[HostCard], machines: Sequence[MachineCard], now: datetime) -> Sentence:
    """What is most worth knowing of who reports: what stopped, what was lost, else how much is covered."""
    if not machines:
        return say("Nothing reports yet.")
    stopped = [(card, line) for card in machines for line in card.lines if line.has_stopped]
    if stopped:
        card, line = stopped[0]
        since = figures.ago(line.row.last_received_at, now)
        more = say(", and ", count(len(stopped) - 1, "other way", "other ways")) if len(stopped) > 1 else ()
        what = Piece(f"{line.way} of {card.host} spoke last {since}", "#machines")
        return (*say("Something stopped: the ", what, " while others go on"), *more, Piece("."))
    lost = sum(card.lost_hook_events for card in machines)
    if lost:
        return say(
            count(lost, "hook", href="#machines"),
            " were lost while there was no room to keep them; usage was caught up.",
        )
    first = hosts[0]
    tally = dict(first.counts)
    received = tally.get(State.RECEIVED, 0)
    known = Piece(f"{received} of {len(first.states)} signals", "#coverage", str(received))
    rest = [f"{tally[state]} {'is' if tally[state] == 1 else 'are'} {state}" for state in State if state in tally]
    rest = [text for text in rest if not text.endswith(State.RECEIVED)]
    return say(f"{first.name} tells ", known, f"; {words.listed(rest)}." if rest else ".")
