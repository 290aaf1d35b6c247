"""Import of what Codex and Copilot keep: default places, pieces that do not name their session, rows of a store."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sessions_app.feeds import codex_transcript
from sessions_app.models import Organisation, Session, Team
from sessions_app.services import importing, stores
from sessions_app.services.importing import Progress
from sessions_app.services.ingest import Sender
from tests.support import codex, copilot
from tests.support.deliveries import NOW, fold_everything


@pytest.fixture
def sender(db: None) -> Sender:
    organisation = Organisation.objects.create(name="Acme", slug="acme", created_at=NOW)
    return Sender(Team.objects.create(organisation=organisation, slug="a", name="A", created_at=NOW).pk)


def read(path: Path, sender: Sender) -> list[Progress]:
    found = list(importing.read_file(path=path, feed=codex_transcript.FEED, sender=sender, now=NOW))
    fold_everything()
    return found


def home_of(tmp_path: Path) -> Path:
    """A home with the recorded sessions, and a store that holds a call of another one too."""
    codex_file = tmp_path / ".codex/sessions/2026/11/30" / next((codex.STORY / "sessions").rglob("*.jsonl")).name
    events = tmp_path / ".copilot/session-state" / copilot.STORY_ID / "events.jsonl"
    told = ((codex_file, codex.rollout().body), (events, copilot.events().body))
    for path, body in told:
        path.parent.mkdir(parents=True)
        path.write_bytes(body)
    with closing(sqlite3.connect(tmp_path / ".copilot/session-store.db")) as store:
        store.execute("CREATE TABLE sessions (id TEXT, cwd TEXT, summary TEXT)")
        for text in copilot.store().body.splitlines():
            row = json.loads(text)["row"]
            if "input_tokens" in row:
                names = ", ".join(row)
                store.execute(f"CREATE TABLE IF NOT EXISTS assistant_usage_events ({names})")
                store.execute(
                    f"INSERT INTO assistant_usage_events VALUES ({', '.join('?' * len(row))})", [*row.values()]
                )
        store.execute("UPDATE assistant_usage_events SET session_id = 'other' WHERE id = 4")
        store.commit()
    return tmp_path


def test_at_home__files_of_both__found_and_read_once(tmp_path: Path, sender: Sender) -> None:
    home = home_of(tmp_path)
    for _ in range(2):
        found = stores.at_home({"HOME": str(home)})
        assert sorted(f.store.name for f in found) == ["Codex", "Copilot", "Copilot"]
        assert {(f.path, f.store.feed.name) for f in stores.named([home])} == {
            (f.path, f.store.feed.name) for f in found
        }
        told = [p for f in found for p in f.store.read(path=f.path, feed=f.store.feed, sender=sender, now=NOW)]
        assert not [r for p in told for r in p.refused]
        fold_everything()
        calls = Session.objects.order_by("host", "-calls").values_list("host", "host_session_id", "calls")
        assert list(calls) == [
            ("codex", codex.STORY_ID, 4),
            ("copilot", copilot.STORY_ID, 4),
            ("copilot", "other", 1),
        ]


@pytest.mark.parametrize("where", [{"CODEX_HOME": "c"}, {"COPILOT_HOME": "c"}])
def test_at_home__moved_by_the_environment__found_there(where: dict[str, str], tmp_path: Path) -> None:
    (variable,) = where
    folder = {"CODEX_HOME": "sessions", "COPILOT_HOME": "session-state/id"}[variable]
    name = "events.jsonl" if variable == "COPILOT_HOME" else "rollout-1.jsonl"
    path = tmp_path / "c" / folder / name
    path.parent.mkdir(parents=True)
    path.touch()
    assert [f.path for f in stores.at_home({"HOME": "/nowhere", variable: str(tmp_path / "c")})] == [path]


def test_read_file__rollout_grown_and_larger_than_a_piece__every_piece_knows_its_session(
    tmp_path: Path, sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "PIECE", 4_000)
    lines = codex.rollout().body.splitlines(keepends=True)
    path = tmp_path / f"rollout-{codex.STORY_ID}.jsonl"
    path.write_bytes(b"".join(lines[:20]))
    assert not [r for p in read(path, sender) for r in p.refused]
    path.write_bytes(b"".join(lines))
    assert not [r for p in read(path, sender) for r in p.refused]
    assert list(Session.objects.values_list("host_session_id", "calls")) == [(codex.STORY_ID, 4)]


def test_read_file__first_line_lost__the_place_says_whose_it_is(tmp_path: Path, sender: Sender) -> None:
    path = tmp_path / f"rollout-2026-11-30T22-20-03-{codex.STORY_ID}.jsonl"
    path.write_bytes(b"".join(codex.rollout().body.splitlines(keepends=True)[1:]))
    assert not [r for p in read(path, sender) for r in p.refused]
    assert list(Session.objects.values_list("host_session_id", "calls")) == [(codex.STORY_ID, 4)]


def test_read_file__no_store_at_all__said_and_nothing_raised(tmp_path: Path, sender: Sender) -> None:
    path = tmp_path / "session-store.db"
    path.write_bytes(b"no database" * 100)
    (found,) = stores.named([path])
    told = found.store.read(path=path, feed=found.store.feed, sender=sender, now=NOW)
    assert [r.code for p in told for r in p.refused] == ["cannot_open"]
