"""The SQL of the ingest path: a fixed number of statements, whatever the size of the batch.

Arrays are bound in binary: measured at twice the rows per second of text parameters.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple, cast

import psycopg
from django.db import connection

from sessions_app.kernel.readings import Reading, decode, encode

#: The first half of the advisory lock under which the sessions of a team are made (any constant of our own).
NEW_SESSIONS = 0x0EC4
_FIND = (
    "SELECT host, host_session_id, s.id FROM sessions_app_session s"
    " JOIN unnest(%b::text[], %b::text[]) AS given (h, i) ON host = h AND host_session_id = i"
    " WHERE team_id = %b ORDER BY s.id"
)
_LOCK = f"{_FIND} FOR NO KEY UPDATE OF s"


class Name(NamedTuple):
    """A reading's place: session row, kind, source, key."""

    session_id: int
    kind: str
    source: str
    key: str


def cursor() -> "Rows":
    """A cursor with server-side binding on Django's own connection and transaction."""
    connection.ensure_connection()
    return psycopg.Cursor(connection.connection)


@contextmanager
def pipeline() -> Iterator[None]:
    """Send statements without waiting for the answers of those before, until one is asked for its rows."""
    connection.ensure_connection()
    with connection.connection.pipeline():
        yield


type Rows = psycopg.Cursor[tuple[object, ...]]
type Pair = tuple[str, str]

#: Rows of sessions that this process has met; the row of a session stays the same while it is there.
_met: dict[tuple[int, Pair], int] = {}
MOST_MET = 20_000


def recall(team_id: int, pairs: Sequence[Pair]) -> dict[Pair, int] | None:
    """The row of the one session of a delivery, where this process has met it: a guess until it is locked."""
    if len(pairs) != 1:
        return None
    pk = _met.get((team_id, pairs[0]))
    return None if pk is None else {pairs[0]: pk}


def lock_sessions(team_id: int, pairs: Sequence[Pair], now: datetime) -> dict[Pair, int]:
    """Row ids of (host, host session id), sorted pairs; made when missing, locked in one order until commit."""
    if len(pairs) == 1 and (one := ids_in(ask_lock(team_id, pairs))):
        return _remembered(team_id, one)
    missing = _missing(team_id, pairs)
    if missing:
        with cursor() as cur:
            # Whoever makes sessions waits here, before it holds any row; so rows are waited for in one order only.
            cur.execute("SELECT pg_advisory_xact_lock(%b::int, %b::int)", (NEW_SESSIONS, team_id % (1 << 31)))
            # Only what is missing is inserted: a conflict would burn an id, and ids are addresses of pages.
            _insert_sessions(cur, team_id, _missing(team_id, missing), now)
    return _remembered(team_id, ids_in(ask_lock(team_id, pairs)))


def _remembered(team_id: int, found: dict[Pair, int]) -> dict[Pair, int]:
    if len(_met) + len(found) > MOST_MET:
        _met.clear()
    _met.update({(team_id, pair): pk for pair, pk in found.items()})
    return found


def _missing(team_id: int, pairs: Sequence[Pair]) -> list[Pair]:
    return sorted(set(pairs) - ids_in(_ask_ids(_FIND, team_id, pairs)).keys())


def ask_lock(team_id: int, pairs: Sequence[Pair]) -> Rows:
    """Ask for the rows of these sessions, locked until commit."""
    return _ask_ids(_LOCK, team_id, pairs)


def _ask_ids(statement: str, team_id: int, pairs: Sequence[Pair]) -> Rows:
    return cursor().execute(statement, ([p[0] for p in pairs], [p[1] for p in pairs], team_id))


def ids_in(rows: Rows) -> dict[Pair, int]:
    """Row ids as they were asked for."""
    return {(str(host), str(name)): int(str(pk)) for host, name, pk in rows}


