"""A model that answers by a script, for agent hosts on a loopback address. Standard library only.

It speaks the Messages API as far as Claude Code needs it: one answer a request, streamed or whole, with the usage
and the tool call of the next turn. What it served is kept, so that anybody can compare what was counted elsewhere.
"""

import gzip
import json
import secrets
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Turn:
    """One answer: its usage, what it says, and the tool that it asks for (a name and its input)."""

    input: int
    read: int
    write_5m: int
    output: int
    says: str = "Done."
    tool: tuple[str, dict[str, str]] | None = None
    write_1h: int = 0


@dataclass
class Model:
    """Turns in their order (the last one repeats) and those that were served; beside them what the host asks aside."""

    turns: list[Turn]
    #: The answer to what the host asks for itself, without tools: the title of a session.
    aside: Turn
    served: list[Turn] = field(default_factory=list)
    served_aside: list[Turn] = field(default_factory=list)
    #: Requests, as they came.
    asked: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    #: Ids are as good as those of a provider: no two runs share one.
    run: str = field(default_factory=lambda: secrets.token_hex(6))

    def next(self, *, is_aside: bool) -> tuple[int, Turn]:
        """The number of this answer and what it is."""
        with self.lock:
            turn = self.aside if is_aside else self.turns[min(len(self.served), len(self.turns) - 1)]
            (self.served_aside if is_aside else self.served).append(turn)
            return len(self.served) + len(self.served_aside), turn


def start(model: Model) -> str:
    """Serve in the background; the address."""
    handler = type("Handler", (_Handler,), {"model": model})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, *args: object) -> None:
        """Nothing on the terminal."""

    def do_HEAD(self) -> None:
        self._answer(b"", "text/plain")

    def do_GET(self) -> None:
        self._answer(b"{}", "application/json")

    def do_POST(self) -> None:
        body = self._body()
        request = json.loads(body or b"{}")
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            return self._answer(b'{"input_tokens": 1000}', "application/json")
        if path != "/v1/messages":
            return self._answer(b"{}", "application/json")
        self.model.asked.append(body.decode())
        number, turn = self.model.next(is_aside=not request.get("tools"))
        message = _message(f"{self.model.run}{number:06d}", turn, request.get("model", ""))
        if request.get("stream"):
            return self._answer(_events(message), "text/event-stream", message["id"])
        return self._answer(json.dumps(message).encode(), "application/json", message["id"])

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            body = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def _answer(self, body: bytes, kind: str, message_id: str = "") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if message_id:
            self.send_header("request-id", message_id.replace("msg_", "req_"))
        self.end_headers()
        self.wfile.write(body)


def _message(name: str, turn: Turn, model: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": turn.says}]
    if turn.tool:
        content.append({"type": "tool_use", "id": f"toolu_{name}", "name": turn.tool[0], "input": turn.tool[1]})
    usage = {
        "input_tokens": turn.input,
        "cache_read_input_tokens": turn.read,
        "cache_creation_input_tokens": turn.write_5m + turn.write_1h,
        "cache_creation": {
            "ephemeral_5m_input_tokens": turn.write_5m,
            "ephemeral_1h_input_tokens": turn.write_1h,
        },
        "output_tokens": turn.output,
        "service_tier": "standard",
    }
    return {
        "id": f"msg_{name}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if turn.tool else "end_turn",
        "stop_sequence": None,
        "usage": usage,
    }


def _events(message: dict[str, Any]) -> bytes:
    """The same message as a stream: start, each block with its delta, stop."""
    first = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": first}]
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events.append({"type": "message_delta", "delta": stop, "usage": message["usage"]})
    events.append({"type": "message_stop"})
    return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)
