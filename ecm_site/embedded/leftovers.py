"""Processes of a predecessor: which of them still run, and how they are ended.

A process is known by number and start time: a number alone may have been given to somebody else.
"""

import contextlib
import json
import os
import signal
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True, slots=True)
class Trace:
    """One started process, as noted for a successor. `ask` is the signal that ends it in order."""

    name: str
    pid: int
    created: float
    ask: int


def is_alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def program_of(pid: int) -> str:
    """The name of its program; empty when it is gone."""
    try:
        return str(psutil.Process(pid).name())
    except psutil.Error:
        return ""


def created_at(pid: int) -> float:
    """Start time of a process in seconds; 0 when it is gone."""
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return 0.0


def write(path: Path, traces: Iterable[Trace]) -> None:
    """Note the processes; the file is whole at every moment."""
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps([asdict(trace) for trace in traces]), encoding="utf-8")
    fresh.replace(path)


def read(path: Path) -> list[Trace]:
    """Those of the noted processes that still run."""
    try:
        traces = [Trace(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return []
    return [t for t in traces if is_alive(t.pid) and abs(created_at(t.pid) - t.created) < 1.0]


def end(traces: Iterable[Trace], patience_seconds: float = 10.0) -> list[str]:
    """Ask each to stop, wait, then kill its group; the names of those that ran."""
    running = list(traces)
    for trace in running:
        with contextlib.suppress(ProcessLookupError):
            os.kill(trace.pid, trace.ask)
    until = time.monotonic() + patience_seconds
    while time.monotonic() < until and any(is_alive(trace.pid) for trace in running):
        time.sleep(0.05)
    for trace in running:
        # Also when it ended in order: a child of it may have been busy.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(trace.pid, signal.SIGKILL)
    return [trace.name for trace in running]
