"""What this server calls by itself: one POST to a checked address, and nothing else."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from sessions_app.services.outgoing import post_json


class Receiver(HTTPServer):
    """Keeps what it was sent; answers /moved with a redirect."""

    got: list[tuple[str, object]]


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, json.loads(body)))
        self.send_response(302 if self.path == "/moved" else 200)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Silent."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver(("127.0.0.1", 0), Handler)
    server.got = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_post__private_address_that_is_allowed__arrives_once(receiver: Receiver) -> None:
    url = f"http://127.0.0.1:{receiver.server_port}/hook?a=1"
    assert post_json(url, {"text": "hello"}, may_be_private=True).is_taken
    assert receiver.got == [("/hook?a=1", {"text": "hello"})]


def test_post__redirect__is_not_followed(receiver: Receiver) -> None:
    answer = post_json(f"http://127.0.0.1:{receiver.server_port}/moved", {}, may_be_private=True)
    assert not answer.is_taken
    assert [path for path, _ in receiver.got] == ["/moved"]


def test_post__private_address__is_not_called_unless_allowed(receiver: Receiver) -> None:
    for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]"):
        assert not post_json(f"http://{host}:{receiver.server_port}/", {}, may_be_private=False).is_taken
    assert receiver.got == []


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://[fe80::1]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://0.0.0.0/",
        "ftp://example.com/",
        "http://user:pw@example.com/",
        "http://a b/",
        "https://",
        "http://example.com:99999/",
    ],
)
def test_post__never_called__even_where_private_ones_are_allowed(url: str) -> None:
    assert not post_json(url, {}, may_be_private=True).is_taken
