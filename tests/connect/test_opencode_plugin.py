"""OpenCode's plugin, run by Node with the recorded events: what it sends, what it adds, and that it fails open."""

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sessions_app.connect.views import OPENCODE
from tests.connect.client import closed_port
from tests.support.deliveries import Delivery, folded
from tests.support.inputs import INPUTS
from tests.support.pins import BOOK

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs node")
EVENTS = INPUTS / "hosts" / "opencode-1.18.33" / "plugin-events.jsonl"
SAID = ("run the checks", "echo hello", "hello\\n", "/home/dev", "shiny-rocket", "done 1", "done 5")
DRIVER = """
import { readFileSync } from "node:fs"
import { ECM } from "./ecm.mjs"
const toasts = []
const client = {
  session: { get: async () => ({ data: JSON.parse(process.env.PARENT || "{}") }) },
  tui: { showToast: async (given) => toasts.push(given) },
}
const hooks = await ECM({ client, directory: "/home/dev/acme-api" })
for (const line of readFileSync(process.env.EVENTS, "utf8").split("\\n").filter(Boolean)) {
  const { hook, payload } = JSON.parse(line)
  if (hook === "event") await hooks.event?.({ event: payload })
  else await hooks[hook]?.({ ...payload, agent: "build", model: { id: payload.model, limit: { context: 200000 } } }, {})
}
const said = { message: { id: "msg_9" }, parts: [{ id: "prt_9", type: "text", text: "go on" }] }
await hooks["chat.message"]?.({ sessionID: "ses_9" }, said)
const ran = { output: "listing" }
await hooks["tool.execute.after"]?.({ sessionID: "ses_9", callID: "c1", tool: "bash" }, ran)
const asked = { context: [] }
await hooks["experimental.session.compacting"]?.({ sessionID: "ses_9" }, asked)
const compaction = { info: { id: "msg_8", sessionID: "ses_9" }, parts: [{ id: "prt_8", type: "compaction" }] }
const sent = { messages: [compaction, said] }
await hooks["experimental.chat.messages.transform"]?.({}, sent)
console.log(JSON.stringify({ said, ran, asked, compaction, toasts }))
"""


@contextmanager
def server(answer: dict[str, str]) -> Iterator[tuple[str, list[bytes]]]:
    """A server of this machine that keeps connections open, as Node's fetch wants; what was posted to it."""
    bodies: list[bytes] = []
    told = json.dumps(answer).encode()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.server_address[1]}", bodies
    finally:
        listener.shutdown()
        listener.server_close()


def run(folder: Path, url: str, **more: str) -> dict[str, Any]:
    (folder / "ecm.mjs").write_bytes(OPENCODE.read_bytes())
    (folder / "driver.mjs").write_text(DRIVER)
    environ = {"ECM_HOME": str(folder / "ecm"), "EVENTS": str(EVENTS), "ECM_URL": url, "ECM_KEY": "k", **more}
    told = subprocess.run(
        [NODE or "node", "driver.mjs"], cwd=folder, env=environ, capture_output=True, encoding="utf-8", timeout=60
    )
    assert told.returncode == 0, told.stderr
    found: dict[str, Any] = json.loads(told.stdout.splitlines()[-1])
    return found


def test_plugin__recorded_events__the_served_calls_and_nothing_said(tmp_path: Path) -> None:
    with server({"text": ""}) as (url, bodies):
        run(tmp_path, url)
    assert [said for said in SAID for body in bodies if said.encode() in body] == []
    folds = folded([Delivery("opencode-hook", body) for body in bodies], BOOK)
    fold = next(f for f in folds.values() if f.calls)
    fields = fold.summary.fields
    assert (fields["calls"], fields["uncached_input"], fields["cache_read"], fields["output"]) == (
        4,
        60_000,
        230_000,
        200,
    )
    assert (fields["window"], fold.summary.project) == (200_000, "acme-api")


def test_plugin__what_the_server_answers__behind_prompt_and_result_and_into_the_compaction(tmp_path: Path) -> None:
    answer = {"text": "72% full", "to_human": "72% full: wrap up", "restore_text": "PINS", "before_text": "KEEP 2 PINS"}
    with server(answer) as (url, _):
        told = run(tmp_path, url)
    assert [part["text"] for part in told["said"]["parts"]] == ["go on", "72% full"]
    assert told["ran"]["output"] == "listing\n\n72% full"
    assert told["asked"]["context"] == ["KEEP 2 PINS"]
    assert [part.get("text") for part in told["compaction"]["parts"]] == [None, "PINS"]
    assert told["toasts"][0]["body"]["message"] == "72% full: wrap up"


def test_plugin__server_away__the_session_is_as_it_was(tmp_path: Path) -> None:
    told = run(tmp_path, closed_port())
    assert [part["text"] for part in told["said"]["parts"]] == ["go on"]
    assert (told["ran"]["output"], told["asked"]["context"]) == ("listing", [])
    assert len(told["compaction"]["parts"]) == 1


def test_plugin__server_away_later__pins_of_the_last_time(tmp_path: Path) -> None:
    with server({"restore_text": "PINS", "before_text": "KEEP"}) as (url, _):
        run(tmp_path, url)
    told = run(tmp_path, closed_port())
    assert [part.get("text") for part in told["compaction"]["parts"]] == [None, "PINS"]


def test_plugin__disconnected__says_and_does_nothing(tmp_path: Path) -> None:
    (tmp_path / "ecm").mkdir()
    (tmp_path / "ecm" / "config.json").write_text(json.dumps({"url": closed_port(), "key": "k", "off": ["opencode"]}))
    told = run(tmp_path, "")
    assert len(told["said"]["parts"]) == 1
