"""The private PostgreSQL: start, kill, recover, stop. Paths contain spaces on purpose."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from ecm_site.embedded import places, postgres
from ecm_site.embedded.leftovers import is_alive
from ecm_site.embedded.postgres import Cluster

pytestmark = pytest.mark.skipif(not postgres.installs(), reason="no PostgreSQL programs for this platform")


@pytest.fixture
def cluster(open_folder: Path) -> Iterator[Cluster]:
    """An initialised cluster; whatever runs on it is stopped afterwards."""
    found = postgres.prepare(open_folder / "pg", open_folder / "pg.log", {"fsync": "off"})
    postgres.initialise(found)
    postgres.configure(found)
    yield found
    if (pid := postgres.leftover(found)) is not None:
        postgres.stop(pid, 5)
    shutil.rmtree(found.sockets, ignore_errors=True)


def run(cluster: Cluster) -> subprocess.Popen[bytes]:
    """A server that takes connections."""
    process = postgres.start(cluster)
    postgres.wait_until_ready(cluster, process, 60)
    return process


def wait_for(process: subprocess.Popen[bytes]) -> None:
    process.wait(20)


def test_start__fresh_cluster__socket_only_and_utf8(cluster: Cluster) -> None:
    process = run(cluster)
    postgres.ensure_database(cluster)
    postgres.ensure_database(cluster)
    with psycopg.connect(cluster.url()) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        assert connection.execute("SHOW server_encoding").fetchone() == ("UTF8",)
        assert connection.execute("SELECT lower('ÄÖ')").fetchone() == ("äö",)
    assert cluster.sockets.stat().st_mode & 0o077 == 0
    os.kill(process.pid, signal.SIGINT)
    wait_for(process)
    assert not is_alive(process.pid)


def test_start__after_sigkill__recovers_what_was_committed(cluster: Cluster) -> None:
    process = run(cluster)
    with psycopg.connect(cluster.url("postgres"), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS n")
    process.kill()
    wait_for(process)
    assert (cluster.data / "postmaster.pid").exists()
    assert postgres.leftover(cluster) is None
    # Its children notice the death and leave; a new server waits for none of them longer than this.
    until = time.monotonic() + 15
    while True:
        try:
            again = run(cluster)
            break
        except postgres.Failed:
            assert time.monotonic() < until
            time.sleep(0.3)
    with psycopg.connect(cluster.url("postgres")) as connection:
        assert connection.execute("SELECT n FROM kept").fetchone() == (42,)
    os.kill(again.pid, signal.SIGINT)
    wait_for(again)


def test_leftover__server_still_runs__found_and_stopped(cluster: Cluster) -> None:
    process = run(cluster)
    assert postgres.leftover(cluster) == process.pid
    os.kill(process.pid, 0)
    postgres.stop(process.pid, 20)
    wait_for(process)
    assert postgres.leftover(cluster) is None


def test_leftover__number_given_to_another_process__lock_file_is_removed(cluster: Cluster) -> None:
    lock = cluster.data / "postmaster.pid"
    lock.write_text(f"{os.getpid()}\n{cluster.data}\n")
    assert postgres.leftover(cluster) is None
    assert not lock.exists()


def test_initialise__interrupted_before__begins_anew(open_folder: Path) -> None:
    (open_folder / "pg.new").mkdir()
    (open_folder / "pg.new" / "PG_VERSION").write_text("18\n")
    found = postgres.prepare(open_folder / "pg", open_folder / "pg.log")
    postgres.initialise(found)
    assert (found.data / "global" / "pg_control").exists()
    assert not (open_folder / "pg.new").exists()


def test_prepare__data_of_another_version__says_so(open_folder: Path) -> None:
    (open_folder / "pg").mkdir()
    (open_folder / "pg" / "PG_VERSION").write_text("9\n")
    with pytest.raises(places.Unavailable, match=r"PostgreSQL 9.*DATABASE_URL"):
        postgres.prepare(open_folder / "pg", open_folder / "pg.log")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has folders that are closed to its helper")
def test_start__data_and_programs_closed_to_the_owner__copied_elsewhere_and_running(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "ELSEWHERE", open_folder / "elsewhere")
    package = postgres.installs()[0][1].parent
    closed = open_folder / "closed"
    closed.mkdir(mode=0o700)
    for folder in (package, package.with_name(package.name + ".libs")):
        shutil.copytree(folder, closed / folder.name, symlinks=True)
    monkeypatch.setattr(postgres, "installs", lambda: [(18, closed / package.name / "pginstall18")])
    cluster = postgres.prepare(closed / "var" / "pg", open_folder / "pg.log")
    assert cluster.data.is_relative_to(open_folder / "elsewhere")
    assert cluster.programs.is_relative_to(open_folder / "elsewhere")
    postgres.initialise(cluster)
    postgres.configure(cluster)
    process = run(cluster)
    postgres.stop(process.pid, 10)
    wait_for(process)
    shutil.rmtree(cluster.sockets)


def test_private_folder__somebody_elses_link__refused(open_folder: Path) -> None:
    (open_folder / "target").mkdir()
    (open_folder / "sockets").symlink_to(open_folder / "target")
    with pytest.raises(places.Unavailable, match="somebody else"):
        places.private_folder(open_folder / "sockets", None)
