"""Which sessions of the user's own lie on this machine. Files are counted, none is opened."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Sighting:
    """Transcripts of one host: how many sessions, last changed between which days (local), how many bytes."""

    host: str
    sessions: int
    first: date
    last: date
    size: int


def look(home: Path, environ: dict[str, str]) -> list[Sighting]:
    """What is to be seen of each host that keeps transcripts; hosts without any are left out."""
    claude = [Path(part) for part in environ.get("CLAUDE_CONFIG_DIR", "").split(",") if part] or [home / ".claude"]
    codex = Path(environ.get("CODEX_HOME") or home / ".codex")
    seen = [
        _count("Claude Code", (file for root in claude for file in _files(root / "projects"))),
        _count("Codex CLI", _files(codex / "sessions")),
    ]
    return [sighting for sighting in seen if sighting is not None]


def _files(root: Path) -> Iterable[Path]:
    """JSON Lines files below a folder; folders that may not be read are passed over."""
    for folder, _, names in os.walk(root):
        yield from (Path(folder) / name for name in names if name.endswith(".jsonl"))


def _count(host: str, files: Iterable[Path]) -> Sighting | None:
    sessions = size = 0
    days: list[date] = []
    for file in files:
        try:
            status = file.stat()
        except OSError:
            continue
        size += status.st_size
        # A subagent writes a file of its own beside the session that it belongs to.
        if not file.name.startswith("agent-"):
            sessions += 1
            days.append(datetime.fromtimestamp(status.st_mtime).astimezone().date())
    return Sighting(host, sessions, min(days), max(days), size) if sessions else None
