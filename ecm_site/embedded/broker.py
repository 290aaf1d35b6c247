"""A private Redis for Celery and the cache, when this machine has one."""

import shutil
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from ecm_site.embedded import places

PROGRAMS = ("redis-server", "valkey-server")


@dataclass(frozen=True, slots=True)
class Redis:
    """A Redis or Valkey program with its folder and its socket; no TCP port is opened."""

    program: Path
    data: Path
    socket: Path

    @property
    def url(self) -> str:
        """For REDIS_URL."""
        return f"unix://{self.socket}?db=0"

    def command(self) -> tuple[str, ...]:
        """What runs it in the foreground. Nothing is kept on disk: the dirty mark is in the database."""
        options = {"port": "0", "unixsocket": str(self.socket), "unixsocketperm": "700", "dir": str(self.data)}
        options |= {"save": "", "appendonly": "no", "daemonize": "no", "loglevel": "warning", "databases": "2"}
        return (str(self.program), *(part for name, value in options.items() for part in (f"--{name}", value)))


def find(data: Path) -> Redis | None:
    """The Redis of this machine for this data folder, or None."""
    for name in PROGRAMS:
        if (program := shutil.which(name)) is not None:
            folder = places.make_folder(data / "redis", 0o700)
            return Redis(Path(program), folder, places.socket_folder(data, "redis", None) / "redis.sock")
    return None


def wait_until_ready(redis: Redis, seconds: float = 10.0) -> bool:
    """Whether it answers PING in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            with socket.socket(socket.AF_UNIX) as wire:
                wire.settimeout(1.0)
                wire.connect(str(redis.socket))
                wire.sendall(b"PING\r\n")
                if wire.recv(16).startswith(b"+PONG"):
                    return True
        except OSError:
            pass
        time.sleep(0.05)
    return False


def make_folders(data: Path) -> None:
    """The folders of the transport that is used without a Redis; kombu wants all of them to exist."""
    for name in ("queue", "processed", "control"):
        places.make_folder(data / "broker" / name, 0o700)
