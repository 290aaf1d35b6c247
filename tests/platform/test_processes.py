"""Children of `make up`: restarts, order of stopping, and what a killed predecessor leaves."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ecm_site.embedded import leftovers, processes
from ecm_site.embedded.leftovers import Trace, created_at, is_alive
from ecm_site.embedded.processes import Program, Supervisor

SLEEP = "import time; time.sleep(60)"


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def supervisor(tmp_path: Path, said: list[str]) -> Iterator[Supervisor]:
    found = Supervisor(tmp_path / "log", tmp_path / "children.json", said.append)
    yield found
    found.stop_all()


def program(name: str, code: str, patience: float = 5.0) -> Program:
    return Program(name, (sys.executable, "-c", code), dict(os.environ), Path("/"), patience_seconds=patience)


def watched(supervisor: Supervisor, condition: Callable[[], bool]) -> Callable[[], bool]:
    """A condition that looks at the children first."""

    def look() -> bool:
        supervisor.watch()
        return condition()

    return look


def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def test_watch__child_dies__said_and_started_again_later(
    supervisor: Supervisor, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "FIRST_PAUSE_SECONDS", 0.2)
    child = supervisor.start(program("web", SLEEP))
    child.pause_seconds = 0.2
    first = child.process.pid
    child.process.kill()
    child.process.wait(5)
    supervisor.watch()
    assert said[0].startswith("  web was killed by signal 9; starting it again")
    assert child.process.pid == first
    until(watched(supervisor, lambda: child.process.pid != first))
    assert child.process.poll() is None
    assert [trace.pid for trace in leftovers.read(supervisor.record)] == [child.process.pid]


def test_watch__child_dies_again_and_again__pause_grows(supervisor: Supervisor, said: list[str]) -> None:
    child = supervisor.start(program("web", "raise SystemExit(3)"))
    child.pause_seconds = 0.01
    until(watched(supervisor, lambda: len(said) >= 3))
    assert "ended with status 3" in said[0]
    assert child.pause_seconds == pytest.approx(0.08)


def test_stop_all__stubborn_child_with_children__nothing_is_left(supervisor: Supervisor, tmp_path: Path) -> None:
    code = (
        "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        f"p = subprocess.Popen([sys.executable, '-c', {SLEEP!r}]);"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(p.pid)); time.sleep(60)"
    )
    child = supervisor.start(program("worker", code, patience=0.3))
    until(lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text()))
    grandchild = int((tmp_path / "pid").read_text())
    supervisor.stop_all()
    assert child.process.returncode == -signal.SIGKILL
    until(lambda: not is_alive(grandchild))
    assert not supervisor.record.exists()


def test_end__recorded_process_still_runs__stopped() -> None:
    process = subprocess.Popen([sys.executable, "-c", SLEEP], start_new_session=True)
    trace = Trace("web", process.pid, created_at(process.pid), signal.SIGTERM)
    assert leftovers.end([trace]) == ["web"]
    assert process.wait(5) == -signal.SIGTERM


def test_read__number_given_to_another_process__left_alone(tmp_path: Path) -> None:
    leftovers.write(tmp_path / "c.json", [Trace("web", os.getpid(), created_at(os.getpid()) - 100, signal.SIGTERM)])
    assert leftovers.read(tmp_path / "c.json") == []


def test_read__file_is_broken__nothing(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text('[{"name": ')
    assert leftovers.read(tmp_path / "c.json") == []


def test_shorten__too_long__emptied_in_place_and_kept_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "LARGEST_LOG", 10)
    log = tmp_path / "web.log"
    with log.open("a") as writer:
        writer.write("x" * 20)
        writer.flush()
        processes.shorten(log)
        writer.write("new")
    assert (log.read_text(), (tmp_path / "web.log.1").read_text()) == ("new", "x" * 20)


def test_start__program_that_steps_back__runs_when_nobody_else_wants_to(supervisor: Supervisor) -> None:
    child = supervisor.start(replace(program("worker", SLEEP), is_behind=True))
    assert os.getpriority(os.PRIO_PROCESS, child.process.pid) == 19
    group = Path(f"/proc/{child.process.pid}/autogroup")
    assert not group.exists() or group.read_text().endswith("nice 19\n")
