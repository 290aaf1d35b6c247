"""The client as the tests use it: as a program in a home of its own, and as a module."""

import importlib.machinery
import importlib.util
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

PATH = Path(__file__).parents[2] / "sessions_app" / "connect" / "ecm"


def module() -> ModuleType:
    """The client, imported under a name of its own."""
    loader = importlib.machinery.SourceFileLoader("ecm_client", str(PATH))
    spec = importlib.util.spec_from_loader("ecm_client", loader)
    assert spec is not None
    loaded = importlib.util.module_from_spec(spec)
    loader.exec_module(loaded)
    return loaded


@dataclass(slots=True)
class Home:
    """A fresh home with a client folder."""

    folder: Path
    #: Seconds a hook may take: ample where the server is good, so that a busy machine changes nothing.
    budget: str = "10"

    @property
    def settings(self) -> Path:
        return self.folder / ".claude" / "settings.json"

    def write_settings(self, text: str) -> None:
        self.settings.parent.mkdir(parents=True, exist_ok=True)
        self.settings.write_text(text)

    def configure(self, url: str) -> None:
        """As after `connect`."""
        target = self.folder / ".ecm"
        target.mkdir(exist_ok=True)
        (target / "config.json").write_text(json.dumps({"url": url, "key": "k", "machine": "m"}))

    def run(
        self,
        *arguments: str,
        given: str = "",
        python: str = sys.executable,
        folder: Path | str | None = None,
        **more: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run the client; `more` are further variables of its environment."""
        environ = {"HOME": str(self.folder), "PATH": "/usr/bin:/bin", "ECM_BUDGET_SECONDS": self.budget, **more}
        return subprocess.run(
            [python, str(PATH), *arguments],
            input=given,
            env=environ,
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            timeout=30,
        )


@dataclass(slots=True)
class Border:
    """What a server at the border of the test heard, and how it answers."""

    url: str = ""
    bodies: list[bytes] = field(default_factory=list)

    @property
    def bundles(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.bodies]


def ok(body: bytes) -> bytes:
    """A good answer with this body."""
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


GOOD = ok(b'{"receipts":{},"answer":"","live":{"x":1}}')


def body_on(connection: socket.socket) -> bytes:
    """The body of the request that comes on a connection."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    wanted = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    while len(body) < wanted:
        body += connection.recv(65536)
    return body


@contextmanager
def server(answer: Callable[[socket.socket], None] | bytes = GOOD) -> Iterator[Border]:
    """A server on a free port of this machine; bytes are sent as they are, a function gets the connection."""
    listener = socket.create_server(("127.0.0.1", 0))
    border = Border(f"http://127.0.0.1:{listener.getsockname()[1]}")
    stop = threading.Event()

    def serve() -> None:
        while not stop.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(connection,), daemon=True).start()

    def talk(connection: socket.socket) -> None:
        with connection:
            if callable(answer):
                answer(connection)
                return
            border.bodies.append(body_on(connection))
            connection.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield border
    finally:
        stop.set()
        # Closing alone would leave it open as long as the thread waits.
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def closed_port() -> str:
    """An address at which nobody listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{sock.getsockname()[1]}"


def timed(run: Callable[[], subprocess.CompletedProcess[str]]) -> tuple[subprocess.CompletedProcess[str], float]:
    """The outcome of a run and its seconds."""
    started = time.monotonic()
    outcome = run()
    return outcome, time.monotonic() - started


def pythons() -> list[str]:
    """Working interpreters of this machine, from 3.9 on."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    found = [sys.executable, *map(str, sorted(root.glob("versions/3.*/bin/python3")))]
    good: list[str] = []
    for candidate in found:
        check = [candidate, "-c", "import sys; sys.exit(sys.version_info < (3, 9))"]
        try:
            if subprocess.run(check, capture_output=True, timeout=20).returncode == 0:
                good.append(candidate)
        except OSError:
            continue
    return good
