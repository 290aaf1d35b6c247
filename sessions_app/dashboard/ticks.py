"""The live tick of the Connect page: which ways speak, the number each brought last, and whether they agree."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from django.db.models import Max

from sessions_app.dashboard import words
from sessions_app.dashboard.coverage_words import WAYS, way_of
from sessions_app.dashboard.scope import Scope
from sessions_app.kernel.readings import CallReading, MarkReading, MeterReading, Purpose, Source, decode
from sessions_app.kernel.usage import leaves_of
from sessions_app.models import ReadingRow, Session, SourceRow, Viewer

#: The ways that a connected host speaks by, in the order in which they usually do.
WATCHED = (Source.HOOK, Source.STATUSLINE, Source.OTLP_LOG, Source.TRANSCRIPT)
#: Sessions among which the one that spoke last is found, and readings of it that are looked at by way.
MOST_SESSIONS, MOST_READINGS = 5, 40
#: Ways that have had so long to tell the same call, and told another number, differ.
SETTLED = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Tick:
    """One way. `at` is None where it never spoke; `tokens` None where it brought no number."""

    way: str
    at: datetime | None
    is_today: bool
    is_in_session: bool
    what: str
    tokens: int | None


@dataclass(frozen=True, slots=True)
class Ticks:
    """All ways of the session that spoke last, and what their numbers say together."""

    session: Session | None
    project: str
    lines: tuple[Tick, ...]
    agreement: str
    agrees: bool

    @property
    def spoke(self) -> int:
        """How many ways ever spoke."""
        return sum(line.at is not None for line in self.lines)

    @property
    def etag(self) -> str:
        """Equal for equal lines."""
        said = (self.session.pk if self.session else 0, self.project, self.lines, self.agreement)
        return f'"{hashlib.sha256(repr(said).encode()).hexdigest()[:24]}"'

    @property
    def known(self) -> str:
        """Headers of a request for what is newer than this, as JSON."""
        return json.dumps({"If-None-Match": self.etag})


@dataclass(slots=True)
class _Told:
    """What one way told of a session: newest first."""

    at: datetime | None = None
    what: str = ""
    numbers: list[int] = field(default_factory=list)
    by_request: dict[str, int] = field(default_factory=dict)


def ticks(user: Viewer, scope: Scope, now: datetime) -> Ticks:
    """The state of the ways of the chosen teams."""
    spoke: dict[Source, datetime] = {}
    rows = SourceRow.objects.for_user(user).filter(team_id__in=scope.team.ids)
    for feed, at in rows.values_list("feed").annotate(at=Max("last_received_at")).order_by("at"):
        spoke[way_of(feed)] = at
    session = _latest(user, scope)
    told = _told_of(session) if session else {}
    agreement, agrees = _agreement(told, now)
    return Ticks(
        session=session,
        project=session.project.name if session and session.project else "",
        lines=tuple(_tick(way, told.get(way), spoke.get(way), now) for way in WATCHED),
        agreement=agreement,
        agrees=agrees,
    )


def _latest(user: Viewer, scope: Scope) -> Session | None:
    """The session that was heard last, among those that happened last."""
    sessions = Session.objects.for_user(user).filter(team_id__in=scope.team.ids).seen().select_related("project")
    latest = sessions.order_by("-last_at")[:MOST_SESSIONS]
    return max(latest, key=lambda s: s.received_at, default=None)


def _tick(way: Source, told: _Told | None, spoke: datetime | None, now: datetime) -> Tick:
    """One line. A gauge that stands still is no new reading, but a sign of life."""
    in_session = told.at if told else None
    at = max((t for t in (in_session, spoke) if t), default=None)
    is_today = at is not None and at.astimezone(UTC).date() == now.astimezone(UTC).date()
    if told is None or in_session is None:
        return Tick(WAYS[way], at, is_today, False, "", None)
    return Tick(WAYS[way], at, is_today, True, told.what, told.numbers[0] if told.numbers else None)


def _told_of(session: Session) -> dict[Source, _Told]:
    found: dict[Source, _Told] = {}
    for way in WATCHED:
        rows = ReadingRow.objects.filter(session=session, source=way, kind__in=("call", "mark", "meter"))
        told = found.setdefault(way, _Told())
        # Of one delivery the reading of the newest moment comes first.
        for row in sorted(rows.order_by("-received_at", "-pk")[:MOST_READINGS], key=_newest_last, reverse=True):
            _add(told, row)
    return found


def _newest_last(row: ReadingRow) -> tuple[datetime, int]:
    reading = decode(row.kind, row.body)
    at_ms = 0
    if isinstance(reading, CallReading):
        at_ms = reading.ended_ms or reading.first_ms or 0
    return row.received_at, at_ms


def _add(told: _Told, row: ReadingRow) -> None:
    reading = decode(row.kind, row.body)
    what = ""
    if isinstance(reading, CallReading) and reading.purpose[1] == Purpose.TURN and not reading.thread[1]:
        what = "call"
        tokens = leaves_of(reading).prompt
        told.numbers.append(tokens)
        if reading.request_id:
            told.by_request[reading.request_id] = tokens
    elif isinstance(reading, MeterReading) and reading.occupancy:
        what = "gauge"
        told.numbers.append(reading.occupancy)
    elif isinstance(reading, MarkReading):
        what = reading.mark.value.replace("_", " ")
    if told.at is None or row.received_at > told.at:
        told.at = row.received_at
    if what and not told.what:
        told.what = what


def _agreement(told: Mapping[Source, _Told], now: datetime) -> tuple[str, bool]:
    """(what their numbers say together, whether they agree)."""
    counting = {way: t for way, t in told.items() if t.numbers}
    if not counting:
        return ("No way has brought a number yet.", False)
    if len(counting) == 1:
        way = next(iter(counting))
        return (f"Only {_the(way)} brought numbers; nothing to compare yet.", False)
    wrong = _different_call(list(counting.values()))
    if wrong:
        return (f"Two ways tell one call differently: {wrong[0]:,} and {wrong[1]:,} tokens.", False)
    shared = _newest_shared([t.numbers for t in counting.values()])
    if shared is not None:
        ways = [WAYS[way] for way, t in counting.items() if shared in t.numbers]
        return (f"{shared:,} tokens by {words.listed(ways)}: the same number, counted once.", True)
    newest = [(t.at, WAYS[way], t.numbers[0]) for way, t in counting.items() if t.at]
    if all(now - at > SETTLED for at, _, _ in newest):
        apart = words.listed([f"{tokens:,} by {way}" for _, way, tokens in newest])
        return (f"They told no number in common: {apart}.", False)
    return ("The same call has come by one way only so far.", False)


def _different_call(told: Sequence[_Told]) -> tuple[int, int] | None:
    """Two figures of one request, where ways contradict each other."""
    known: dict[str, int] = {}
    for t in told:
        for request, tokens in t.by_request.items():
            if known.setdefault(request, tokens) != tokens:
                return known[request], tokens
    return None


def _newest_shared(numbers: Sequence[Sequence[int]]) -> int | None:
    """The newest number that at least two ways told."""
    for position in range(MOST_READINGS):
        for mine in numbers:
            if position < len(mine) and sum(mine[position] in others for others in numbers) > 1:
                return mine[position]
    return None


def _the(way: Source) -> str:
    return "the status line" if way is Source.STATUSLINE else WAYS[way]
