"""Import of every host's files: default places, files told by their shape, a database, a tree, what nobody knows."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sessions_app.feeds import registry
from sessions_app.feeds.base import Context
from sessions_app.feeds.shapes import shape_of_text
from sessions_app.models import Organisation, Session, SourceRow, Team, VaultRecord
from sessions_app.services import ingest, rereading, stores
from sessions_app.services.importing import Progress
from sessions_app.services.ingest import Sender
from tests.support.deliveries import NOW, fold_everything
from tests.support.inputs import corpus_of_others, totals_of_others

EXPORT: dict[str, Any] = json.loads(corpus_of_others()["opencode/6.json"])
WANTED = totals_of_others()["opencode/6.json"]["totals"]


@pytest.fixture
def sender(db: None) -> Sender:
    organisation = Organisation.objects.create(name="Acme", slug="acme", created_at=NOW)
    return Sender(Team.objects.create(organisation=organisation, slug="a", name="A", created_at=NOW).pk)


def read(found: list[stores.Found], sender: Sender) -> list[Progress]:
    told = [p for f in found for p in f.store.read(path=f.path, feed=f.store.feed, sender=sender, now=NOW)]
    fold_everything()
    return told


def database(path: Path, export: dict[str, Any]) -> None:
    """The tables of the host with the messages of an export."""
    path.parent.mkdir(parents=True, exist_ok=True)
    info = export["info"]
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE session (id, parent_id, directory, version, agent, time_created, time_updated)")
        db.execute("CREATE TABLE message (id, session_id, time_created, time_updated, data)")
        db.execute("CREATE TABLE part (id, message_id, session_id, time_created, time_updated, data)")
        row = (info["id"], None, info["directory"], info["version"], None, info["time"]["created"], 0)
        db.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        for number, message in enumerate(export["messages"]):
            add(db, number, message)
        db.commit()


def add(db: sqlite3.Connection, number: int, message: dict[str, Any]) -> None:
    told, name = message["info"], f"msg_{number}"
    at = told["time"]["created"]
    db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (name, told["sessionID"], at, at, json.dumps(told)))
    for place, part in enumerate(message["parts"]):
        row = (f"prt_{number}_{place}", name, told["sessionID"], at, at, json.dumps(part))
        db.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)


def check_story() -> None:
    session = Session.objects.get(host="opencode")
    assert (session.uncached_input, session.cache_read, session.output) == (
        WANTED["input"],
        WANTED["cache_read"],
        WANTED["output"],
    )
    assert session.calls == 9


def test_database__at_home__read_once_and_then_what_is_new(tmp_path: Path, sender: Sender) -> None:
    path = tmp_path / ".local" / "share" / "opencode" / "opencode.db"
    database(path, {**EXPORT, "messages": EXPORT["messages"][:4]})
    found = stores.at_home({"HOME": str(tmp_path)})
    assert [f.path for f in found] == [path]
    assert sum(p.accepted for p in read(found, sender)) == 4
    assert sum(p.accepted for p in read(found, sender)) == 0
    with closing(sqlite3.connect(path)) as db:
        for number, message in enumerate(EXPORT["messages"][4:], 4):
            add(db, number, message)
        db.commit()
    assert sum(p.accepted for p in read(found, sender)) == len(EXPORT["messages"]) - 4
    check_story()


def test_tree__at_home__the_same_session(tmp_path: Path, sender: Sender) -> None:
    storage = tmp_path / "data" / "opencode" / "storage"
    name = EXPORT["info"]["id"]
    write(storage / "session" / "global" / f"{name}.json", EXPORT["info"])
    for number, message in enumerate(EXPORT["messages"]):
        write(storage / "message" / name / f"msg_{number:03d}.json", message["info"])
        for place, part in enumerate(message["parts"]):
            write(storage / "part" / f"msg_{number:03d}" / f"prt_{place:03d}.json", part)
    found = stores.at_home({"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")})
    assert len(found) == 1
    read(found, sender)
    check_story()
    assert read(found, sender) == []


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def test_folder__of_mixed_files__each_by_its_shape(tmp_path: Path, sender: Sender) -> None:
    write(tmp_path / "export.json", EXPORT)
    write(tmp_path / "package.json", {"name": "acme"})
    (tmp_path / "pi.jsonl").write_bytes(corpus_of_others()["pi/1.jsonl"])
    claude = {"type": "user", "sessionId": "s", "timestamp": "2026-11-30T10:00:00Z", "message": {"content": "hi"}}
    (tmp_path / "claude.jsonl").write_text(json.dumps(claude) + "\n")
    found = stores.named([tmp_path])
    assert [(f.path.name, f.store.name) for f in found] == [
        ("claude.jsonl", "Claude Code"),
        ("export.json", "OpenCode"),
        ("pi.jsonl", "Unknown"),
    ]
    read(found, sender)
    check_story()


def test_broken_database__said_so(tmp_path: Path, sender: Sender) -> None:
    (tmp_path / "opencode.db").write_bytes(b"no database at all, but long enough to be looked at" * 40)
    (progress,) = read(stores.named([tmp_path]), sender)
    assert [refusal.code for refusal in progress.refused] == ["cannot_open"]


def test_unknown_shape__at_a_transcripts_door__kept_reduced_and_said(sender: Sender) -> None:
    body = corpus_of_others()["pi/1.jsonl"]
    feed = registry.FEEDS["claude-code-transcript"]
    context = Context(received_ms=int(NOW.timestamp() * 1000))
    receipt = ingest.receive(sender=sender, feed=feed, body=body, context=context, now=NOW)
    assert (receipt.accepted, [w.code for w in receipt.warnings]) == (0, ["unknown_shape"])
    record = VaultRecord.objects.get()
    assert (record.feed, record.records) == ("unknown", len(body.splitlines()))
    assert rereading.reread(record=record, now=NOW).accepted == 0
    assert not Session.objects.exists()


def test_unknown_shape__imported__opens_no_source(tmp_path: Path, sender: Sender) -> None:
    (tmp_path / "pi.jsonl").write_bytes(corpus_of_others()["pi/1.jsonl"])
    read(stores.named([tmp_path]), sender)
    assert VaultRecord.objects.get().feed == "unknown"
    assert not SourceRow.objects.exists()


@pytest.mark.parametrize("name", sorted(corpus_of_others()))
def test_shape__of_each_corpus_file__its_host(name: str) -> None:
    host = {"gemini-cli": "gemini", "opencode": "opencode"}.get(name.split("/")[0], "")
    assert shape_of_text(corpus_of_others()[name]) == host
