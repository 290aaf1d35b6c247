"""A server at the border that plays its part of the loop: answers to bundles, and pins and policy with their tags."""

import hashlib
import json
import socket
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.connect.client import Home, server
from tests.connect.test_hook import payload, wait_until

RULE = "Never write to the production database.\n  Ask first."
STEP = "Plan step 3 of 7: move the queue to the new broker, then delete the old worker."
TEXTS = {"no_production": RULE, "plan_step": STEP, "budget": "Ceiling 40 dollars, 12 spent."}


def sha(text: str) -> str:
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()


def pins(texts: dict[str, str] = TEXTS, digest: str = "d1", **more: Any) -> dict[str, Any]:
    """An answer of `GET /api/v1/pins/live`."""
    found = [{"id": name, "tier": "T0", "text": text, "sha256": sha(text)} for name, text in texts.items()]
    restore = "\n".join(f"[{name}] {text}" for name, text in texts.items())
    before = f"These pins come back by themselves: {', '.join(texts)}."
    texts_of = {"restore_text": restore, "before_text": before, "limit_chars": 10_000}
    return {"digest": digest, "pin_set": {"slug": "default", "number": 1}, "pins": found, **texts_of, **more}


@dataclass(slots=True)
class Server:
    """What it was asked, and what it answers; None: 404."""

    url: str = ""
    answer: str = ""
    keep: dict[str, Any] = field(default_factory=dict)
    live: dict[str, Any] = field(default_factory=dict)
    pins: dict[str, Any] | None = None
    policy: dict[str, Any] | None = None
    #: Of sessions that have pins of their own.
    session_pins: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: Instead of a good answer to a bundle.
    misbehaves: Callable[[socket.socket], None] | bytes | None = None
    bodies: list[bytes] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str], str]] = field(default_factory=list)

    @property
    def bundles(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.bodies]

    def keeps(self, policy: str | None, pins: str | None) -> None:
        """What bundles say is ready."""
        self.keep = {"policy": policy and {"slug": "default", "number": 1, "digest": policy}}
        self.keep["pins"] = pins and {"digest": pins}

    def talk(self, connection: socket.socket) -> None:
        """One request and its answer."""
        with connection:
            head, body = request_on(connection)
            method, target, _ = head.split("\r\n")[0].split(" ")
            place = urllib.parse.urlsplit(target)
            if method == "POST":
                self.bodies.append(body)
                if self.misbehaves is not None:
                    misbehave(connection, self.misbehaves)
                    return
                told = {"receipts": {}, "answer": self.answer, "live": self.live, "keep": self.keep}
                connection.sendall(answer(200, json.dumps(told).encode()))
                return
            known = [line.split(": ")[1] for line in head.split("\r\n") if line.startswith("If-None-Match")]
            query = dict(urllib.parse.parse_qsl(place.query))
            self.asked.append((place.path, query, known[0] if known else ""))
            found = self.policy
            if place.path.endswith("pins/live"):
                found = self.session_pins.get(query.get("session", "")) or self.pins
            tag = f'"{(found or {}).get("digest")}"'
            if found is None:
                connection.sendall(answer(404, b"{}"))
            elif tag in known:
                connection.sendall(answer(304, b"", tag))
            else:
                connection.sendall(answer(200, json.dumps(found).encode(), tag))


def misbehave(connection: socket.socket, how: Callable[[socket.socket], None] | bytes) -> None:
    if callable(how):
        how(connection)
    else:
        connection.sendall(how)


def request_on(connection: socket.socket) -> tuple[str, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    wanted = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    while len(body) < wanted:
        body += connection.recv(65536)
    return head.decode(), body


def answer(status: int, body: bytes, tag: str = "") -> bytes:
    etag = f"ETag: {tag}\r\n" if tag else ""
    return f"HTTP/1.1 {status} X\r\n{etag}Content-Length: {len(body)}\r\n\r\n".encode() + body


@contextmanager
def loop_server() -> Iterator[Server]:
    """It runs on a free port of this machine."""
    played = Server()
    with server(played.talk) as border:
        played.url = border.url
        yield played


def hook(home: Home, event: str, **more: Any) -> str:
    """Run one hook; what it printed."""
    outcome = home.run("hook", "claude-code", given=payload(home, event, **more))
    assert (outcome.returncode, outcome.stderr) == (0, "")
    return outcome.stdout


def kept(home: Home) -> list[dict[str, Any]]:
    """Copies on the machine."""
    return [json.loads(path.read_text()) for path in sorted((home.folder / ".ecm" / "kept").glob("*.json"))]


def has_kept(home: Home, found: dict[str, Any] | None = None) -> None:
    """Have these pins as the kept copy of project acme, by a server that then goes away."""
    with loop_server() as ecm:
        bring(home, ecm, found)


def bring(home: Home, ecm: Server, found: dict[str, Any] | None = None) -> None:
    """Let a hook hear of pins, and wait until they are here."""
    home.configure(ecm.url)
    ecm.pins = found or pins()
    ecm.keeps(None, ecm.pins["digest"])
    hook(home, "UserPromptSubmit")
    wait_until(lambda: kept(home))
    settled(home)


def settled(home: Home) -> None:
    """Wait until no process in the background is at work."""
    import fcntl

    lock = Path(home.folder / ".ecm" / "state" / "deliver.lock")

    def is_free() -> bool:
        if not lock.exists():
            return False
        with lock.open("w") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return False
        return True

    wait_until(is_free)
    time.sleep(0.05)
