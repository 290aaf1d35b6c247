"""The same reading behind the real server: chunked bodies, and bombs that must not fill memory."""

import contextlib
import gzip
import hashlib
import json
import os
import socket
import subprocess
import sys
import time
import zlib
from collections.abc import Iterable, Iterator
from http.client import HTTPConnection

import psutil
import pytest

from ecm_site.embedded.options import ROOT
from tests.support.body_app import LIMIT


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[int, psutil.Process]]:
    """(port, process) of a granian that serves `body_app`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--port", str(port), "--no-ws"]
    command += ["--blocking-threads", "2", "--log-level", "warning", "tests.support.body_app:application"]
    process = subprocess.Popen(command, cwd=ROOT, env=dict(os.environ))
    try:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            with socket.socket() as wire:
                if wire.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield port, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(10)


def post(port: int, pieces: Iterable[bytes], *, is_chunked: bool, encoding: str = "") -> tuple[int, dict[str, object]]:
    """Send a body and return status and answer; the server may answer before it has read all."""
    wire = HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Content-Encoding": encoding} if encoding else {}
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        wire.request(
            "POST", "/", body=pieces if is_chunked else b"".join(pieces), headers=headers, encode_chunked=is_chunked
        )
    answer = wire.getresponse()
    told = json.loads(answer.read())
    wire.close()
    return answer.status, told


def test_chunked__many_pieces__whole_body(server: tuple[int, psutil.Process]) -> None:
    pieces = [bytes([n % 256]) * (n % 977 + 1) for n in range(1_000)]
    status, told = post(server[0], iter(pieces), is_chunked=True)
    assert (status, told["sha256"]) == (200, hashlib.sha256(b"".join(pieces)).hexdigest())


def test_chunked_gzip__as_hosts_send_otlp__inflated(server: tuple[int, psutil.Process]) -> None:
    body = json.dumps([{"n": n} for n in range(5_000)]).encode()
    packed = gzip.compress(body)
    pieces = (packed[at : at + 300] for at in range(0, len(packed), 300))
    status, told = post(server[0], pieces, is_chunked=True, encoding="gzip")
    assert (status, told["size"], told["sha256"]) == (200, len(body), hashlib.sha256(body).hexdigest())


def test_announced__within_the_limit__whole_body(server: tuple[int, psutil.Process]) -> None:
    assert post(server[0], [b"x" * LIMIT], is_chunked=False)[1]["size"] == LIMIT


def test_chunked__beyond_the_limit__413(server: tuple[int, psutil.Process]) -> None:
    status, told = post(server[0], (b"x" * 50_000 for _ in range(100)), is_chunked=True)
    assert (status, told) == (413, {"code": "body_too_large"})


def test_bomb__hundreds_of_megabytes_in_one__refused_with_bounded_memory(server: tuple[int, psutil.Process]) -> None:
    port, process = server
    packer = zlib.compressobj(9, wbits=31)
    block = bytes(1_000_000)
    bomb = b"".join(packer.compress(block) for _ in range(300)) + packer.flush()
    assert len(bomb) < LIMIT
    family = [process, *process.children(recursive=True)]
    before = sum(p.memory_info().rss for p in family)
    status, told = post(port, [bomb], is_chunked=False, encoding="gzip")
    assert (status, told) == (413, {"code": "inflated_too_large"})
    assert sum(p.memory_info().rss for p in family) - before < 40_000_000
