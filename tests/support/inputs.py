"""Inputs of the tests: recorded stories, traps with their right values, and a packed corpus of real sessions."""

import json
import tarfile
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from sessions_app.feeds.base import Context, Feed, Parsed
from sessions_app.kernel.readings import CallReading, Reading
from sessions_app.kernel.usage import leaves_of

INPUTS = Path(__file__).parents[1] / "inputs"
TRAPS = INPUTS / "traps"
STORY = INPUTS / "hosts" / "claude-code-2.1.197"
#: 2026-12-01 09:00 UTC: after every recorded story.
NOW_MS = 1_796_115_600_000

type Name = tuple[str, str, str, str]


@lru_cache(maxsize=1)
def traps() -> Mapping[str, Any]:
    """Trap by number: format, files, expectation."""
    found: dict[str, Any] = json.loads((TRAPS / "expected.json").read_text())
    return found


def trap_bodies(number: str) -> list[bytes]:
    """The files of a trap, in the order in which they are delivered."""
    return [(TRAPS / name).read_bytes() for name in traps()[number]["files"]]


@lru_cache(maxsize=1)
def corpus_totals() -> Mapping[str, Any]:
    """Independently computed totals by file."""
    found: dict[str, Any] = json.loads((INPUTS / "corpus-claude-code.totals.json").read_text())
    return found


@lru_cache(maxsize=1)
def corpus_bodies() -> Mapping[str, bytes]:
    """Every corpus file by name; 22 MB in memory."""
    bodies: dict[str, bytes] = {}
    with tarfile.open(INPUTS / "corpus-claude-code.tar.xz") as archive:
        for member in archive:
            opened = archive.extractfile(member)
            if opened is not None:
                bodies[member.name] = opened.read()
    return bodies


@lru_cache(maxsize=1)
def corpus_of_others() -> Mapping[str, bytes]:
    """Corpus files of OpenCode, Gemini CLI, Cursor and pi by name (`opencode/1.json`); 3 MB in memory."""
    with tarfile.open(INPUTS / "corpus-opencode-gemini-cursor.tar.xz") as archive:
        return {m.name: opened.read() for m in archive if m.isfile() and (opened := archive.extractfile(m))}


@lru_cache(maxsize=1)
def totals_of_others() -> Mapping[str, Any]:
    """Their independently computed totals."""
    found: dict[str, Any] = json.loads((INPUTS / "corpus-opencode-gemini-cursor.totals.json").read_text())
    return found


def story_transcripts() -> list[bytes]:
    """The story's transcript and its subagent's."""
    return [path.read_bytes() for path in sorted((STORY / "projects").rglob("*.jsonl"))]


def parsed(feed: Feed, body: bytes, *, final: bool = True, received_ms: int = NOW_MS) -> Parsed:
    """One body through a feed."""
    return feed.parse(body, Context(received_ms=received_ms, final=final))


def joined(readings: Iterable[Reading]) -> dict[Name, Reading]:
    """Readings of one name merged, as the store does it; name = (kind, session, source, key)."""
    held: dict[Name, Reading] = {}
    for reading in readings:
        name = (reading.kind, reading.session, str(reading.source), reading.key)
        held[name] = held[name].merge(reading) if name in held else reading
    return held


def readings_of(feed: Feed, bodies: Iterable[bytes]) -> dict[Name, Reading]:
    """Merged readings of several bodies."""
    return joined(reading for body in bodies for item in parsed(feed, body).items for reading in item.readings)


def calls_of(held: Mapping[Name, Reading]) -> list[CallReading]:
    """The call readings among merged readings."""
    return [reading for reading in held.values() if isinstance(reading, CallReading)]


def sums_of(calls: Iterable[CallReading]) -> dict[str, int]:
    """Leaves summed over calls, by the names of `expected.json`."""
    total = {"uncached_input": 0, "cache_read": 0, "cache_write_5m": 0, "cache_write_1h": 0, "output": 0}
    for call in calls:
        leaves = leaves_of(call)
        for name in total:
            total[name] += getattr(leaves, name)
    return total
