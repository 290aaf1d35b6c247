"""One `make up` per data folder. The lock is the kernel's, so a killed holder leaves none behind."""

import fcntl
import json
import os
import time
from pathlib import Path
from typing import IO

#: A holder whose own make has just been killed needs a moment to notice.
NOTICE_SECONDS = 1.5
STOPPING_SECONDS = 90.0


class AlreadyRuns(Exception):
    """Somebody holds the lock; the text says who."""


class UpLock:
    """Held from start to end of `make up`; its file tells others who we are."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[str] | None = None

    def take(self, url: str) -> None:
        """Take the lock, waiting for a holder that is about to end. Raises AlreadyRuns."""
        file = self.path.open("a+", encoding="utf-8")
        begun = time.monotonic()
        while not _try(file):
            waited = time.monotonic() - begun
            holder = self.holder()
            if waited > (STOPPING_SECONDS if holder.get("stopping") else NOTICE_SECONDS):
                file.close()
                raise AlreadyRuns(_told(holder))
            time.sleep(0.1)
        self._file = file
        self.tell(url, stopping=False)

    def tell(self, url: str, *, stopping: bool) -> None:
        """Write who holds the lock."""
        if self._file is not None:
            self._file.seek(0)
            self._file.truncate()
            json.dump({"pid": os.getpid(), "url": url, "stopping": stopping}, self._file)
            self._file.flush()

    def release(self) -> None:
        """Let the next one in."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def is_held(self) -> bool:
        """Whether somebody holds it now."""
        if not self.path.exists():
            return False
        with self.path.open("a", encoding="utf-8") as file:
            return not _try(file)

    def holder(self) -> dict[str, object]:
        """What the holder told: pid, url, stopping."""
        try:
            told = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return told if isinstance(told, dict) else {}


def _try(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _told(holder: dict[str, object]) -> str:
    pid, url = holder.get("pid", "?"), holder.get("url", "")
    return f"ECM server already runs here: pid {pid}, {url}\nStop it with Ctrl-C in its terminal, or: kill {pid}"
