"""The ledger in the database: works out new calls from some neighbours, and the sums of their quarters of an hour.

Called by each fold in its own transaction, so that no page sees a call without its parts. What it costs
depends on how many calls changed, not on how long the session is.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from django.db import transaction

from sessions_app.kernel import misses
from sessions_app.kernel.calls_sent import Sent, evidence_of
from sessions_app.kernel.causes import Check, Standing
from sessions_app.kernel.facts import Leaves
from sessions_app.kernel.misses import Explained
from sessions_app.kernel.pricing import PriceBook
from sessions_app.kernel.readings import Purpose
from sessions_app.models import Call
from sessions_app.services import day_sums, miss_sums
from sessions_app.services.locks import lock_session
from sessions_app.services.prices import load_price_book
from sessions_app.services.store import cursor

#: Neighbours that the outcome may depend on, those of calls that a new call may change included.
NEAR = misses.BEFORE + misses.AFTER
#: With more threads than this it is cheaper to load the session.
MOST_THREADS = 16
_COLUMNS = (
    *("id", "key", "number", "thread", "purpose", "model", "started_at", "ended_at", "cost_usd", "price_row_id"),
    *("uncached_input", "cache_read", "cache_write_5m", "cache_write_1h", "cache_write_unknown_ttl", "output"),
    *("evidence", "is_explained", "needed_usd", "miss_cause", "missed_tokens", "miss_cost_usd", "miss_detail"),
    "is_repeat",
)

type Row = dict[str, Any]


#: In plain SQL: composing these takes longer than running them, and each fold asks.
_PICKED = f"SELECT {', '.join(_COLUMNS)} FROM sessions_app_call WHERE session_id = %(session)b"  # noqa: S608 - names of columns
_TURNS = f"{_PICKED} AND thread = %(thread)b AND purpose = '{Purpose.TURN}'"
#: What comes before the first call that waits, that call and those after it, and where the thread begins.
_NEIGHBOURS = (
    f"(SELECT 'before', * FROM ({_TURNS} AND number < %(low)b ORDER BY number DESC LIMIT {NEAR}) AS near)"  # noqa: S608 - words of ours
    f" UNION ALL (SELECT 'changed', * FROM ({_PICKED} AND thread = %(thread)b AND number >= %(low)b) AS changed)"
    f" UNION ALL (SELECT 'first', * FROM ({_TURNS} ORDER BY number LIMIT 1) AS first)"
)
_WAITING = (
    "SELECT thread, MIN(number) FROM sessions_app_call WHERE session_id = %b AND NOT is_explained GROUP BY thread"
)


@dataclass(frozen=True, slots=True)
class _Loaded:
    rows: Sequence[Row]
    first_prompts: dict[str, int] | None
    only: Collection[str] | None


def explain(*, session_id: int, book: PriceBook) -> int:
    """Work out what changed in one session since the last time; gives how many calls were written.

    The caller holds the session's lock, and its transaction.
    """
    with cursor() as cur:
        waiting = cur.execute(_WAITING, (session_id,)).fetchall()
    lows = {str(thread): int(str(low)) for thread, low in waiting}
    written: list[Row] = []
    if lows:
        loaded = _load(session_id, lows)
        sent = [_sent(row, book) for row in loaded.rows]
        found = misses.explain(sent, first_prompts=loaded.first_prompts, only=loaded.only)
        written = [row for row in loaded.rows if row["key"] in found and _fill(row, found[row["key"]])]
        _store(written)
    miss_sums.renew(session_id, {miss_sums.slot_of(row["started_at"]) for row in written})
    day_sums.renew([session_id])
    return len(written)


def explain_waiting(*, limit: int) -> int:
    """Sessions whose calls wait, one transaction each; one that is being folded is left to its fold."""
    ids = list(
        Call.objects.filter(is_explained=False)
        .order_by("session_id")
        .values_list("session_id", flat=True)
        .distinct()[:limit]
    )
    book = load_price_book()
    done = 0
    for session_id in ids:
        with transaction.atomic():
            if lock_session(session_id):
                done += explain(session_id=session_id, book=book) > 0
    return done


def sent_calls(session_id: int, book: PriceBook) -> list[Sent]:
    """All calls of a session as the ledger takes them, in causal order."""
    return [_sent(row, book) for row in Call.objects.filter(session=session_id).order_by("number").values(*_COLUMNS)]


def _load(session_id: int, lows: dict[str, int]) -> _Loaded:
    """The calls that wait, and those of their threads that matter for them."""
    if len(lows) > MOST_THREADS or min(lows.values()) == 1:
        calls = Call.objects.filter(session=session_id).order_by("number")
        return _Loaded(list(calls.values(*_COLUMNS)), None, None)
    rows: list[Row] = []
    first_prompts: dict[str, int] = {}
    only: set[str] = set()
    for thread, low in lows.items():
        before, changed, first = _neighbours(session_id, thread, low)
        start = first if before else next((row for row in changed if row["purpose"] == Purpose.TURN), None)
        if start is not None:
            first_prompts[thread] = _leaves(start).prompt
        rows += [*before, *changed]
        # A later call changes an earlier one only by making a run without a cache of it.
        reopened = [row for row in before[-misses.AFTER :] if _leaves(row).prompt == row["uncached_input"]]
        only.update(row["key"] for row in [*reopened, *changed])
    return _Loaded(sorted(rows, key=lambda row: row["number"]), first_prompts, only)


def _neighbours(session_id: int, thread: str, low: int) -> tuple[list[Row], list[Row], Row | None]:
    """Turns before number `low`, the calls from it on, and the thread's first turn."""
    found: dict[str, list[Row]] = {"before": [], "changed": [], "first": []}
    with cursor() as cur:
        for where, *values in cur.execute(_NEIGHBOURS, {"session": session_id, "thread": thread, "low": low}):
            row: Row = dict(zip(_COLUMNS, values, strict=True))
            for name in ("evidence", "miss_detail"):
                row[name] = None if row[name] is None else msgspec.json.decode(row[name])
            found[str(where)].append(row)
    before, changed = (sorted(found[name], key=lambda row: row["number"]) for name in ("before", "changed"))
    return before, changed, next(iter(found["first"]), None)


