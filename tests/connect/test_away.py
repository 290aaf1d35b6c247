"""A server that cannot be trusted or reached, and a disk that cannot be written: later everything arrives once."""

import json
import os
import resource
import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.connect.client import PATH, Border, Home, closed_port, server
from tests.connect.test_hook import payload, wait_until, write_lines


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def hook(home: Home, prompt: str = "", event: str = "Stop", **more: Any) -> None:
    """Run one hook, which always ends well and says nothing."""
    outcome = home.run("hook", "claude-code", given=payload(home, event, prompt_id=prompt, **more))
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "", "")


def told(border: Border) -> list[str]:
    return [entry["payload"]["prompt_id"] for bundle in border.bundles for entry in bundle["hooks"]]


def lines(border: Border) -> list[str]:
    return [line["uuid"] for bundle in border.bundles for line in bundle["lines"]]


def certificate(folder: Path) -> ssl.SSLContext:
    """A server's context with a certificate that nobody knows."""
    if not shutil.which("openssl"):
        pytest.skip("needs openssl to make a certificate")
    files = (str(folder / "cert.pem"), str(folder / "key.pem"))
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=127.0.0.1"]
    subprocess.run([*make, "-out", files[0], "-keyout", files[1]], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    return context


def test_hook__certificate_that_nobody_knows__nothing_is_told_until_it_is_right(home: Home, tmp_path: Path) -> None:
    write_lines(home, 2)
    context, heard = certificate(tmp_path), []

    def encrypted(connection: socket.socket) -> None:
        try:
            with context.wrap_socket(connection, server_side=True) as secure:
                heard.append(secure.recv(65536))
        except OSError:
            return

    with server(encrypted) as border:
        home.configure(border.url.replace("http:", "https:"))
        hook(home, "p1")
    assert [piece for piece in heard if piece] == []
    with server() as border:
        home.configure(border.url)
        hook(home, "p2")
        assert sorted(told(border)) == ["p1", "p2"]
        assert sorted(lines(border)) == ["u0", "u1"]


def test_hook__key_refused__kept_until_it_is_known(home: Home) -> None:
    write_lines(home, 1)
    with server(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}") as border:
        home.configure(border.url)
        hook(home, "p1")
    with server() as border:
        home.configure(border.url)
        hook(home, "p2")
        assert (told(border), lines(border)) == (["p1", "p2"], ["u0"])


def test_hook__session_that_ended_while_the_server_was_away__told_with_the_next(home: Home) -> None:
    projects = home.folder / ".claude" / "projects" / "acme"
    projects.mkdir(parents=True)
    write_lines(home, 3)
    (home.folder / "s.jsonl").rename(projects / "ended.jsonl")
    home.configure(closed_port())
    hook(home, "p1", "SessionEnd", transcript_path=str(projects / "ended.jsonl"))
    with server() as border:
        home.configure(border.url)
        hook(home, "p2", "SessionStart", session_id="next", transcript_path=str(projects / "next.jsonl"))
        wait_until(lambda: len(lines(border)) == 3)
        assert told(border) == ["p1", "p2"]


def limited(home: Home, bytes_per_file: int) -> Callable[[str], None]:
    """A hook that may write no file beyond this size, as on a full disk."""

    def run(given: str) -> None:
        environ = {"HOME": str(home.folder), "PATH": "/usr/bin:/bin", "ECM_BUDGET_SECONDS": home.budget}
        outcome = subprocess.run(
            [sys.executable, str(PATH), "hook", "claude-code"],
            input=given.encode(),
            env=environ,
            capture_output=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_per_file, bytes_per_file)),
        )
        assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, b"", b"")

    return run


def test_hook__full_disk__usage_is_caught_up_and_the_loss_is_counted(home: Home) -> None:
    write_lines(home, 3)
    home.configure(closed_port())
    on_full_disk = limited(home, 24)
    for number in range(3):
        on_full_disk(payload(home, prompt_id=f"lost{number}"))
    with server() as border:
        home.configure(border.url)
        hook(home, "p1")
        assert told(border) == ["p1"]
        assert border.bundles[0]["lost_hook_events"] == 3
        assert sorted(lines(border)) == ["u0", "u1", "u2"]
    assert list((home.folder / ".ecm" / "spool").iterdir()) == []


def test_hook__folder_that_cannot_be_written__loss_is_counted_beside_it(home: Home, tmp_path: Path) -> None:
    write_lines(home, 2)
    home.configure(closed_port())
    spare = tmp_path / "spare"
    spare.mkdir()
    blocked = [home.folder / ".ecm" / name for name in ("state", "spool")]
    for path in blocked:
        path.write_text("in the way")
    (home.folder / ".ecm" / "lost").mkdir()
    given = payload(home, prompt_id="lost")
    assert home.run("hook", "claude-code", given=given, TMPDIR=str(spare)).returncode == 0
    for path in blocked:
        path.unlink()
    with server() as border:
        home.configure(border.url)
        home.run("hook", "claude-code", given=payload(home, prompt_id="p1"), TMPDIR=str(spare))
        assert border.bundles[0]["lost_hook_events"] == 1
        assert sorted(lines(border)) == ["u0", "u1"]
        assert told(border) == ["p1"]


def test_hook__spooled_file_that_cannot_be_read__counted_and_out_of_the_way(home: Home) -> None:
    spool = home.folder / ".ecm" / "spool"
    spool.mkdir(parents=True)
    (spool / "1-1.json").write_text('{"received_at": 1, "payl')
    with server() as border:
        home.configure(border.url)
        hook(home, "p1")
        hook(home, "p2")
        assert border.bundles[-1]["lost_hook_events"] == 1
        assert told(border) == ["p1", "p2"]


def test_hook__more_than_one_delivery_holds__the_rest_follows_by_itself(home: Home) -> None:
    write_lines(home, 6_000)
    assert (home.folder / "s.jsonl").stat().st_size > 1 << 20
    with server() as border:
        home.configure(border.url)
        hook(home, "p1")
        wait_until(lambda: len(lines(border)) >= 6_000)
        assert sorted(lines(border)) == sorted(f"u{n}" for n in range(6_000))


def test_hook__disconnected__running_sessions_send_nothing_more(home: Home) -> None:
    with server() as border:
        connect = ("connect", "--url", border.url, "--key", "k", "--yes", "--wait", "0")
        assert home.run(*connect).returncode == 0
        before = len(border.bodies)
        home.run("disconnect")
        hook(home, "p1")
        assert len(border.bodies) == before
    assert not (home.folder / ".ecm" / "spool").exists()


def test_hook__answer_that_the_host_cannot_read__is_not_printed(home: Home) -> None:
    body = json.dumps({"answer": "not an object"}).encode()
    with server(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)) as border:
        home.configure(border.url)
        hook(home, "p1", "UserPromptSubmit")
        asked = home.run("hook", "claude-code", given=payload(home, "PreCompact"))
        assert asked.stdout == "not an object"


def test_hook__answer_in_chunks_on_an_open_connection__taken_at_once(home: Home) -> None:
    write_lines(home, 1)
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"
    with server(answer) as border:
        home.configure(border.url)
        hook(home, "p1")
        hook(home, "p2")
        assert (told(border), lines(border)) == (["p1", "p2"], ["u0"])


def test_state__files_of_ours__only_their_owner_reads_them(home: Home) -> None:
    home.configure(closed_port())
    write_lines(home, 1)
    hook(home, "p1")
    for folder, _, names in os.walk(home.folder / ".ecm" / "spool"):
        assert [oct(os.stat(Path(folder) / name).st_mode & 0o077) for name in names] == ["0o0"] * len(names)
