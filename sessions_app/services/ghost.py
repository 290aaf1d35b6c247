"""What a draft would have said over recorded sessions, beside what the version under it would have said.

Exact and open-loop: every call stays as it was recorded, whatever the table says. What would have followed is not
claimed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median

from policy_app.kernel.cuts import tested
from policy_app.kernel.evaluate import evaluate
from policy_app.kernel.operations import LOSSY, Operation
from policy_app.kernel.table import Table
from sessions_app.services.cells import HELD, Cell, cells
from sessions_app.services.store import cursor

DAYS = 30
#: Calls that one question reads, of the newest sessions first: some two seconds of work.
MOST_CALLS = 250_000


@dataclass(frozen=True, slots=True)
class Chosen:
    """The sessions that were read, by host, the newest first; `left_out` older ones were not."""

    hosts: Mapping[int, str]
    left_out: int


@dataclass(frozen=True, slots=True)
class Reach:
    """One operation: in how many sessions each table says it. `gained` and `lost` are sessions of one table alone.

    `earlier_calls`: where both say it, by how many calls the draft says it earlier (median); None where neither does.
    """

    operation: Operation
    sessions: int
    sessions_before: int
    first_at: datetime | None
    gained: tuple[int, ...]
    lost: tuple[int, ...]
    earlier_calls: int | None


@dataclass(frozen=True, slots=True)
class Hits:
    """One rule of the draft: sessions and calls in which it answers."""

    rule: str
    sessions: int
    calls: int


@dataclass(frozen=True, slots=True)
class Ghost:
    """The answer. `silent` are sessions without occupancy, by host; `unheld` are tested signals that nothing recorded.

    `reaches` has an entry for every operation that either table says, but *continue*: those that lose context first,
    then the largest change.
    """

    since: datetime
    sessions: int
    calls: int
    left_out: int
    silent: Mapping[str, int]
    without_window: int
    unheld: tuple[str, ...]
    reaches: tuple[Reach, ...]
    hits: tuple[Hits, ...]


@dataclass(slots=True)
class _Said:
    """What one table says: operation -> session -> its first call; rule -> sessions and calls."""

    first: dict[Operation, dict[int, tuple[int, datetime]]] = field(default_factory=dict)
    sessions: dict[str, set[int]] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)

    def add(self, rule: str, operation: Operation, cell: Cell) -> None:
        """One cell's verdict."""
        seen = self.first.setdefault(operation, {})
        first = (cell.first_number, cell.first_at)
        seen[cell.session_id] = min(seen.get(cell.session_id, first), first)
        self.sessions.setdefault(rule, set()).add(cell.session_id)
        self.calls[rule] += cell.calls


def ghost(*, team_ids: Sequence[int], draft: Table, base: Table | None, now: datetime) -> Ghost:
    """Both tables over the newest sessions of the teams, of `DAYS` days and at most `MOST_CALLS` calls."""
    since = now - timedelta(days=DAYS)
    chosen = _chosen(team_ids, since)
    tables = (draft, base or draft)
    said, heard, calls, windowless = (_Said(), _Said()), set[int](), 0, set[int]()
    known: dict[tuple[object, ...], tuple[tuple[str, Operation], ...]] = {}
    for cell in cells(list(chosen.hosts), since, tables):
        if cell.key not in known:
            known[cell.key] = tuple(_answer(table, cell) for table in tables)
        for one, (rule, operation) in zip(said, known[cell.key], strict=True):
            one.add(rule, operation, cell)
        heard.add(cell.session_id)
        calls += cell.calls
        if not isinstance(cell.signals["window_tokens"], int):
            windowless.add(cell.session_id)
    names = tested(draft) | tested(tables[1])
    return Ghost(
        since=since,
        sessions=len(heard),
        calls=calls,
        left_out=chosen.left_out,
        silent=dict(Counter(host for id_, host in chosen.hosts.items() if id_ not in heard).most_common()),
        without_window=len(windowless),
        unheld=tuple(sorted(names - HELD)),
        reaches=_reaches(*said),
        hits=tuple(
            Hits(rule.id, len(said[0].sessions.get(rule.id, ())), said[0].calls[rule.id]) for rule in draft.rules
        ),
    )


def _answer(table: Table, cell: Cell) -> tuple[str, Operation]:
    verdict = evaluate(table, cell.signals)
    return verdict.rule, verdict.operation


def _chosen(team_ids: Sequence[int], since: datetime) -> Chosen:
    with cursor() as cur:
        cur.execute(
            """
            SELECT id, host, sum(calls) OVER (ORDER BY last_at DESC, id DESC) - calls < %b
            FROM sessions_app_session WHERE team_id = ANY(%b::bigint[]) AND last_at >= %b
            ORDER BY last_at DESC, id DESC
            """,
            (MOST_CALLS, list(team_ids), since),
        )
        rows = [(int(str(id_)), str(host), bool(fits)) for id_, host, fits in cur]
    hosts = {id_: host for id_, host, fits in rows if fits}
    return Chosen(hosts, len(rows) - len(hosts))


def _reaches(draft: _Said, base: _Said) -> tuple[Reach, ...]:
    operations = [each for each in Operation if each is not Operation.CONTINUE]
    found = [
        _reach(each, draft.first.get(each, {}), base.first.get(each, {}))
        for each in operations
        if each in draft.first or each in base.first
    ]
    return tuple(
        sorted(found, key=lambda each: (each.operation not in LOSSY, -abs(each.sessions - each.sessions_before)))
    )


def _reach(
    operation: Operation, now: Mapping[int, tuple[int, datetime]], before: Mapping[int, tuple[int, datetime]]
) -> Reach:
    both = now.keys() & before.keys()
    return Reach(
        operation=operation,
        sessions=len(now),
        sessions_before=len(before),
        first_at=min((at for _, at in now.values()), default=None),
        gained=_newest(now.keys() - before.keys()),
        lost=_newest(before.keys() - now.keys()),
        earlier_calls=int(median(before[each][0] - now[each][0] for each in both)) if both else None,
    )


def _newest(ids: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(ids, reverse=True))