def _leaves(row: Row) -> Leaves:
    return Leaves(
        row["uncached_input"],
        row["cache_read"],
        row["cache_write_5m"],
        row["cache_write_1h"],
        row["output"],
        row["cache_write_unknown_ttl"],
    )


def _sent(row: Row, book: PriceBook) -> Sent:
    return Sent(
        key=row["key"],
        number=row["number"],
        thread=row["thread"],
        purpose=row["purpose"],
        model=row["model"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        leaves=_leaves(row),
        price=book.row(row["price_row_id"]) if row["cost_usd"] is not None else None,
        **evidence_of(row["evidence"]),
    )


def _fill(row: Row, entry: Explained) -> bool:
    """Put the outcome into the row; False when it is there already."""
    miss = entry.miss
    values: Row = {
        "is_explained": True,
        "is_repeat": entry.is_repeat,
        # A cost without a price row is one that was stated: all of it was needed.
        "needed_usd": row["cost_usd"] if row["price_row_id"] is None else entry.needed_usd,
        "missed_tokens": miss.missed_tokens if miss else 0,
        "miss_cause": str(miss.cause) if miss else "",
        "miss_cost_usd": entry.extra_usd,
        "miss_part": str(miss.part) if miss else "",
        "miss_confidence": str(miss.confidence) if miss else "",
        "miss_says": str(miss.says) if miss else "",
        "miss_detail": _detail(entry) if miss and miss.checks else None,
    }
    compared = (
        "is_explained",
        "is_repeat",
        "needed_usd",
        "missed_tokens",
        "miss_cause",
        "miss_cost_usd",
        "miss_detail",
    )
    changed = any(row[name] != values[name] for name in compared)
    row.update(values)
    return changed


def _detail(entry: Explained) -> Row | None:
    miss = entry.miss
    if miss is None:
        return None
    return {
        "expected": miss.expected_tokens,
        "also": _checks(miss.others(Standing.HOLDS)),
        "ruled_out": _checks(miss.others(Standing.RULED_OUT)),
        "open": _checks(miss.others(Standing.OPEN)),
    }


def _checks(checks: Iterable[Check]) -> list[list[str | int | None]]:
    return [[str(check.cause), check.measured, check.limit] for check in checks]


#: What is written back, in the order of the statement below.
_WRITTEN = (
    *("is_explained", "is_repeat", "needed_usd", "missed_tokens", "miss_cause", "miss_cost_usd"),
    *("miss_part", "miss_confidence", "miss_says", "miss_detail"),
)
_UPDATE = (
    "UPDATE sessions_app_call AS c SET is_explained = g.explained, is_repeat = g.repeat, needed_usd = g.needed,"
    " missed_tokens = g.missed, miss_cause = g.cause, miss_cost_usd = g.cost, miss_part = g.part,"
    " miss_confidence = g.confidence, miss_says = g.says, miss_detail = g.detail"
    " FROM unnest(%b::bigint[], %b::boolean[], %b::boolean[], %b::numeric[], %b::bigint[], %b::text[], %b::numeric[],"
    " %b::text[], %b::text[], %b::text[], %b::jsonb[])"
    " AS g (id, explained, repeat, needed, missed, cause, cost, part, confidence, says, detail) WHERE c.id = g.id"
)


def _store(rows: Sequence[Row]) -> None:
    """Write the outcomes back in one statement."""
    if rows:
        with cursor() as cur:
            cur.execute(_UPDATE, [[_plain(name, row[name]) for row in rows] for name in ("id", *_WRITTEN)])


def _plain(name: str, value: object) -> object:
    if name == "miss_detail":
        return None if value is None else msgspec.json.encode(value).decode()
    return value
