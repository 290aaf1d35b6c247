"""Import of Copilot's store of rows, also while the host writes to it. They are few; what is known changes nothing."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

import msgspec

from sessions_app.feeds.base import Context, Feed, Refusal
from sessions_app.feeds.copilot_store import TABLES
from sessions_app.services import ingest
from sessions_app.services.importing import Progress
from sessions_app.services.ingest import Sender

#: Rows that are read at a time.
AT_ONCE = 5_000


def read_store(*, path: Path, feed: Feed, sender: Sender, now: datetime) -> Iterator[Progress]:
    """Read the tables of calls and of sessions; one that an older version does not have is passed over."""
    context = Context(received_ms=int(now.timestamp() * 1000), final=True)
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=5)) as db:
            db.row_factory = sqlite3.Row
            for body in _bodies(db):
                receipt = ingest.receive(sender=sender, feed=feed, body=body, context=context, now=now)
                yield Progress(path, len(body), receipt.accepted, receipt.refused, session_ids=receipt.session_ids)
    except sqlite3.Error as error:
        yield Progress(path, refused=[Refusal(1, "", "cannot_open", f"not readable as a database: {error}")])


def _bodies(db: sqlite3.Connection) -> Iterator[bytes]:
    present = {row["name"] for row in db.execute("SELECT name FROM sqlite_master")}
    for table in TABLES.keys() & present:
        rows = db.execute(f"SELECT * FROM {table}")  # noqa: S608 - the name is one of ours
        while several := rows.fetchmany(AT_ONCE):
            yield b"".join(_line(table, row) for row in several)


def _line(table: str, row: sqlite3.Row) -> bytes:
    told = {name: row[name] for name in row.keys() if not isinstance(row[name], bytes)}  # noqa: SIM118 - no mapping
    return msgspec.json.encode({"table": table, "row": told}) + b"\n"
