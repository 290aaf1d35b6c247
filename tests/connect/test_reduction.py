"""What the client leaves of a record tells the server the same as the whole record: readings are equal."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from sessions_app.feeds import claude_hooks, claude_statusline, claude_transcript
from sessions_app.feeds.base import Feed
from sessions_app.feeds.husk import husk
from sessions_app.kernel.readings import Reading
from tests.connect.client import module
from tests.support import inputs
from tests.support.deliveries import hooks
from tests.support.inputs import INPUTS, TRAPS, corpus_bodies, joined, parsed, story_transcripts, traps

#: Of each file of the corpus: its first lines, and every so many of the rest.
FIRST, EVERY = 40, 15


@pytest.fixture(scope="module")
def ecm() -> ModuleType:
    return module()


def told(feed: Feed, lines: Iterable[bytes]) -> Mapping[inputs.Name, Reading]:
    """Readings of lines, joined as the store joins them."""
    return joined(r for item in parsed(feed, b"\n".join(lines) + b"\n").items for r in item.readings)


def assert_equal(feed: Feed, whole: list[bytes], small: list[bytes]) -> None:
    expected, found = told(feed, whole), told(feed, small)
    assert set(found) == set(expected)
    for name, reading in expected.items():
        assert found[name] == reading


def reduced_lines(ecm: ModuleType, lines: Iterable[bytes]) -> list[bytes]:
    return [msgspec.json.encode(small) for line in lines if (small := ecm.reduced_line(line)) is not None]


def sampled(body: bytes) -> list[bytes]:
    lines = [line for line in body.split(b"\n") if line.strip()]
    return lines[:FIRST] + lines[FIRST::EVERY]


def test_reduction__transcripts_of_the_story__equal_readings(ecm: ModuleType) -> None:
    for body in story_transcripts():
        lines = body.splitlines()
        assert_equal(claude_transcript.FEED, lines, reduced_lines(ecm, lines))


def test_reduction__real_sessions__equal_readings(ecm: ModuleType) -> None:
    for name, body in corpus_bodies().items():
        if name.endswith(".jsonl"):
            lines = sampled(body)
            assert_equal(claude_transcript.FEED, lines, reduced_lines(ecm, lines))


def trap_files() -> list[Path]:
    told = [trap["files"] for trap in traps().values() if trap["format"] == "claude_transcript"]
    return sorted({TRAPS / name for files in told for name in files})


@pytest.mark.parametrize("path", trap_files(), ids=lambda path: path.name)
def test_reduction__traps__equal_readings(path: Path, ecm: ModuleType) -> None:
    lines = path.read_bytes().split(b"\n")
    assert_equal(claude_transcript.FEED, lines, reduced_lines(ecm, lines))


def test_reduction__hooks_of_the_story__equal_readings(ecm: ModuleType) -> None:
    payloads: list[dict[str, Any]] = [json.loads(delivery.body) for delivery in hooks()]
    entries = [{"received_at": inputs.NOW_MS / 1000, "payload": payload} for payload in payloads]
    small = [{**entry, "payload": ecm.reduced(entry["payload"])} for entry in entries]
    assert_equal(claude_hooks.FEED, [json.dumps(e).encode() for e in entries], [json.dumps(e).encode() for e in small])


def test_reduction__samples_of_the_status_line__equal_readings(ecm: ModuleType) -> None:
    lines = (INPUTS / "hosts" / "claude-code-2.1.197-statusline" / "statusline.jsonl").read_bytes().splitlines()
    small = [json.dumps(ecm.reduced_sample(json.loads(line))).encode() for line in lines]
    assert_equal(claude_statusline.FEED, lines, small)


def test_reduction__by_the_server_again__changes_nothing(ecm: ModuleType) -> None:
    for body in [*story_transcripts(), *map(Path.read_bytes, trap_files())]:
        for line in body.split(b"\n"):
            small = ecm.reduced_line(line)
            if small is not None:
                assert husk(small) == small
