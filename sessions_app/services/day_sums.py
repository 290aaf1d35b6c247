"""Sums of days, kept beside those of quarters: a page of 90 days reads a fifth of the rows.

Days are those of UTC, as on every page. One row is of one session, so two folds never wait for each other here.
"""

from collections.abc import Collection
from typing import Any

from django.db import models

from sessions_app.models import MissDay, MissSlot, UsageDay, UsageSlot
from sessions_app.models.projections import MissSums, UsageSums
from sessions_app.services.store import cursor, pipeline

_KEYS = ("slot_at", "model", "cause", "part")
#: What the columns of counts hold, by their kind; only a hostile sender sends more.
_MOST = {"BigIntegerField": (1 << 63) - 1, "PositiveIntegerField": (1 << 31) - 1}
_DAY = "date_trunc('day', slot_at, 'UTC')"


def _sum(field: "models.Field[Any, Any]") -> str:
    most = _MOST.get(field.get_internal_type())
    return f"SUM({field.column})" if most is None else f"LEAST(SUM({field.column}), {most})"


def _statements(sums: type[models.Model], day: type[models.Model], quarter: type[models.Model]) -> tuple[str, str]:
    fields = {str(field.column): field for field in sums._meta.local_fields}
    keys = [name for name in fields if name in _KEYS]
    summed = [name for name in fields if name not in _KEYS]
    into, source = day._meta.db_table, quarter._meta.db_table
    others = "".join(f" AND q.{name} = {into}.{name}" for name in keys if name != "slot_at")
    drop = (
        f"DELETE FROM {into} WHERE session_id = ANY(%(sessions)b::bigint[]) AND NOT EXISTS (SELECT FROM {source} AS q"  # noqa: S608 - names of our own columns
        f" WHERE q.session_id = {into}.session_id AND date_trunc('day', q.slot_at, 'UTC') = {into}.slot_at{others})"
    )
    columns = ", ".join(("session_id", *keys, *summed))
    grouped = ", ".join(("session_id", _DAY, *(name for name in keys if name != "slot_at")))
    fill = (
        f"INSERT INTO {into} ({columns}) SELECT {grouped}, {', '.join(_sum(fields[name]) for name in summed)}"  # noqa: S608 - names of our own columns
        f" FROM {source} WHERE session_id = ANY(%(sessions)b::bigint[]) GROUP BY {grouped}"
        f" ON CONFLICT (session_id, {', '.join(keys)}) DO UPDATE"
        f" SET {', '.join(f'{name} = EXCLUDED.{name}' for name in summed)}"
        f" WHERE ({', '.join(f'{into}.{name}' for name in summed)})"
        f" IS DISTINCT FROM ({', '.join(f'EXCLUDED.{name}' for name in summed)})"
    )
    return drop, fill


_RENEW = (*_statements(UsageSums, UsageDay, UsageSlot), *_statements(MissSums, MissDay, MissSlot))


def renew(session_ids: Collection[int]) -> None:
    """Make the days of these sessions equal to the sums of their quarters; only rows that differ are written."""
    with pipeline(), cursor() as cur:
        for statement in _RENEW:
            cur.execute(statement, {"sessions": list(session_ids)})
