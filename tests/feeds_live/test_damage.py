"""Damaged deliveries: whatever is changed in them, nothing is raised but Refused, and what is kept can be stored."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from sessions_app.feeds.base import Context, Feed, Parsed, Refused
from sessions_app.feeds.husk import husk
from sessions_app.feeds.registry import FEEDS
from sessions_app.kernel.readings import encode
from tests.feeds_live.test_canonical import RECORDS
from tests.feeds_open.test_provider_usage import VECTORS, record
from tests.support.inputs import INPUTS, NOW_MS, STORY, corpus_of_others, trap_bodies

ROUNDS = 250
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 1e300, 1 << 63, 1 << 64, 10**400, "", "\x00", "\ud800", "~", "a b", "/etc/passwd"),
    *("9" * 500, "x" * 5_000, "NaN", [], {}, [[]], [None], {"": {}}, {"~bytes": -1}, {"~bytes": "x"}, {"\x00": 1}),
    *({"key": None}, {"stringValue": {}}, {"payload": 5}, {"payload": {"payload": {}}}),
)


def whole(name: str, *paths: str) -> list[Any]:
    return [json.loads((STORY / path).read_text()) for path in paths]


def lines(path: str) -> list[Any]:
    return [json.loads(line) for line in (INPUTS / "hosts" / path).read_text().splitlines()]


def opencode_documents() -> list[Any]:
    exported = json.loads(corpus_of_others()["opencode/22.json"])
    return [exported, *(json.loads(body) for number in ("T46", "T47") for body in trap_bodies(number))]


SAMPLES: dict[str, list[Any]] = {
    "canonical": [RECORDS, *RECORDS],
    "claude-code-hook": lines("claude-code-2.1.197/hooks.jsonl"),
    "claude-code-otlp-logs": whole("logs", "otlp-logs-3.json"),
    "claude-code-otlp-metrics": whole("metrics", "otlp-metrics-1.json"),
    "any-otlp-traces": [json.loads(body) for number in ("T31", "T107", "T113") for body in trap_bodies(number)],
    "litellm-proxy": [json.loads(body) for number in ("T28", "T41", "T119") for body in trap_bodies(number)],
    "usage-proxy": [json.loads(record(json.loads(usage))) for usage, _, _ in VECTORS.values()],
    "gemini-hook": lines("gemini-cli-0.61.0/hooks.jsonl"),
    "gemini-transcript": [json.loads(corpus_of_others()[f"gemini-cli/{n}.json"]) for n in (1, 12)],
    "cursor-hook": [json.loads(line) for line in corpus_of_others()["cursor-hooks/1.jsonl"].splitlines()],
    "opencode-hook": lines("opencode-1.18.33/plugin-events.jsonl"),
    "opencode-transcript": opencode_documents(),
    "codex-hook": lines("codex-0.171.0/hooks.jsonl"),
    "claude-code-statusline": lines("claude-code-2.1.197-statusline/statusline.jsonl"),
}


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) of a tree."""
    for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
        yield tree, key
        if isinstance(tree[key], dict | list):
            yield from places(tree[key])


def odd(rng: random.Random) -> Any:
    """An odd value, its own copy: one that is damaged again must not hold itself."""
    return copy.deepcopy(rng.choice(ODD))


def damaged(sample: Any, rng: random.Random) -> Any:
    """A copy with some values replaced, removed, doubled or put under another key."""
    holder = [copy.deepcopy(sample)]
    for _ in range(rng.randint(1, 4)):
        tree, key = rng.choice(list(places(holder)))
        act = rng.randrange(5)
        if act == 0 and isinstance(tree, dict):
            del tree[key]
        elif act == 1 and isinstance(tree, dict):
            tree[rng.choice(["", "\ud800", "x" * 300, "~bytes", "~flags", "type", "payload"])] = odd(rng)
        elif act == 2:
            _, other = rng.choice(list(places(holder)))
            tree[key] = copy.deepcopy(tree.get(other) if isinstance(tree, dict) else tree[key])
        else:
            tree[key] = odd(rng)
    return holder[0]


def check(feed: Feed, outcome: Parsed) -> None:
    for item in outcome.items:
        stored = msgspec.json.encode(item.husk, order="sorted")
        assert b"\\u0000" not in stored
        assert husk(item.husk) == item.husk
        assert feed.read(msgspec.json.decode(stored), Context(NOW_MS)) == item.readings
        for reading in item.readings:
            told = encode(reading)
            assert "\\u0000" not in told
            assert reading.session
            for name in reading.__struct_fields__:
                value = getattr(reading, name)
                assert not isinstance(value, int) or -(1 << 63) <= value < 1 << 63, name
    for refusal in (*outcome.refusals, *outcome.warnings):
        assert refusal.position >= 1
        assert refusal.code.isidentifier()
        assert refusal.message
        json.dumps(refusal.pointer).encode()


@pytest.mark.parametrize("name", SAMPLES)
def test_feed__damaged_values__only_refusals(name: str) -> None:
    rng = random.Random(name)
    feed = FEEDS[name]
    read = 0
    for _ in range(ROUNDS):
        body = json.dumps(damaged(rng.choice(SAMPLES[name]), rng)).encode()
        try:
            outcome = feed.parse(body, Context(NOW_MS))
        except Refused:
            continue
        check(feed, outcome)
        read += len(outcome.items)
    assert read > ROUNDS // 4


@pytest.mark.parametrize("name", SAMPLES)
def test_feed__damaged_bytes__only_refusals(name: str) -> None:
    rng = random.Random(name)
    feed = FEEDS[name]
    for _ in range(ROUNDS):
        body = bytearray(json.dumps(rng.choice(SAMPLES[name])).encode())
        for _ in range(rng.randint(1, 4)):
            start = rng.randrange(len(body))
            body[start : start + rng.choice([0, 1, 1, 20])] = rng.choice(
                [b"", b'"', b"{", b"]", b"\xff", b"\n", b"\x00", b"\\ud800", b"-9e999", rng.randbytes(3)]
            )
        try:
            outcome = feed.parse(bytes(body), Context(NOW_MS))
        except Refused:
            continue
        check(feed, outcome)


@pytest.mark.parametrize("name", SAMPLES)
def test_body__byte_order_mark_first__read_as_without(name: str) -> None:
    context = Context(NOW_MS)
    body = json.dumps(SAMPLES[name][0]).encode()
    marked = FEEDS[name].parse(b"\xef\xbb\xbf" + body, context)
    assert marked == FEEDS[name].parse(body, context)
    assert marked.items
