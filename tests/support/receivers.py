"""Where messages of this server arrive in tests: a web server and a mail server that keep what they get."""

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, HTTPServer


class WebReceiver(HTTPServer):
    """(path, body) of each POST. It answers with `statuses` in turn, then with 200; to /moved with a redirect."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Post)
        self.got: list[tuple[str, dict[str, object]]] = []
        self.statuses: list[int] = []

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"


class _Post(BaseHTTPRequestHandler):
    server: WebReceiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, json.loads(body)))
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        self.send_response(302 if self.path == "/moved" else status)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Silent."""


class MailReceiver(socketserver.ThreadingTCPServer):
    """The mails of as much of SMTP as Python's own client speaks."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Mail)
        self.got: list[EmailMessage] = []


class _Mail(socketserver.StreamRequestHandler):
    server: MailReceiver

    def handle(self) -> None:
        self.wfile.write(b"220 ready\r\n")
        while line := self.rfile.readline():
            word = line.split(maxsplit=1)[0].upper() if line.strip() else b""
            if word == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                self.server.got.append(self._mail())
            self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 ok\r\n")
            if word == b"QUIT":
                return

    def _mail(self) -> EmailMessage:
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        found = message_from_bytes(b"".join(lines), policy=policy.default)
        assert isinstance(found, EmailMessage)
        return found


@contextmanager
def listening[S: socketserver.BaseServer](server: S) -> Iterator[S]:
    """The server while it answers."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