def _insert_sessions(cur: Rows, team_id: int, pairs: Sequence[Pair], now: datetime) -> None:
    cur.execute(
        "INSERT INTO sessions_app_session (team_id, host, host_session_id, created_at, received_at, revision,"
        " folded_revision, fold_error, fold_failures, identity_digest, branch, version, model, calls, aux_calls,"
        " subagent_calls, inherited_calls, uncached_input, cache_read, cache_write_5m, cache_write_1h,"
        " cache_write_unknown_ttl, output, unpriced_calls, compactions, depth, threads, window_origin, zone,"
        " peak_zone, warnings, lower_bound, sources, current)"
        " SELECT %b, host, id, %b, %b, 0, 0, '', 0, '', '', '', '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '',"
        " 'UNKNOWN', 'UNKNOWN', '[]', '[]', '{}', '{}'"
        " FROM unnest(%b::text[], %b::text[]) AS given (host, id)"
        " ON CONFLICT (team_id, host, host_session_id) DO NOTHING",
        (team_id, now, now, [p[0] for p in pairs], [p[1] for p in pairs]),
    )


def ask_readings(names: Iterable[Name]) -> Rows:
    """Ask for the stored readings of these names."""
    columns = [list(column) for column in zip(*names, strict=True)]
    return cursor().execute(
        "SELECT r.session_id, r.kind, r.source, r.key, r.body FROM sessions_app_readingrow r"
        " JOIN unnest(%b::bigint[], %b::text[], %b::text[], %b::text[]) AS given (s, k, o, y)"
        " ON r.session_id = s AND r.kind = k AND r.source = o AND r.key = y",
        columns or [[], [], [], []],
    )


def readings_in(rows: Rows) -> dict[Name, Reading]:
    """Readings as they were asked for."""
    return {Name(int(str(s)), str(k), str(o), str(y)): decode(str(k), str(body)) for s, k, o, y, body in rows}


def keep(team_id: int, readings: Mapping[Name, Reading], now: datetime) -> None:
    """Write merged readings over what was stored; the session rows are locked, so nobody else writes them."""
    if not readings:
        return
    names = sorted(readings)
    columns = [list(column) for column in zip(*names, strict=True)]
    chosen = [readings[name] for name in names]
    with cursor() as cur:
        cur.execute(
            "INSERT INTO sessions_app_readingrow"
            " (session_id, team_id, kind, source, key, body, message_id, request_id, received_at)"
            " SELECT s, %b, k, o, y, b, m, q, %b FROM unnest(%b::bigint[], %b::text[], %b::text[], %b::text[],"
            " %b::text[], %b::text[], %b::text[]) AS given (s, k, o, y, b, m, q)"
            " ON CONFLICT (session_id, kind, source, key) DO UPDATE SET body = EXCLUDED.body,"
            " message_id = EXCLUDED.message_id, request_id = EXCLUDED.request_id",
            (
                team_id,
                now,
                *columns,
                [encode(r) for r in chosen],
                [getattr(r, "message_id", None) for r in chosen],
                [getattr(r, "request_id", None) for r in chosen],
            ),
        )


def mark_dirty(session_ids: Sequence[int], now: datetime) -> Callable[[], dict[int, datetime | None]]:
    """Note that these sessions hold something that no fold has seen.

    Gives, when asked (in a pipeline best at its end), those that were clean before with the time of their last fold.
    """
    cur = cursor()
    cur.execute(
        "UPDATE sessions_app_session SET revision = revision + 1, received_at = %b,"
        " dirty_at = CASE WHEN revision > folded_revision THEN dirty_at ELSE %b END, fold_failures = 0"
        " WHERE id = ANY(%b::bigint[]) RETURNING id, folded_at, dirty_at = %b",
        (now, now, list(session_ids), now),
    )

    def were_clean() -> dict[int, datetime | None]:
        rows = cast(Iterable[tuple[int, datetime | None, bool]], cur)
        return {pk: folded_at for pk, folded_at, was_clean in rows if was_clean}

    return were_clean


class Husks(NamedTuple):
    """The reduced records of one body, packed for the vault."""

    feed: str
    event: str
    digest: str
    packed: bytes
    records: int


def keep_husks(team_id: int, bodies: Sequence[Husks], now: datetime) -> None:
    """Put the bodies of one delivery into the vault, each once."""
    if not bodies:
        return
    with cursor() as cur:
        cur.execute(
            "INSERT INTO sessions_app_vaultrecord (team_id, feed, event, digest, husks, records, received_at)"
            " SELECT %b, f, e, d, h, r, %b FROM unnest(%b::text[], %b::text[], %b::text[], %b::bytea[], %b::integer[])"
            " AS given (f, e, d, h, r) ON CONFLICT (team_id, feed, digest) DO NOTHING",
            (team_id, now, *(list(column) for column in zip(*sorted(bodies), strict=True))),
        )
