"""What lies on the machine, ports, secrets and the lock."""

import os
import socket
from datetime import datetime
from pathlib import Path

import pytest

from ecm_site.embedded import first_run, lock, options, ports, sightings
from ecm_site.embedded.places import Unavailable
from tests.support.servers import free_port


def transcript(path: Path, size: int, day: datetime) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    path.chmod(0o000)
    os.utime(path, (day.timestamp(), day.timestamp()))


def test_look__two_hosts__counted_without_opening(tmp_path: Path) -> None:
    projects = tmp_path / ".claude" / "projects" / "-a"
    transcript(projects / "one.jsonl", 1_000, datetime(2026, 11, 2, 12).astimezone())
    transcript(projects / "two.jsonl", 2_000, datetime(2026, 11, 30, 12).astimezone())
    transcript(projects / "two" / "subagents" / "agent-1.jsonl", 500, datetime(2026, 12, 1, 12).astimezone())
    transcript(projects / "notes.txt", 9_000, datetime(2026, 1, 1).astimezone())
    transcript(tmp_path / ".codex" / "sessions" / "2026" / "r.jsonl", 10, datetime(2026, 11, 11).astimezone())
    claude, codex = sightings.look(tmp_path, {})
    assert (claude.host, claude.sessions, claude.size) == ("Claude Code", 2, 3_500)
    assert (claude.first.isoformat(), claude.last.isoformat()) == ("2026-11-02", "2026-11-30")
    assert (codex.host, codex.sessions) == ("Codex CLI", 1)


def test_look__other_config_folder__followed(tmp_path: Path) -> None:
    transcript(tmp_path / "conf" / "projects" / "p" / "s.jsonl", 1, datetime(2026, 11, 2).astimezone())
    assert [s.sessions for s in sightings.look(tmp_path / "home", {"CLAUDE_CONFIG_DIR": str(tmp_path / "conf")})] == [1]


def test_look__nothing_there__nothing(tmp_path: Path) -> None:
    assert sightings.look(tmp_path, {}) == []


def test_holder__we_listen__our_name_and_number() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not ports.is_free("127.0.0.1", port)
        assert ports.holder(port).endswith(f"(pid {os.getpid()})")
        assert ports.is_free("127.0.0.1", ports.next_free("127.0.0.1", port))
    assert ports.is_free("127.0.0.1", free_port())


@pytest.mark.parametrize(("name", "value"), [("ECM_PORT", "0"), ("ECM_PORT", "x"), ("ECM_DEMO", "yes")])
def test_options__unusable__refused_by_name(name: str, value: str) -> None:
    with pytest.raises(Unavailable, match=name):
        options.read({name: value})


def test_options__children__get_no_secret_of_the_first_run() -> None:
    chosen = options.read({"ECM_ADMIN_KEY": "k", "ECM_ADMIN_PASSWORD": "p", "PATH": "/bin", "MAKEFLAGS": "w"})
    env = chosen.child_env({"REDIS_URL": "unix:///s"})
    assert not {"ECM_ADMIN_KEY", "ECM_ADMIN_PASSWORD", "MAKEFLAGS"} & set(env)
    assert (env["PATH"], env["REDIS_URL"]) == ("/bin", "unix:///s")


def test_secret_key_file__second_start__same_key_and_private(tmp_path: Path) -> None:
    path = first_run.secret_key_file(tmp_path)
    first = path.read_text()
    assert len(first) > 50
    assert path.stat().st_mode & 0o777 == 0o600
    assert first_run.secret_key_file(tmp_path).read_text() == first


def test_lock__held_by_another__said_who_and_free_after_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "NOTICE_SECONDS", 0.1)
    one, two = lock.UpLock(tmp_path / "l"), lock.UpLock(tmp_path / "l")
    assert not two.is_held()
    one.take("http://127.0.0.1:1")
    assert two.is_held()
    with pytest.raises(lock.AlreadyRuns, match=f"pid {os.getpid()}, http://127.0.0.1:1"):
        two.take("http://127.0.0.1:2")
    one.release()
    two.take("http://127.0.0.1:2")
    two.release()
