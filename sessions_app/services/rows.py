"""Rows written as one JSON document that PostgreSQL reads by the types of the table's columns.

A fold runs every few seconds in each busy session: composing its statements through the ORM took four times as long
as running them.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec
from django.db import models

from sessions_app.services.store import cursor

type Row = Mapping[str, Any]


def encoded(value: object) -> bytes:
    """JSON with names in order; decimals are text, so that nothing is rounded on the way."""
    return msgspec.json.encode(value, enc_hook=str, order="sorted")


def upsert(model: type[models.Model], session_id: int, rows: Sequence[Row]) -> None:
    """Write rows of one session by their key. All name the same columns; what they leave out keeps its value."""
    if rows:
        begin = encoded({**_defaults(model), "session_id": session_id}).decode()
        with cursor() as cur:
            cur.execute(_upserting(model, tuple(rows[0])), (begin, encoded(rows).decode()))


def update(model: type[models.Model], pk: int, row: Row, also: str = "") -> None:
    """Write these columns of one row; `also` assigns in SQL, where `told` are the new values and `held` the row."""
    with cursor() as cur:
        cur.execute(_updating(model, tuple(row), also), (encoded(row).decode(), pk))


def drop(model: type[models.Model], session_id: int, keys: Iterable[str]) -> None:
    """Take rows of one session away, by their keys."""
    table = model._meta.db_table
    with cursor() as cur:
        cur.execute(f"DELETE FROM {table} WHERE session_id = %b AND key = ANY(%b)", (session_id, list(keys)))  # noqa: S608 - our own table


@cache
def _defaults(model: type[models.Model]) -> Row:
    fields = (field for field in model._meta.concrete_fields if not field.primary_key)
    return {str(field.column): field.get_default() for field in fields}


@cache
def _upserting(model: type[models.Model], names: tuple[str, ...]) -> str:
    table = model._meta.db_table
    columns = [f'"{name}"' for name in _defaults(model)]
    changes = ", ".join(f'"{name}" = EXCLUDED."{name}"' for name in names if name != "key")
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(columns)}"  # noqa: S608 - names of our own columns
        f" FROM jsonb_populate_recordset(jsonb_populate_record(NULL::{table}, %b::jsonb), %b::jsonb)"
        f" ON CONFLICT (session_id, key) DO UPDATE SET {changes}"
    )


@cache
def _updating(model: type[models.Model], names: tuple[str, ...], also: str) -> str:
    table = model._meta.db_table
    changes = ", ".join([*(f'"{name}" = told."{name}"' for name in names), *([also] if also else [])])
    return (
        f"UPDATE {table} AS held SET {changes} FROM jsonb_populate_record(NULL::{table}, %b::jsonb) AS told"  # noqa: S608 - names of our own columns
        " WHERE held.id = %b"
    )
