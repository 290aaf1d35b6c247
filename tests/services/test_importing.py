"""Import of files: restartable, in pieces, an unfinished line left for later, one too long skipped."""

import json
from pathlib import Path

import pytest

from sessions_app.feeds.claude_transcript import FEED
from sessions_app.models import ImportedFile, Organisation, Session, Team
from sessions_app.services import importing, stores
from sessions_app.services.importing import Progress
from sessions_app.services.ingest import Sender
from tests.support.deliveries import NOW, fold_everything


@pytest.fixture
def sender(db: None) -> Sender:
    organisation = Organisation.objects.create(name="Acme", slug="acme", created_at=NOW)
    return Sender(Team.objects.create(organisation=organisation, slug="a", name="A", created_at=NOW).pk)


def line(number: int, padding: int = 0) -> bytes:
    usage = {"input_tokens": number, "output_tokens": 1}
    message = {"id": f"m{number}", "model": "claude-sonnet-4-5", "usage": usage, "content": "x" * padding}
    record = {"type": "assistant", "sessionId": "s", "uuid": f"u{number}", "message": message}
    return json.dumps({**record, "timestamp": f"2026-11-30T10:00:{number:02d}Z"}).encode() + b"\n"


def read(path: Path, sender: Sender) -> list[Progress]:
    found = list(importing.read_file(path=path, feed=FEED, sender=sender, now=NOW))
    fold_everything()
    return found


def test_read_file__again__nothing_new_is_read(tmp_path: Path, sender: Sender) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(line(1) + line(2))
    assert sum(p.accepted for p in read(path, sender)) == 2
    assert read(path, sender) == []


def test_read_file__grown_since__only_the_new_lines(tmp_path: Path, sender: Sender) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(line(1))
    read(path, sender)
    with path.open("ab") as handle:
        handle.write(line(2))
    assert [p.read_bytes for p in read(path, sender)] == [len(line(2))]
    assert Session.objects.get().calls == 2


def test_read_file__unfinished_last_line__read_when_it_is_whole(tmp_path: Path, sender: Sender) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(line(1) + line(2)[:40])
    (progress,) = read(path, sender)
    assert (progress.unfinished, progress.refused, Session.objects.get().calls) == (True, [], 1)
    path.write_bytes(line(1) + line(2))
    read(path, sender)
    assert Session.objects.get().calls == 2


def test_read_file__another_file_under_the_same_path__read_from_its_start(tmp_path: Path, sender: Sender) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(line(1) + line(2))
    read(path, sender)
    path.write_bytes(line(3))
    read(path, sender)
    assert Session.objects.get().uncached_input == 6


def test_read_file__larger_than_a_piece__read_in_pieces(
    tmp_path: Path, sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "PIECE", 1_000)
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(line(n) for n in range(1, 21)))
    assert len(read(path, sender)) > 3
    assert Session.objects.get().calls == 20


def test_read_file__a_line_larger_than_a_piece__refused_and_the_rest_is_read(
    tmp_path: Path, sender: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "PIECE", 1_000)
    path = tmp_path / "s.jsonl"
    path.write_bytes(line(1) + line(2, padding=5_000) + line(3))
    refused = [(r.position, r.code) for p in read(path, sender) for r in p.refused]
    assert refused == [(2, "line_too_large")]
    assert Session.objects.get().uncached_input == 4


def test_read_file__file_gone_later__what_was_read_stays(tmp_path: Path, sender: Sender) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(line(1))
    read(path, sender)
    path.unlink()
    assert stores.named([tmp_path]) == []
    assert Session.objects.get().calls == 1


def test_read_file__stored_mark__holds_no_path(tmp_path: Path, sender: Sender) -> None:
    path = tmp_path / "secret-name.jsonl"
    path.write_bytes(line(1))
    read(path, sender)
    mark = ImportedFile.objects.get()
    assert "secret" not in f"{mark.path_digest} {mark.head_digest}"
