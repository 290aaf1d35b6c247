"""Child processes: started in order, watched, started again when they die, stopped in reverse."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ecm_site.embedded import leftovers, places
from ecm_site.embedded.leftovers import Trace
from ecm_site.embedded.places import Owner

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 30.0
#: A process that ran this long is taken as sound again.
SOUND_SECONDS = 60.0
#: Of Unix' priorities the last one.
LOWEST = 19
LARGEST_LOG = 10_000_000


@dataclass(frozen=True, slots=True)
class Program:
    """What to run. `ask` is the signal that ends it in order, within `patience_seconds`."""

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str]
    folder: Path
    owner: Owner | None = None
    ask: int = signal.SIGTERM
    patience_seconds: float = 15.0
    #: Whether it takes what the others leave of the processor.
    is_behind: bool = False


def step_back(pid: int) -> None:
    """Let a process and its later children run when nobody else wants to."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, LOWEST)
    # Linux weighs sessions against each other, and priorities only within one.
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(LOWEST))


@dataclass(slots=True)
class Child:
    """A program and its present process."""

    program: Program
    process: subprocess.Popen[bytes]
    started_at: float
    pause_seconds: float = FIRST_PAUSE_SECONDS
    again_at: float | None = None


@dataclass(slots=True)
class Supervisor:
    """Owns the children of `make up`. `record` names them for a successor, should we be killed."""

    logs: Path
    record: Path
    say: Callable[[str], None]
    children: list[Child] = field(default_factory=list)

    def log_of(self, name: str) -> Path:
        """Where a child's output goes."""
        return self.logs / f"{name}.log"

    def start(self, program: Program) -> Child:
        """Start one more child."""
        child = Child(program, self._spawn(program), time.monotonic())
        self.children.append(child)
        self._note()
        return child

    def drop(self, child: Child) -> None:
        """Stop one child and forget it."""
        end(child)
        self.children.remove(child)
        self._note()

    def _spawn(self, program: Program) -> subprocess.Popen[bytes]:
        places.make_folder(self.logs)
        path = self.log_of(program.name)
        shorten(path)
        user, group, groups = places.identity(program.owner)
        with path.open("ab") as log:
            # A session of its own: Ctrl-C reaches us alone, and we stop the others in order.
            process = subprocess.Popen(
                program.command,
                cwd=program.folder,
                env=dict(program.env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                user=user,
                group=group,
                extra_groups=groups,
            )
        if program.is_behind:
            step_back(process.pid)
        return process

    def _note(self) -> None:
        traces = [
            Trace(c.program.name, c.process.pid, leftovers.created_at(c.process.pid), int(c.program.ask))
            for c in self.children
            if c.process.poll() is None
        ]
        leftovers.write(self.record, traces)

    def watch(self) -> None:
        """One look at every child; call it a few times per second."""
        for child in self.children:
            if child.process.poll() is None:
                if time.monotonic() - child.started_at > SOUND_SECONDS:
                    child.pause_seconds = FIRST_PAUSE_SECONDS
            elif child.again_at is None:
                self._tell_death(child)
            elif time.monotonic() >= child.again_at:
                self._start_again(child)

    def _tell_death(self, child: Child) -> None:
        kill_group(child.process.pid)
        pause, name = child.pause_seconds, child.program.name
        child.again_at = time.monotonic() + pause
        child.pause_seconds = min(pause * 2, LONGEST_PAUSE_SECONDS)
        status = child.process.returncode
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        self.say(f"  {name} {how}; starting it again in {pause:.0f} s. Its log: {self.log_of(name)}")

    def _start_again(self, child: Child) -> None:
        child.process = self._spawn(child.program)
        child.started_at, child.again_at = time.monotonic(), None
        self._note()

    def shorten_logs(self) -> None:
        """Keep every log below its bound, while it is written to."""
        for child in self.children:
            shorten(self.log_of(child.program.name))

    def stop_all(self) -> None:
        """Stop every child, last started first; each may finish what it does."""
        for child in reversed(self.children):
            end(child)
        self.record.unlink(missing_ok=True)


def end(child: Child) -> None:
    """Ask one child to stop, wait, then kill what is left of its group."""
    if child.process.poll() is None:
        child.process.send_signal(child.program.ask)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.process.wait(child.program.patience_seconds)
    kill_group(child.process.pid)
    child.process.wait()


def kill_group(pid: int) -> None:
    """Kill whatever still runs in the group of a child."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def shorten(log: Path) -> None:
    """Move a log that grew too long aside. Its writers append, so emptying it in place is safe."""
    try:
        if log.stat().st_size <= LARGEST_LOG:
            return
    except OSError:
        return
    shutil.copyfile(log, log.with_suffix(".log.1"))
    os.truncate(log, 0)
