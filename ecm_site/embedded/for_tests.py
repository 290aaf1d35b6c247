"""The PostgreSQL of the tests: one per checkout, kept running between runs, nothing worth keeping in it."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
from psycopg import sql

from ecm_site.embedded import postgres
from ecm_site.embedded.leftovers import is_alive
from ecm_site.embedded.postgres import Cluster

ROOT = Path(__file__).resolve().parent.parent.parent
PREFIX = "test_ecm_"
OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
#: Speed instead of safety: a crash costs a test run and nothing else.
SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "200"}


def cluster() -> Cluster:
    """The test cluster of this checkout. Raises Unavailable."""
    return postgres.prepare(ROOT / "var" / "test-pg", ROOT / "var" / "log" / "test-pg.log", SETTINGS)


def database_name() -> str:
    """One database per process, so that runs do not meet; its number tells whether its run is over."""
    return f"{PREFIX}{os.getpid()}"


@contextlib.contextmanager
def _alone(found: Cluster) -> Iterator[None]:
    with (found.data.parent / "test-pg.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def ensure_running() -> Cluster:
    """Start the server unless it answers already, and drop what killed runs have left."""
    found = cluster()
    with _alone(found):
        if not postgres.answers(found):
            if (pid := postgres.leftover(found)) is not None:
                postgres.stop(pid, 5.0)
            postgres.initialise(found)
            postgres.configure(found)
            found.log.unlink(missing_ok=True)
            process = postgres.start(found)
            postgres.wait_until_ready(found, process)
            # It outlives this run; without a word Popen would complain about that when it is collected.
            process.returncode = 0
        _drop_orphans(found)
    return found


def _drop_orphans(found: Cluster) -> None:
    with psycopg.connect(found.url("postgres"), autocommit=True) as connection:
        rows = connection.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", (PREFIX + "%",)).fetchall()
        for (name,) in rows:
            pid = name.removeprefix(PREFIX).partition("_")[0]
            if pid.isdigit() and not is_alive(int(pid)):
                connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def stop_if_idle() -> bool:
    """Stop the server unless a run of somebody else uses it."""
    found = cluster()
    with _alone(found):
        if not postgres.answers(found):
            return False
        with psycopg.connect(found.url("postgres")) as connection:
            row = connection.execute(OTHERS).fetchone()
        pid = postgres.leftover(found)
        if row is None or row[0] or pid is None:
            return False
        postgres.stop(pid, 10.0)
        return True
