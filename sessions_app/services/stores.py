"""Where hosts keep their sessions on a machine, which feed reads them, and how.

A further store is an entry in STORES: its default places, its files, and the function that reads one of them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from sessions_app.feeds import (
    claude_sdk,
    claude_transcript,
    codex_transcript,
    copilot_store,
    copilot_transcript,
    gemini_chat,
    opencode_transcript,
    unknown,
)
from sessions_app.feeds.base import Feed
from sessions_app.feeds.shapes import shape_of_text
from sessions_app.services import import_copilot, import_opencode, importing
from sessions_app.services.importing import LARGEST, Progress
from sessions_app.services.ingest import Sender

#: Bytes that are looked at to tell whose a file of lines is.
HEAD = 256 << 10


class Reader(Protocol):
    """Reads what is new in one file."""

    def __call__(self, *, path: Path, feed: Feed, sender: Sender, now: datetime) -> Iterator[Progress]:
        """Piece by piece, each in a transaction of its own."""


@dataclass(frozen=True, slots=True)
class Store:
    """The files of one kind of one host. `patterns` are below a home, `fits` tells a file that was named by hand."""

    name: str
    feed: Feed
    read: Reader
    homes: Callable[[Mapping[str, str]], Iterable[Path]]
    patterns: tuple[str, ...]
    fits: Callable[[Path, str | None], bool]


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read, and how."""

    path: Path
    store: Store
    size: int


def _claude(environ: Mapping[str, str]) -> list[Path]:
    return [Path(environ.get("CLAUDE_CONFIG_DIR") or _home(environ) / ".claude") / "projects"]


def _opencode(environ: Mapping[str, str]) -> list[Path]:
    named = environ.get("OPENCODE_DB")
    data = Path(environ.get("XDG_DATA_HOME") or _home(environ) / ".local" / "share") / "opencode"
    return [data, *([Path(named)] if named else [])]


def _codex(environ: Mapping[str, str]) -> list[Path]:
    root = Path(environ.get("CODEX_HOME") or _home(environ) / ".codex")
    return [root / "sessions", root / "archived_sessions"]


def _copilot(environ: Mapping[str, str]) -> list[Path]:
    return [Path(environ.get("COPILOT_HOME") or _home(environ) / ".copilot")]


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME", "~")).expanduser()


def _is_of_tree(path: Path, _shape: str | None) -> bool:
    return path.name.startswith("ses_") and len(path.parents) > 2 and path.parents[1].name == "session"


CLAUDE = Store(
    "Claude Code",
    claude_transcript.FEED,
    importing.read_file,
    _claude,
    ("**/*.jsonl",),
    # Where no line can be read, its reader says why.
    lambda path, shape: path.suffix == ".jsonl" and shape in (None, "claude-code"),
)
OPENCODE = Store(
    "OpenCode",
    opencode_transcript.FEED,
    import_opencode.read_database,
    _opencode,
    ("opencode*.db",),
    lambda path, _shape: path.suffix == ".db" and path.name.startswith("opencode"),
)
OPENCODE_TREE = Store(
    "OpenCode",
    opencode_transcript.FEED,
    import_opencode.read_tree,
    _opencode,
    ("storage/session/*/ses_*.json",),
    _is_of_tree,
)
OPENCODE_EXPORT = Store(
    "OpenCode",
    opencode_transcript.FEED,
    importing.read_whole,
    lambda environ: (),
    (),
    lambda path, shape: shape == "opencode",
)
CODEX = Store(
    "Codex",
    codex_transcript.FEED,
    importing.read_file,
    _codex,
    ("**/rollout-*.jsonl",),
    lambda path, shape: path.suffix == ".jsonl" and shape == "codex",
)
COPILOT = Store(
    "Copilot",
    copilot_transcript.FEED,
    importing.read_file,
    _copilot,
    ("session-state/*/events.jsonl",),
    lambda path, shape: path.suffix == ".jsonl" and shape == "copilot",
)
COPILOT_STORE = Store(
    "Copilot",
    copilot_store.FEED,
    import_copilot.read_store,
    _copilot,
    ("session-store.db",),
    lambda path, _shape: path.name == "session-store.db",
)
GEMINI = Store(
    "Gemini CLI",
    gemini_chat.FEED,
    importing.read_whole,
    lambda environ: [_home(environ) / ".gemini" / "tmp"],
    ("*/chats/**/session-*.json", "*/chats/**/session-*.jsonl"),
    lambda path, shape: shape == "gemini",
)
CLAUDE_SDK = Store(
    "Claude SDK",
    claude_sdk.FEED,
    importing.read_file,
    lambda environ: (),
    (),
    lambda path, shape: path.suffix == ".jsonl" and shape == "claude-sdk",
)
UNKNOWN = Store(
    "Unknown", unknown.FEED, importing.read_whole, lambda environ: (), (), lambda path, shape: path.suffix == ".jsonl"
)
STORES = (
    *(OPENCODE_TREE, OPENCODE, OPENCODE_EXPORT, GEMINI, CODEX, COPILOT, COPILOT_STORE),
    *(CLAUDE, CLAUDE_SDK, UNKNOWN),
)


def at_home(environ: Mapping[str, str]) -> list[Found]:
    """What is in the default places of this machine."""
    found = {
        path: store
        for store in STORES
        for home in store.homes(environ)
        for path in ([home] if home.is_file() else _below(home, store.patterns))
    }
    return _ordered(found)


def named(roots: Iterable[Path]) -> list[Found]:
    """What is in these files and folders, told by its shape; in a folder, other documents than ours are left alone."""
    paths = {
        p
        for root in roots
        for p in ([root] if root.is_file() else _below(root, ("**/*.jsonl", "**/*.json", "**/*.db")))
    }
    found: dict[Path, Store] = {}
    for path in paths:
        shape = _shape(path)
        store = next((store for store in STORES if store.fits(path, shape)), None)
        if store is not None:
            found[path] = store
    return _ordered(found)


def _below(home: Path, patterns: Iterable[str]) -> list[Path]:
    return [path for pattern in patterns for path in home.glob(pattern) if path.is_file()]


def _shape(path: Path) -> str | None:
    if path.suffix not in (".jsonl", ".json"):
        return ""
    with path.open("rb") as handle:
        return shape_of_text(handle.read(HEAD if path.suffix == ".jsonl" else LARGEST))


def _ordered(found: Mapping[Path, Store]) -> list[Found]:
    """By host, the largest last, so that progress is seen early."""
    files = [Found(path, store, path.stat().st_size) for path, store in found.items()]
    return sorted(files, key=lambda f: (f.store.name, f.size, str(f.path)))
