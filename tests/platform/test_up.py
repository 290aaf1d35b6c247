"""`make up` as a whole: start, kill, start again, stop; nothing may be left."""

import os
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from ecm_site.embedded import places, postgres
from ecm_site.embedded.options import ROOT
from tests.support.servers import free_port

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not postgres.installs(), reason="no PostgreSQL programs for this platform"),
]


@dataclass
class Machine:
    """One data folder and port, and the makes that were started on them."""

    data: Path
    port: int
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def up(self, **extra: str) -> subprocess.Popen[str]:
        env = {n: v for n, v in os.environ.items() if not n.startswith(("ECM_", "DATABASE_URL", "REDIS_URL", "MAKE"))}
        env |= {"ECM_DATA": str(self.data), "ECM_PORT": str(self.port), "HOME": str(self.data / "home")} | extra
        out = (self.data / f"out-{len(self.started)}").open("w")
        made = subprocess.Popen(
            ["make", "up"], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, text=True
        )
        out.close()
        self.started.append(made)
        return made

    def said(self, number: int = -1) -> str:
        """What a make has printed so far."""
        return (self.data / f"out-{range(len(self.started))[number]}").read_text()

    def wait_until_ready(self) -> str:
        """The output once the link is there, after /readyz has said 200."""
        until = time.monotonic() + 120
        while "Ctrl-C stops everything" not in self.said():
            assert time.monotonic() < until, self.said()
            assert self.started[-1].poll() is None, self.said()
            time.sleep(0.1)
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5) as answer:
            assert answer.status == 200
        return self.said()

    def processes(self) -> list[psutil.Process]:
        """Everything that runs for this data folder, known by its environment or its arguments."""
        found = []
        mark = str(self.data)
        sockets = {f"ecm-{places.short_name(self.data / 'pg')}", f"ecm-{places.short_name(self.data)}"}
        for process in psutil.process_iter():
            try:
                words = " ".join(process.cmdline())
                if process.environ().get("ECM_DATA") == mark or any(w in words for w in (mark, *sockets)):
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def supervisor(self) -> psutil.Process:
        """The process below make."""
        return next(p for p in self.processes() if p.cmdline()[-1:] == ["up"] and "ecm_site.embedded" in p.cmdline())


@pytest.fixture
def machine(open_folder: Path) -> Iterator[Machine]:
    found = Machine(open_folder, free_port())
    (open_folder / "home").mkdir()
    yield found
    for process in found.processes():
        process.kill()
    for made in found.started:
        made.kill()
        made.wait(10)
    for name in (f"{places.short_name(open_folder / 'pg')}-pg", f"{places.short_name(open_folder)}-redis"):
        shutil.rmtree(places.SOCKET_ROOT / f"ecm-{name}", ignore_errors=True)


def test_up__killed_started_again_and_stopped__keeps_its_secrets_and_leaves_nothing(machine: Machine) -> None:
    machine.up(ECM_DEMO="0", ECM_ADMIN_PASSWORD="a long password", ECM_INGEST_KEY="ecmi_given-by-the-caller")
    said = machine.wait_until_ready()
    assert f"http://127.0.0.1:{machine.port}/enter/" in said
    kept = machine.data / "first-run.txt"
    assert kept.stat().st_mode & 0o777 == 0o600
    first = kept.read_text()
    assert "ECM_ADMIN_PASSWORD=a long password" in first
    assert "ECM_INGEST_KEY=ecmi_given-by-the-caller" in first
    assert "a long password" not in said
    for process in machine.processes():
        if process.name().startswith("python") and process.pid != machine.supervisor().pid:
            assert "ECM_ADMIN_PASSWORD" not in process.environ()

    machine.up()
    assert machine.started[-1].wait(30) != 0
    assert f"already runs here: pid {machine.supervisor().pid}" in machine.said()

    supervisor = machine.supervisor()
    supervisor.kill()
    machine.started[0].wait(10)
    assert machine.processes(), "children outlive a SIGKILL; that is what the next start has to cope with"

    made = machine.up(ECM_DEMO="0")
    said = machine.wait_until_ready()
    assert "Stopped what an earlier, killed make up had left" in said
    assert kept.read_text() == first

    made.send_signal(signal.SIGTERM)
    made.wait(60)
    until = time.monotonic() + 30
    while machine.processes():
        assert time.monotonic() < until, machine.processes()
        time.sleep(0.1)
    assert "Stopped." in machine.said()
    assert not (machine.data / "running.env").exists()


def test_up__port_is_taken__says_by_whom(machine: Machine) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", machine.port))
        taken.listen()
        made = machine.up()
        assert made.wait(60) != 0
    said = machine.said()
    assert f"Port {machine.port} is used by " in said
    assert f"(pid {os.getpid()})" in said
    assert "Try: make up ECM_PORT=" in said
    assert not (machine.data / "pg").exists()


def test_up__no_redis_and_make_killed__folders_carry_tasks_and_supervisor_follows(
    machine: Machine, open_folder: Path
) -> None:
    tools = open_folder / "tools"
    tools.mkdir()
    for name in ("make", "sh", "dirname", "date", "env"):
        found = shutil.which(name)
        assert found is not None
        (tools / name).symlink_to(found)
    made = machine.up(ECM_DEMO="1", PATH=str(tools))
    said = machine.wait_until_ready()
    assert "none found; tasks go through" in said
    assert "make demo-drop" in said
    made.kill()
    until = time.monotonic() + 60
    while machine.processes():
        assert time.monotonic() < until, machine.processes()
        time.sleep(0.1)
