"""The SQL of the ingest path: a fixed number of statements, whatever the size of the batch.

Arrays are bound in binary: measured at twice the rows per second of text parameters.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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


def cursor() -> psycopg.Cursor[tuple[object, ...]]:
    """A cursor with server-side binding on Django's own connection and transaction."""
    connection.ensure_connection()
    return psycopg.Cursor(connection.connection)


@contextmanager
def pipeline() -> Iterator[None]:
    """Send statements without waiting for the answers of those before, until one is asked for its rows."""
    connection.ensure_connection()
    with connection.connection.pipeline():
        yield


def lock_sessions(team_id: int, names: Iterable[tuple[str, str]], now: datetime) -> dict[tuple[str, str], int]:
    """Row ids of (host, host session id), made when missing, locked in one order until commit."""
    pairs = sorted(set(names))
    with cursor() as cur:
        if len(pairs) == 1 and (one := _found(cur, team_id, pairs, lock=True)):
            return one
        missing = sorted(set(pairs) - _found(cur, team_id, pairs, lock=False).keys())
        if missing:
            # Whoever makes sessions waits here, before it holds any row; so rows are waited for in one order only.
            cur.execute("SELECT pg_advisory_xact_lock(%b::int, %b::int)", (NEW_SESSIONS, team_id % (1 << 31)))
            # Only what is missing is inserted: a conflict would burn an id, and ids are addresses of pages.
            missing = sorted(set(missing) - _found(cur, team_id, missing, lock=False).keys())
            _insert_sessions(cur, team_id, missing, now)
        return _found(cur, team_id, pairs, lock=True)


def _found(
    cur: psycopg.Cursor[tuple[object, ...]], team_id: int, pairs: Sequence[tuple[str, str]], *, lock: bool
) -> dict[tuple[str, str], int]:
    cur.execute(_LOCK if lock else _FIND, ([p[0] for p in pairs], [p[1] for p in pairs], team_id))
    return {(str(host), str(name)): int(str(pk)) for host, name, pk in cur}


def _insert_sessions(
    cur: psycopg.Cursor[tuple[object, ...]], team_id: int, pairs: Sequence[tuple[str, str]], now: datetime
) -> None:
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


def held(names: Iterable[Name]) -> dict[Name, Reading]:
    """The stored readings of these names."""
    wanted = list(names)
    if not wanted:
        return {}
    with cursor() as cur:
        cur.execute(
            "SELECT r.session_id, r.kind, r.source, r.key, r.body FROM sessions_app_readingrow r"
            " JOIN unnest(%b::bigint[], %b::text[], %b::text[], %b::text[]) AS given (s, k, o, y)"
            " ON r.session_id = s AND r.kind = k AND r.source = o AND r.key = y",
            tuple(list(column) for column in zip(*wanted, strict=True)),
        )
        return {Name(int(str(s)), str(k), str(o), str(y)): decode(str(k), str(body)) for s, k, o, y, body in cur}


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


def mark_dirty(session_ids: Sequence[int], now: datetime) -> dict[int, datetime | None]:
    """Note that these sessions hold something that no fold has seen.

    Gives those that were clean before, with the time of their last fold.
    """
    with cursor() as cur:
        cur.execute(
            "UPDATE sessions_app_session SET revision = revision + 1, received_at = %b,"
            " dirty_at = CASE WHEN revision > folded_revision THEN dirty_at ELSE %b END, fold_failures = 0"
            " WHERE id = ANY(%b::bigint[]) RETURNING id, folded_at, dirty_at = %b",
            (now, now, list(session_ids), now),
        )
        rows = cast(Iterable[tuple[int, datetime | None, bool]], cur)
        return {pk: folded_at for pk, folded_at, was_clean in rows if was_clean}


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
