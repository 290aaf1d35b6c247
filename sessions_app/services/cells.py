"""Recorded calls as cells: one row for each session and kind of situation in which two tables can differ.

The database sorts calls by exact integer comparison with the cuts of both tables; of each cell its first call is
taken, with what was known when it was made. Signals that recordings do not hold read as the catalogue says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from policy_app.kernel.cuts import cuts, tested
from policy_app.kernel.names import plain_model
from policy_app.kernel.signals import UNKNOWN, Signals, Value
from policy_app.kernel.table import Table
from policy_app.kernel.zones import working_window
from sessions_app.services.store import cursor

#: What a call of the main chain is known by; the rest was live only.
HELD = frozenset(
    (
        "zone",
        "utilization",
        "context_tokens",
        "window_kind",
        "depth",
        "tool_result_share",
        "externalize_age_calls",
        "thread_kind",
        "host",
        "model",
    )
)
#: Number signal -> its column, and what one of it counts.
_COLUMNS = {
    "context_tokens": ("c.occupancy", 1),
    "depth": ("c.depth", 1),
    "tool_result_share": ("c.tool_share_permille", 1000),
    "externalize_age_calls": ("c.externalize_age_calls", 1),
}
#: A window that a later compaction bounded was still the model's when the call was made.
_KIND = "CASE c.window_origin WHEN 'bounded' THEN 'assumed' ELSE c.window_origin END"


@dataclass(frozen=True, slots=True)
class Cell:
    """Calls of one session that no table tells apart. `key` is the same for equal cells of other sessions."""

    session_id: int
    key: tuple[object, ...]
    signals: Signals
    first_number: int
    first_at: datetime
    calls: int


def cells(session_ids: Sequence[int], since: datetime, tables: Sequence[Table]) -> Iterator[Cell]:
    """The cells of calls from `since` on; none for sessions without a point of occupancy."""
    names = frozenset[str]().union(*(tested(table) for table in tables))
    models = _models(session_ids, since) if any(table.working_windows for table in tables) else []
    working = [[working_window(table.working_windows, model or None) for model in models] for table in tables]
    keys = list(dict.fromkeys(_places(tables)))
    if "model" in names or models:
        keys.append("c.model")
    if "window_kind" in names:
        keys.append(_KIND)
    if "host" in names:
        keys.append("s.host")
    with cursor() as cur:
        cur.execute(_query(keys, len(tables)), (models, *working, list(session_ids), since))
        for row in cur:
            yield _cell(row)


def _query(keys: Sequence[str], tables: int) -> str:
    grouped = "".join(f", {key}" for key in keys)
    columns = "".join(f", w{index}" for index in range(tables))
    return f"""
        SELECT c.session_id, min(c.started_at), count(*), min(s.host), min(c.model), min({_KIND}),
            min(ARRAY[c.number, c.occupancy, coalesce(c.known_window, 0), c.depth,
                coalesce(c.tool_share_permille, -1), coalesce(c.externalize_age_calls, -1)]::bigint[]){grouped}
        FROM sessions_app_call c JOIN sessions_app_session s ON s.id = c.session_id
        LEFT JOIN unnest(%b::text[]{", %b::bigint[]" * tables}) AS working (named{columns}) ON named = c.model
        WHERE c.session_id = ANY(%b::bigint[]) AND c.started_at >= %b
            AND c.thread = '' AND c.purpose = 'turn' AND c.occupancy IS NOT NULL
        GROUP BY c.session_id{grouped}
    """  # noqa: S608 - the keys are made of numbers, and of columns named here


def _models(session_ids: Sequence[int], since: datetime) -> list[str]:
    with cursor() as cur:
        cur.execute(
            "SELECT DISTINCT model FROM sessions_app_call WHERE session_id = ANY(%b::bigint[]) AND started_at >= %b",
            (list(session_ids), since),
        )
        return sorted(str(row[0]) for row in cur)


def _places(tables: Sequence[Table]) -> Iterator[str]:
    """For each number that is tested, how many cuts lie below a call, and how many at or below."""
    for index, table in enumerate(tables):
        for name, numbers in cuts(table).items():
            if name == "utilization":
                # LEAST leaves out what is NULL.
                yield _place("c.occupancy", f"LEAST(nullif(c.known_window, 0), working.w{index})", numbers)
            elif name in _COLUMNS:
                column, unit = _COLUMNS[name]
                yield _place(column, str(unit), numbers)


def _place(above: str, below: str, numbers: Sequence[Fraction]) -> str:
    """Exact: `above / below >= p / q` as a comparison of whole numbers; NULL where either is not known."""
    sides = [
        f"({above}::numeric * {each.denominator} {sign} {each.numerator}::numeric * {below})::int"
        for each in numbers
        for sign in (">", ">=")
    ]
    return " + ".join(sides) or f"({above} / {below} IS NULL)::int"


def _cell(row: tuple[Any, ...]) -> Cell:
    session_id, at, count, host, model, kind, first, *key = row
    number, occupancy, window, depth, share, age = first
    values: dict[str, Value] = {
        "host": host,
        "model": plain_model(model) if model else UNKNOWN,
        "window_kind": kind or UNKNOWN,
        "context_tokens": occupancy,
        "window_tokens": window or UNKNOWN,
        "depth": depth,
        "tool_result_share": UNKNOWN if share < 0 else Fraction(share, 1000),
        "externalize_age_calls": UNKNOWN if age < 0 else age,
    }
    return Cell(session_id, tuple(key), Signals(MappingProxyType(values)), number, at, count)
