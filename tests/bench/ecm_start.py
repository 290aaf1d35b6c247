"""How long the host waits for the client where no server answers: `python -m tests.bench.ecm_start [PYTHON ...]`.

Start to exit of the installed client, as the host runs it, and the share of it that is the interpreter's own
start. Median of RUNS. The bound of 80 ms is for a machine that does little else.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.connect.client import PATH, closed_port
from tests.support.inputs import INPUTS, STORY

RUNS = 25
BOUND_MS = 80


def median_ms(command: Sequence[str], given: bytes, home: Path) -> float:
    """Milliseconds from start to exit."""
    spent = []
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    for _ in range(RUNS):
        started = time.perf_counter()
        subprocess.run(command, input=given, env=environ, capture_output=True, check=True)
        spent.append(time.perf_counter() - started)
    return statistics.median(spent) * 1000


def install(python: str, home: Path) -> Path:
    """Connect a fresh home to an address where nobody listens."""
    flags = ["--url", closed_port(), "--key", "k", "--yes", "--wait", "0"]
    environ = {"HOME": str(home), "PATH": f"{Path(python).parent}:/usr/bin:/bin"}
    subprocess.run([python, str(PATH), "connect", *flags], env=environ, capture_output=True, check=True)
    return home / ".ecm" / "ecm"


def main() -> None:
    """Print a row per interpreter and way."""
    sample = (INPUTS / "hosts" / "claude-code-2.1.197-statusline" / "statusline.jsonl").read_bytes().splitlines()[1]
    told = [json.loads(line)["payload"] for line in (STORY / "hooks.jsonl").read_text().splitlines()]
    payload = json.dumps(next(p for p in told if p["hook_event_name"] == "PostToolUse")).encode()
    print(f"{'':>40} {'ms':>6} {'interpreter':>12} {'bound':>6}")
    for python in sys.argv[1:] or [sys.executable]:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder)
            client = str(install(python, home))
            bare = median_ms([python, "-I", "-S", "-c", "pass"], b"", home)
            for way, given in ((["hook", "claude-code"], payload), (["status"], sample)):
                spent = median_ms([python, "-I", "-S", client, *way], given, home)
                name = f"{Path(python).resolve().name} {' '.join(way)}"
                print(f"{name:>40} {spent:>6.1f} {bare / spent:>12.0%} {BOUND_MS if spent < BOUND_MS else 'MISSED':>6}")


if __name__ == "__main__":
    main()
