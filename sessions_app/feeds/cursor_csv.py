"""Cursor's usage export (CSV from its dashboard): one row a request, and no session.

`Input (w/ Cache Write)` and `Input (w/o Cache Write)` are separate buckets, not a total and its part; `Total Tokens`
checks the sum. A cost may be a word ("Included", "-"): then it is unknown, neither zero nor an error. Rows are held
by day, each a thread of its own, because nothing says which of them shared a context (docs/adr/0009).
"""

import csv
import hashlib
import io

from sessions_app.feeds.base import Context, Feed, Husk, Item, Parsed, Refusal, Refused
from sessions_app.feeds.conventions import CONVENTION_SUSPECT
from sessions_app.feeds.husk import husk
from sessions_app.feeds.numbers import nanodollars, token_count
from sessions_app.feeds.times import moment
from sessions_app.kernel.readings import CallReading, Purpose, Reading, SessionReading, Source
from sessions_app.kernel.times import when

#: What a column is called here, and whether a row is nothing without it.
COLUMNS = {
    "Date": "at",
    "Model": "model",
    "Kind": "kind",
    "Input (w/ Cache Write)": "cache_write",
    "Input (w/o Cache Write)": "uncached_input",
    "Cache Read": "cache_read",
    "Output Tokens": "output",
    "Total Tokens": "total",
    "Cost": "cost_usd",
}
NEEDED = frozenset(COLUMNS) - {"Kind", "Total Tokens", "Cost"}
_COUNTS = ("cache_write", "uncached_input", "cache_read", "output", "total")
#: Sessions of rows that belong to none are named after their day.
SESSION = "export:"


def parse(body: bytes, context: Context) -> Parsed:
    """Read every row. Raises Refused: `unknown_columns`. Positions are lines of the file, the head being line 1."""
    rows = csv.reader(io.StringIO(body.decode("utf-8-sig", "replace")))
    parsed = Parsed()
    try:
        head = next(rows, [])
        if not set(head) >= NEEDED:
            missing = ", ".join(sorted(NEEDED - set(head)))
            raise Refused("unknown_columns", "", f"this is no usage export of Cursor; it lacks {missing}")
        for position, row in enumerate(rows, 2):
            if row:
                _take(parsed, position, dict(zip(head, row, strict=False)), context)
    except csv.Error:
        raise Refused("not_csv", "", "the file is not CSV") from None
    return parsed


def _take(parsed: Parsed, position: int, row: dict[str, str], context: Context) -> None:
    told = {name: row[column].strip() for column, name in COLUMNS.items() if row.get(column, "").strip()}
    reduced = husk(
        {**told, "id": hashlib.sha256(repr(sorted(row.items())).encode("utf-8", "replace")).hexdigest()[:24]}
    )
    try:
        parsed.items.append(Item(position, reduced, read(reduced, context)))
    except Refused as refused:
        parsed.refusals.append(Refusal(position, refused.pointer, refused.code, refused.message))


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """The call of one row. Refused: `not_a_time`, and counts that are none."""
    at = moment(record.get("at"), context.received_ms)
    if at.ms is None:
        raise Refused("not_a_time", "/Date", "a row needs the time of its request")
    counts = {name: token_count(record.get(name), f"/{_column(name)}") for name in _COUNTS}
    total, parts = counts.pop("total"), sum(count or 0 for count in counts.values())
    name, model, source = str(record.get("id")), record.get("model"), Source.CANONICAL
    session = f"{SESSION}{when(at.ms):%Y-%m-%d}"
    call = CallReading(
        session=session,
        source=source,
        key=name,
        thread=(25, name),
        purpose=(0, Purpose.TURN),
        model=(at.ms, model) if isinstance(model, str) else None,
        first_ms=at.ms,
        uncached_input=counts["uncached_input"],
        cache_read=counts["cache_read"],
        write_total=counts["cache_write"],
        output=counts["output"],
        host_cost_nanousd=reported_cost(record),
        flags=tuple(sorted({*at.flags, *([] if total in (None, parts) else [CONVENTION_SUSPECT])})),
    )
    facts = SessionReading(session=session, source=source, key="session", first_ms=at.ms, last_ms=at.ms)
    return (call, facts)


def reported_cost(record: Husk) -> int | None:
    """The cost in nano-dollars, where the cell holds a number."""
    try:
        return nanodollars(record.get("cost_usd"), "")
    except Refused:
        return None


def _column(name: str) -> str:
    return next(column for column, told in COLUMNS.items() if told == name)


FEED = Feed("cursor-csv", "cursor", parse, read)
