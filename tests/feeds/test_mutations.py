"""Damaged and hostile transcripts: lines are refused, nothing else happens."""

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.feeds.base import Context, Refused
from sessions_app.feeds.claude_transcript import FEED
from sessions_app.feeds.husk import husk
from sessions_app.kernel.readings import encode
from tests.support.inputs import NOW_MS, corpus_bodies, parsed, story_transcripts, trap_bodies, traps

SAMPLES = [
    *story_transcripts(),
    *(body for key, trap in traps().items() if trap["format"] == "claude_transcript" for body in trap_bodies(key)),
]
NASTY = (
    b"\x00",
    b"\xff",
    b"\n",
    b'"',
    b"{",
    b"}",
    b"[",
    b"\\",
    b"-",
    b"9" * 30,
    b"1e999",
    b"null",
    b"\\ud800",
    b"~bytes",
)


def damaged(body: bytes, rng: random.Random) -> bytes:
    """The body with some bytes replaced, inserted or cut out."""
    buffer = bytearray(body)
    for _ in range(rng.randint(1, 12)):
        at = rng.randrange(len(buffer) + 1)
        buffer[at : at + rng.randint(0, 6)] = rng.choice(NASTY)
    return bytes(buffer)


@pytest.mark.parametrize("seed", range(60))
def test_transcript__bytes_damaged__only_refusals(seed: int) -> None:
    rng = random.Random(seed)
    for body in rng.sample(SAMPLES, 6):
        if len(body) < 100_000:
            check(damaged(body, rng))


def check(body: bytes) -> None:
    for final in (False, True):
        for item in parsed(FEED, body, final=final).items:
            for reading in item.readings:
                encode(reading).encode()


LINES = [json.loads(line) for body in story_transcripts() for line in body.split(b"\n") if line]
LINES += [json.loads(line) for line in corpus_bodies()["claude-code/11.jsonl"].split(b"\n")[:60] if line]
JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.just({"~bytes": 3})),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["type", "id", "text", "~bytes", "sessionId", "input_tokens"]), inner, max_size=3
        ),
    ),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a record that can be replaced."""
    found = [path] if path else []
    if isinstance(value, dict):
        found += [place for key, inner in value.items() for place in places(inner, (*path, key))]
    elif isinstance(value, list):
        found += [place for index, inner in enumerate(value) for place in places(inner, (*path, index))]
    return found


def replaced(value: Any, path: tuple[Any, ...], junk: Any) -> Any:
    """The value with another one at a place."""
    if not path:
        return junk
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], junk)
    return copy


@settings(max_examples=400)
@given(st.data())
def test_transcript__any_field_replaced_by_anything__read_or_refused(data: st.DataObject) -> None:
    record = data.draw(st.sampled_from(LINES))
    for _ in range(data.draw(st.integers(1, 3))):
        options = places(record)
        if options:
            record = replaced(record, data.draw(st.sampled_from(options)), data.draw(JUNK))
    if not isinstance(record, dict):
        return
    try:
        reduced = husk(record)
        readings = FEED.read(reduced, Context(received_ms=NOW_MS))
    except Refused:
        return
    assert husk(reduced) == reduced
    for reading in readings:
        encode(reading).encode()
