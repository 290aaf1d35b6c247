"""Sums of the ledger by quarter of an hour: the four parts of the bill, and misses by cause."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from sessions_app.kernel.times import SLOT_MS
from sessions_app.services.store import cursor, pipeline

SLOT_SECONDS = SLOT_MS // 1000

#: Quarters that are no more, and those that are summed anew, lose their misses.
_DROP = """
    DELETE FROM sessions_app_missslot AS m WHERE m.session_id = %(session)b AND NOT EXISTS (
        SELECT FROM sessions_app_usageslot AS s WHERE s.session_id = m.session_id AND s.slot_at = m.slot_at
        AND s.model = m.model AND s.is_explained AND s.slot_at <> ALL(%(touched)b::timestamptz[]))
"""
_PLACES = """
    SELECT id, slot_at, model FROM sessions_app_usageslot
    WHERE session_id = %(session)b AND (NOT is_explained OR slot_at = ANY(%(touched)b::timestamptz[]))
"""
#: The calls of a quarter; those of no such quarter fall out in the join.
_CALLS = """
    sessions_app_call AS c ON c.session_id = %(session)b AND c.model = p.model
    AND c.started_at >= p.slot_at AND c.started_at < p.slot_at + INTERVAL '15 minutes'
"""
_MISSES = f"""
    INSERT INTO sessions_app_missslot
        (session_id, slot_at, model, cause, part, misses, tokens, cost_usd, unpriced)
    SELECT %(session)b, p.slot_at, p.model, c.miss_cause, c.miss_part, COUNT(*),
        LEAST(SUM(c.missed_tokens), 9223372036854775807), SUM(c.miss_cost_usd),
        COUNT(*) FILTER (WHERE c.miss_cost_usd IS NULL)
    FROM ({_PLACES}) AS p JOIN {_CALLS}
    WHERE c.miss_cause <> '' GROUP BY p.slot_at, p.model, c.miss_cause, c.miss_part
"""  # noqa: S608 - texts of ours
#: A part without a miss is nothing where the quarter has a price, and unknown where it has none.
_SUMS = f"""
    UPDATE sessions_app_usageslot AS s SET is_explained = true, needed_usd = g.needed,
        repeats = g.repeats, repeats_read = g.repeats_read,
        expected_usd = COALESCE(g.expected, g.needed * 0),
        avoidable_usd = COALESCE(g.avoidable, g.needed * 0),
        unexplained_usd = COALESCE(g.unexplained, g.needed * 0)
    FROM (
        SELECT p.id, SUM(c.needed_usd) AS needed,
            COUNT(*) FILTER (WHERE c.is_repeat) AS repeats,
            COUNT(*) FILTER (WHERE c.is_repeat AND c.cache_read > 0) AS repeats_read,
            SUM(c.miss_cost_usd) FILTER (WHERE c.miss_part = 'expected') AS expected,
            SUM(c.miss_cost_usd) FILTER (WHERE c.miss_part = 'avoidable') AS avoidable,
            SUM(c.miss_cost_usd) FILTER (WHERE c.miss_part = 'unexplained') AS unexplained
        FROM ({_PLACES}) AS p LEFT JOIN {_CALLS} GROUP BY p.id
    ) AS g WHERE s.id = g.id
"""  # noqa: S608 - texts of ours


def renew(session_id: int, touched: Iterable[datetime]) -> None:
    """Sum the quarters that begin at these moments again, and those that the fold wrote anew."""
    told = {"session": session_id, "touched": sorted(touched)}
    with pipeline(), cursor() as cur:
        for statement in (_DROP, _MISSES, _SUMS):
            cur.execute(statement, told)


def slot_of(at: datetime) -> datetime:
    """The start of its quarter of an hour."""
    return at - timedelta(seconds=int(at.timestamp()) % SLOT_SECONDS, microseconds=at.microsecond)
