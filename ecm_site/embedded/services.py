"""The parts of `make up` in their order: database, broker, schema, installation, web, worker, beat."""

import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ecm_site.embedded import broker, places, postgres
from ecm_site.embedded.options import ROOT, Options, python
from ecm_site.embedded.places import Unavailable
from ecm_site.embedded.processes import Child, Program, Supervisor

CELERY = ("-m", "celery", "--app", "ecm_site.celery", "--quiet")
READY_SECONDS = 90.0


@dataclass(slots=True)
class Services:
    """Starts the parts and knows their addresses."""

    options: Options
    supervisor: Supervisor
    addresses: dict[str, str] = field(default_factory=dict)

    @property
    def env(self) -> dict[str, str]:
        """The environment of a child that uses what has been started so far."""
        return self.options.child_env(self.addresses)

    def start_database(self) -> tuple[str, str]:
        """(name, what to say). Honours DATABASE_URL."""
        if self.options.database_url:
            self.addresses["DATABASE_URL"] = self.options.database_url
            return "PostgreSQL", f"yours, at {urlsplit(self.options.database_url).hostname or 'a local socket'}"
        wanted = self.options.data / "pg"
        cluster = postgres.prepare(wanted, self.options.logs / "postgres.log")
        if (pid := postgres.leftover(cluster)) is not None:
            postgres.stop(pid)
        postgres.initialise(cluster)
        postgres.configure(cluster)
        env = postgres.environment()
        # SIGINT is PostgreSQL's fast shutdown: sessions end, nothing is lost.
        child = self.supervisor.start(
            Program("postgres", cluster.command(), env, places.TOP, cluster.owner, signal.SIGINT, 60.0)
        )
        postgres.wait_until_ready(cluster, child.process)
        postgres.ensure_database(cluster)
        self.addresses["DATABASE_URL"] = cluster.url()
        place = f"private, in {self.options.shown(cluster.data)}, no port opened"
        if cluster.data != wanted and cluster.owner is not None:
            place += f" ({self.options.shown(wanted.parent)} is closed to {cluster.owner.name})"
        return f"PostgreSQL {cluster.major}", place

    def start_broker(self) -> tuple[str, str]:
        """(name, what to say). Honours REDIS_URL; folders where there is no Redis."""
        if self.options.redis_url:
            self.addresses["REDIS_URL"] = self.options.redis_url
            return "Redis", f"yours, at {urlsplit(self.options.redis_url).hostname or 'a local socket'}"
        redis = broker.find(self.options.data)
        if redis is not None:
            child = self.supervisor.start(Program("redis", redis.command(), self._bare_env(), redis.data))
            if broker.wait_until_ready(redis):
                self.addresses["REDIS_URL"] = redis.url
                return "Redis", f"found {redis.program}, private, in {self.options.shown(redis.data)}"
            self.supervisor.drop(child)
        broker.make_folders(self.options.data)
        reason = "did not start" if redis else "none found"
        return (
            "Redis",
            f"{reason}; tasks go through {self.options.shown(self.options.data / 'broker')}, a little slower",
        )

    def _bare_env(self) -> dict[str, str]:
        return {"PATH": os.environ.get("PATH", os.defpath)}

    def manage(self, *arguments: str) -> str:
        """Output of a management command. Raises Unavailable with the end of what it complained about."""
        command = python("manage.py", *arguments)
        done = subprocess.run(
            command, cwd=ROOT, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise Unavailable(f"manage.py {arguments[0]} failed:\n{done.stderr.strip()[-1_500:]}")
        return done.stdout

    def start_processes(self) -> Child:
        """Web, worker and beat; the web's child."""
        places.make_folder(self.options.data / "beat", 0o700)
        host, port = self.options.host, str(self.options.port)
        web: tuple[str, ...] = (
            "-m",
            "granian",
            "--interface",
            "wsgi",
            "--host",
            host,
            "--port",
            port,
            "--workers",
            "2",
        )
        web += ("--blocking-threads", "4", "--no-ws", "--log-level", "warning", "--respawn-failed-workers")
        worker: tuple[str, ...] = (
            *CELERY,
            "worker",
            "--concurrency",
            "2",
            "--loglevel",
            "WARNING",
            "--hostname",
            "ecm@localhost",
        )
        worker += ("--without-gossip", "--without-mingle", "--without-heartbeat")
        beat = (*CELERY, "beat", "--loglevel", "WARNING", "--pidfile=")
        child = self._start("web", (*web, "ecm_site.wsgi:application"))
        self._start("worker", worker, behind=True)
        self._start("beat", beat)
        return child

    def _start(self, name: str, arguments: tuple[str, ...], *, behind: bool = False) -> Child:
        # A host waits for the web process, nobody for a fold: on a busy machine the answer goes first.
        return self.supervisor.start(Program(name, python(*arguments), self.env, ROOT, is_behind=behind))

    def wait_until_ready(self, web: Child) -> None:
        """Return when /readyz says 200. Raises Unavailable with the end of the web's log."""
        until = time.monotonic() + READY_SECONDS
        while time.monotonic() < until and web.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.options.url}/readyz", timeout=5.0) as answer:  # noqa: S310 - our own
                    if answer.status == 200:
                        return
            except (OSError, urllib.error.URLError):
                time.sleep(0.1)
        raise Unavailable(f"The web process did not become ready:\n{postgres.tail(self.supervisor.log_of('web'))}")
