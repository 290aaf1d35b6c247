"""Ingest over the wire, beside the floor of a bare Django view in the same run: `python -m tests.bench.doors`.

Starts a whole server of its own (`make up` in a folder that is removed again) and prints, per door, requests
per second, median and 99th percentile, and their ratio to the floor. Ratios hold on other machines, times do not.
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

KEY = "bench-ingest-key-0001"
ROOT = Path(__file__).parents[2]
THREADS = 4
SECONDS = 4.0

type Request = tuple[str, str, bytes]


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def line(session: int, number: int) -> str:
    """One response of a transcript."""
    usage = {"input_tokens": 4, "cache_read_input_tokens": 9_000 + number, "cache_creation_input_tokens": 50}
    message = {"id": f"m{session}-{number}", "model": "claude-sonnet-4-5", "stop_reason": "end_turn"}
    return json.dumps(
        {
            "type": "assistant",
            "sessionId": f"bench{session}",
            "uuid": f"{session}-{number:08d}",
            "parentUuid": f"{session}-{number - 1:08d}",
            "timestamp": f"2026-11-30T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}Z",
            "cwd": "/x/bench",
            "message": {**message, "usage": {**usage, "output_tokens": 9}},
        }
    )


def floor(_worker: int, _number: int) -> Request:
    return "GET", "/healthz", b""


def hook(worker: int, number: int) -> Request:
    payload = {
        "session_id": f"bench{worker}-{number % 10}",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_use_id": f"t{worker}-{number}",
        "tool_input": {"command": "seq 1 2000"},
        "tool_response": {"stdout": "x" * 8_892},
    }
    return "POST", "/api/v1/hooks/claude-code", json.dumps(payload).encode()


def one_call(worker: int, number: int) -> Request:
    return "POST", "/api/v1/transcripts/claude-code", line(worker * 10 + number % 10, number).encode()


def hundred_calls(worker: int, number: int) -> Request:
    lines = (line(1_000 + worker, number * 100 + n) for n in range(100))
    return "POST", "/api/v1/transcripts/claude-code", "\n".join(lines).encode()


def drive(port: int, make: Callable[[int, int], Request]) -> list[float]:
    """Latencies in ms of as many requests as some threads can make in some seconds."""
    found: list[float] = []
    until = time.perf_counter() + SECONDS

    def work(worker: int) -> None:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        number = 0
        while time.perf_counter() < until:
            method, path, body = make(worker, number)
            started = time.perf_counter()
            client.request(method, path, body=body, headers=headers)
            answer = client.getresponse()
            answer.read()
            found.append((time.perf_counter() - started) * 1_000)
            if answer.status not in (200, 202):
                raise SystemExit(f"{path}: {answer.status}")
            number += 1

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(found)


def wait_ready(port: int) -> None:
    """Until the server answers, at most a minute."""
    for _ in range(240):
        try:
            client = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
            client.request("GET", "/readyz")
            if client.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(0.25)
    raise SystemExit("the server did not get ready")


def main() -> None:
    """Print a row per door."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        environ = {**os.environ, "ECM_DATA": folder, "ECM_PORT": str(port), "ECM_INGEST_KEY": KEY, "ECM_DEMO": "0"}
        command = [sys.executable, "-m", "ecm_site.embedded", "up"]
        server = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.DEVNULL)
        try:
            wait_ready(port)
            print(f"{'door':24} {'per second':>10} {'p50 ms':>8} {'p99 ms':>8} {'p50 / floor':>12}")
            base = 0.0
            for name, make in (
                ("bare view (floor)", floor),
                ("hook of 9 kB", hook),
                ("transcript, 1 call", one_call),
                ("transcript, 100 calls", hundred_calls),
            ):
                times = drive(port, make)
                middle, late = times[len(times) // 2], times[int(len(times) * 0.99)]
                base = base or middle
                row = f"{len(times) / SECONDS:>10.0f} {middle:>8.1f} {late:>8.1f} {middle / base:>12.1f}"
                print(f"{name:24} {row}")
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)


if __name__ == "__main__":
    main()
