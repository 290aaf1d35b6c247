"""Import of OpenCode's two stores: the database of newer versions and the tree of files of older ones.

Both may be there after a move from one to the other; messages have the same ids in both.
"""

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from sessions_app.feeds.base import Feed, Refusal
from sessions_app.services.importing import Progress, mark_of, store
from sessions_app.services.ingest import Sender

#: Messages that are read at a time; a part may hold the whole output of a tool.
AT_ONCE = 100
MOST_GENERATIONS = 20

type Row = dict[str, Any]

_TOUCHED = """
    SELECT m.*, max(m.time_updated, coalesce((SELECT max(p.time_updated) FROM part p WHERE p.message_id = m.id), 0))
        AS touched
    FROM message m WHERE touched > ? ORDER BY touched, m.id
"""


def read_database(*, path: Path, feed: Feed, sender: Sender, now: datetime) -> Iterator[Progress]:
    """Read what was written since the last time, by the time of the last change of a message or its parts."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
            db.row_factory = sqlite3.Row
            yield from _rows(db, path, feed, sender, now)
    except sqlite3.Error as error:
        yield Progress(path=path, refused=[Refusal(1, "", "cannot_open", f"not readable as a database: {error}")])


def _rows(db: sqlite3.Connection, path: Path, feed: Feed, sender: Sender, now: datetime) -> Iterator[Progress]:
    sessions = {row["id"]: dict(row) for row in db.execute("SELECT * FROM session ORDER BY time_created, id")}
    for session in sessions.values():
        session["rootID"] = _root(session, sessions)
    first = next(iter(sessions), "")
    mark = mark_of(path, sender, hashlib.sha256(first.encode()).hexdigest())
    found = db.execute(_TOUCHED, (mark.offset,))
    while rows := found.fetchmany(AT_ONCE):
        records = [_record(db, row, sessions) for row in rows]
        body = b"\n".join(msgspec.json.encode(record) for record in records)
        # Equal times may lie on both sides of the cut; one less reads them once more, which changes nothing.
        offset = max(mark.offset, rows[-1]["touched"] - (len(rows) == AT_ONCE))
        yield store(path=path, body=body, feed=feed, sender=sender, mark=mark, offset=offset, now=now)


def _record(db: sqlite3.Connection, row: sqlite3.Row, sessions: Mapping[str, Row]) -> Row:
    parts = db.execute("SELECT id, data FROM part WHERE message_id = ? ORDER BY id", (row["id"],))
    return {
        "session": sessions.get(row["session_id"]),
        "info": {**_data(row["data"]), "id": row["id"], "sessionID": row["session_id"]},
        "parts": [{**_data(p["data"]), "id": p["id"], "messageID": row["id"]} for p in parts],
    }


def _root(session: Row, sessions: Mapping[str, Row]) -> str | None:
    """The session that a subagent's subagent belongs to at last."""
    parent = session.get("parent_id")
    for _ in range(MOST_GENERATIONS):
        above = sessions.get(parent or "", {}).get("parent_id")
        if not above:
            break
        parent = above
    return parent


def _data(text: object) -> Row:
    try:
        found = msgspec.json.decode(text) if isinstance(text, str | bytes) else {}
    except (msgspec.DecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def read_tree(*, path: Path, feed: Feed, sender: Sender, now: datetime) -> Iterator[Progress]:
    """Read one session of the older tree: `session/PROJECT/ID.json`, `message/ID/*.json`, `part/MESSAGE/*.json`."""
    storage = path.parents[2]
    messages = [
        {
            "info": _data(file.read_bytes()),
            "parts": [_data(part.read_bytes()) for part in sorted((storage / "part" / file.stem).glob("prt_*.json"))],
        }
        for file in sorted((storage / "message" / path.stem).glob("msg_*.json"))
    ]
    body = msgspec.json.encode({"info": _data(path.read_bytes()), "messages": messages})
    mark = mark_of(path, sender, hashlib.sha256(body).hexdigest())
    if mark.offset != len(body):
        yield store(path=path, body=body, feed=feed, sender=sender, mark=mark, offset=len(body), now=now)
