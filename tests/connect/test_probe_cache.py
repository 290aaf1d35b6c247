"""`ecm probe cache` against addresses that read, write again, drop the mark, or refuse."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.connect.client import Home

SIZE = 22_585


@contextmanager
def address(kind: str) -> Iterator[str]:
    """A server whose cache works ("reads"), never matches ("writes") or is never asked ("drops")."""
    held: set[str] = set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            prefix = body["system"][0]["text"]
            read = kind == "reads" and prefix in held
            held.add(prefix)
            usage = {
                "input_tokens": 10 if kind != "drops" else SIZE + 10,
                "cache_read_input_tokens": SIZE if read else 0,
                "cache_creation_input_tokens": 0 if read or kind == "drops" else SIZE,
            }
            answer = json.dumps({"usage": usage}).encode()
            self.send_response(200 if kind != "refuses" else 401)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_args: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("kind", "code", "words"),
    [
        ("reads", 0, "read  22,585"),
        ("writes", 1, "it was written again"),
        ("drops", 1, "drops cache_control"),
        ("refuses", 2, "answered 401"),
    ],
)
def test_probe_cache__an_address__is_what_its_usage_says(kind: str, code: int, words: str, tmp_path: Path) -> None:
    with address(kind) as url:
        arguments = ("probe", "cache", "--base-url", url, "--model", "m", "--price", "3", "--yes")
        done = Home(tmp_path).run(*arguments, ANTHROPIC_API_KEY="k")
    assert (done.returncode, words in done.stdout) == (code, True), done.stdout
    assert "at most $0.06 at $3/M" in done.stdout.splitlines()[0]


def test_probe_cache__not_agreed_or_without_key__sends_nothing(tmp_path: Path) -> None:
    with address("reads") as url:
        arguments = ("probe", "cache", "--base-url", url, "--model", "m")
        asked = Home(tmp_path).run(*arguments, given="n\n", ANTHROPIC_API_KEY="k")
        keyless = Home(tmp_path).run(*arguments)
    assert (asked.returncode, "first" in asked.stdout) == (2, False)
    assert (keyless.returncode, "ANTHROPIC_API_KEY" in keyless.stdout) == (2, True)
