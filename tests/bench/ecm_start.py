"""Start to exit of `ecm hook` when the server does not answer: `python -m tests.bench.ecm_start`.

The client is installed as `ecm connect` does it, then run as the host runs it: with a transcript to read and a
server that refuses the connection. Printed beside the bare start of the same interpreter, whose share no client
can lower. The target is a median under 80 ms.
"""

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CLIENT = Path(__file__).parents[2] / "sessions_app" / "connect" / "ecm"
RUNS, TARGET_MS, LINES = 30, 80.0, 20


def refused_url() -> str:
    """An address at which nobody listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{sock.getsockname()[1]}"


def transcript(path: Path) -> str:
    """A turn's worth of lines."""
    usage = {"input_tokens": 4, "cache_read_input_tokens": 30_000, "output_tokens": 50}
    message = {
        "id": "m",
        "model": "claude-sonnet-4-5",
        "usage": usage,
        "content": [{"type": "text", "text": "x" * 900}],
    }
    lines = [
        json.dumps({"type": "assistant", "sessionId": "bench", "uuid": f"u{n}", "message": message})
        for n in range(LINES)
    ]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def median_ms(command: list[str], home: Path, given: bytes = b"") -> float:
    """Milliseconds from start to exit, the median of RUNS."""
    environ, took = {**os.environ, "HOME": str(home)}, []
    for _ in range(RUNS):
        started = time.perf_counter()
        subprocess.run(command, input=given, env=environ, capture_output=True, check=True)
        took.append((time.perf_counter() - started) * 1000)
        # What it left in the background must not run beside the next one.
        time.sleep(0.05)
    return statistics.median(took)


def main() -> int:
    """Measure and print; 1 when the target is missed."""
    with tempfile.TemporaryDirectory(prefix="ecm-bench-") as folder:
        home = Path(folder)
        connect = [sys.executable, str(CLIENT), "connect", "--url", refused_url(), "--key", "k", "--yes", "--wait", "0"]
        subprocess.run(connect, env={**os.environ, "HOME": folder}, capture_output=True, check=True)
        settings = json.loads((home / ".claude" / "settings.json").read_text())
        command = settings["hooks"]["Stop"][0]["hooks"][0]["command"].split()
        payload = {
            "session_id": "bench",
            "hook_event_name": "Stop",
            "transcript_path": transcript(home / "bench.jsonl"),
        }
        hook = median_ms(command, home, json.dumps(payload).encode())
        bare = median_ms([command[0], "-c", "pass"], home)
        lean = median_ms([command[0], "-I", "-S", "-c", "pass"], home)
    print(f"ecm hook, no answer       {hook:6.1f} ms   median of {RUNS}, target {TARGET_MS:.0f}")
    print(f"python3 -c pass           {bare:6.1f} ms   {bare / hook:4.0%} of it")
    print(f"python3 -I -S -c pass     {lean:6.1f} ms   {lean / hook:4.0%} of it: how the hook is started")
    return int(hook > TARGET_MS)


if __name__ == "__main__":
    raise SystemExit(main())
