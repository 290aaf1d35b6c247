"""What the caller of `make up` may choose, all by environment variables."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ecm_site.embedded.places import Unavailable
from ecm_site.env import Env

ROOT = Path(__file__).resolve().parent.parent.parent
#: Meant for `first_run` alone; the web process has no use for them.
SECRETS = ("ECM_ADMIN_PASSWORD", "ECM_INGEST_KEY", "ECM_ADMIN_KEY")
#: Of the make that called us: a child that runs make itself must not inherit it.
MAKES = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKE_TERMOUT", "MAKE_TERMERR")


@dataclass(frozen=True, slots=True)
class Options:
    """Choices of one start. `demo` is None when the caller leaves it to us."""

    data: Path
    host: str
    port: int
    demo: bool | None
    database_url: str
    redis_url: str
    environ: Mapping[str, str]

    @property
    def url(self) -> str:
        """Where people on this machine reach the server."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{'127.0.0.1' if host in {'0.0.0.0', '[::]'} else host}:{self.port}"  # noqa: S104 - compared, not bound

    @property
    def logs(self) -> Path:
        """Folder of the logs."""
        return self.data / "log"

    def shown(self, path: Path) -> str:
        """A path as the reader knows it: relative to the checkout where it lies below it."""
        return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)

    def child_env(self, addresses: Mapping[str, str]) -> dict[str, str]:
        """The environment of web, worker, beat and commands."""
        kept = {name: value for name, value in self.environ.items() if name not in SECRETS + MAKES}
        return kept | {"PYTHONUNBUFFERED": "1", "DJANGO_SETTINGS_MODULE": "ecm_site.settings"} | dict(addresses)


def read(environ: Mapping[str, str]) -> Options:
    """The choices in this environment. Raises Unavailable for one that cannot be used."""
    port = environ.get("ECM_PORT", "").strip() or "8717"
    if not (port.isascii() and port.isdigit() and 1 <= int(port) <= 65_535):
        raise Unavailable("ECM_PORT must be a number from 1 to 65535.")
    demo = environ.get("ECM_DEMO", "").strip()
    if demo not in {"", "0", "1"}:
        raise Unavailable("ECM_DEMO must be 0 or 1.")
    given = Env(environ)
    return Options(
        data=Path(environ.get("ECM_DATA", "").strip() or ROOT / "var").expanduser().resolve(),
        host=environ.get("ECM_HOST", "").strip() or "127.0.0.1",
        port=int(port),
        demo=None if not demo else demo == "1",
        database_url=given.secret("DATABASE_URL"),
        redis_url=given.secret("REDIS_URL"),
        environ=dict(environ),
    )


def python(*arguments: str) -> tuple[str, ...]:
    """A command run by this interpreter."""
    return (sys.executable, *arguments)


def started_at(now: float) -> float:
    """When the caller typed the command, in seconds since the epoch; the Makefile notes it before the bootstrap."""
    noted = os.environ.get("ECM_STARTED", "")
    return float(noted) if noted.isdigit() else now
