"""Verdicts over the wire with a million calls stored, beside a bare Django view: `python -m tests.bench.verdict`.

Starts a whole server of its own, fills its database, then sends hooks at a steady 200 a second and prints median and
99th percentile of each kind, the floor of the same run, and how many calls behind the readings were. Ratios hold on
other machines, times do not. `ECM_BENCH_CALLS` stores fewer calls.
"""

import http.client
import json
import os
import queue
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.bench.doors import KEY, ROOT, free_port, line, wait_ready

CALLS = int(os.environ.get("ECM_BENCH_CALLS", "1000000"))
PER_SECOND, SECONDS, WARM, WORKERS = 200, 10, 3, 16
SESSIONS = 50
EVENTS = ("UserPromptSubmit", "PostToolUse", "PostToolUse", "PostToolUse", "Stop")


def fill(data: str) -> None:
    """A million calls beside the ones that come."""
    command = [sys.executable, "-m", "tests.bench.filling", str(CALLS)]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "ECM_DATA": data}, check=True)


def bundle(number: int) -> tuple[str, bytes]:
    """(event, body): one hook of a session with the line of its newest call, as the client sends them."""
    session, turn = number % SESSIONS, number // SESSIONS
    event = EVENTS[(turn + session) % len(EVENTS)]
    payload: dict[str, Any] = {"session_id": f"bench{session}", "hook_event_name": event, "prompt_id": f"p{turn}"}
    if event == "PostToolUse":
        payload |= {"tool_name": "Bash", "tool_use_id": f"t{number}", "tool_response": {"~bytes": 8_892}}
    hook = {"received_at": time.time(), "payload": payload}
    lines = [json.loads(line(session, turn))] if event != "PostToolUse" or turn % 2 else []
    body = {"session_id": f"bench{session}", "waits": True, "hooks": [hook], "lines": lines}
    return event, json.dumps(body).encode()


class Load:
    """Requests at a steady rate; a late one counts from when it was due."""

    def __init__(self, port: int) -> None:
        self.port, self.times, self.behind = port, dict[str, list[float]](), dict[str, Counter[int]]()
        self.due: queue.Queue[tuple[float, int] | None] = queue.Queue()
        self.lock = threading.Lock()

    def run(self, *, hooks: bool, first: int = 0, seconds: int = SECONDS) -> int:
        """Send what is due from hook number `first` on; gives the number of the next one.

        A hook told again would be no news, and fold nothing.
        """
        count = PER_SECOND * seconds
        threads = [threading.Thread(target=self.work, args=(hooks,)) for _ in range(WORKERS)]
        for thread in threads:
            thread.start()
        start = time.perf_counter() + 0.2
        for number in range(count):
            self.due.put((start + number / PER_SECOND, first + number))
        for _ in threads:
            self.due.put(None)
        for thread in threads:
            thread.join()
        return first + count

    def work(self, hooks: bool) -> None:
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        while (item := self.due.get()) is not None:
            at, number = item
            time.sleep(max(0.0, at - time.perf_counter()))
            event, body = bundle(number) if hooks else ("bare view", b"")
            sent = time.perf_counter()
            method, path = ("POST", "/api/v1/bundles/claude-code") if hooks else ("GET", "/healthz")
            client.request(method, path, body, headers)
            answer = client.getresponse()
            told = answer.read()
            took = (time.perf_counter() - sent) * 1_000
            if answer.status != 200:
                raise SystemExit(f"{answer.status}: {told[:200]!r}")
            with self.lock:
                self.times.setdefault(event, []).append(took)
                if hooks and (live := json.loads(told)["live"]):
                    self.behind.setdefault(event, Counter())[live["occupancy"]["calls_behind"]] += 1


def report(load: Load, floor: float) -> None:
    """A row per kind of hook, and one of all."""
    rows = sorted(load.times.items())
    if len(rows) > 1:
        rows.append(("all hooks", [each for _, times in rows for each in times]))
    for event, times in rows:
        ordered = sorted(times)
        middle, late = statistics.median(ordered), ordered[int(len(ordered) * 0.99)]
        behind = dict(sorted(load.behind.get(event, Counter()).items())[:6])
        told = f"  calls behind {behind}" if behind else ""
        print(f"{event:18} {len(times):>6} {middle:>8.1f} {late:>8.1f} {middle / (floor or middle):>8.1f}{told}")


def main() -> None:
    """Print the floor and the verdicts."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        environ = {**os.environ, "ECM_DATA": folder, "ECM_PORT": str(port), "ECM_INGEST_KEY": KEY, "ECM_DEMO": "0"}
        command = [sys.executable, "-m", "ecm_site.embedded", "up"]
        server = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.DEVNULL)
        try:
            wait_ready(port)
            told = Load(port).run(hooks=True)
            # Filling ends with statistics of all tables, and with those each statement is planned anew: a server that
            # has run for some minutes has done both.
            fill(folder)
            told = Load(port).run(hooks=True, first=told, seconds=WARM)
            print(f"{'hook':18} {'sent':>6} {'p50 ms':>8} {'p99 ms':>8} {'/ floor':>8}   at {PER_SECOND} a second")
            bare, judged = Load(port), Load(port)
            bare.run(hooks=False)
            floor = statistics.median(bare.times["bare view"])
            report(bare, floor)
            judged.run(hooks=True, first=told)
            report(judged, floor)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)


if __name__ == "__main__":
    main()
