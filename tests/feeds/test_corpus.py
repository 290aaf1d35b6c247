"""Real sessions: token sums of every file equal the independently computed totals, leaf by leaf."""

import json
from typing import Any

import pytest

from sessions_app.feeds.base import Context
from sessions_app.feeds.claude_transcript import FEED
from sessions_app.feeds.husk import husk
from sessions_app.kernel.readings import CallReading, CompactionReading, Signal, decode, encode
from sessions_app.kernel.usage import leaves_of
from tests.support.inputs import NOW_MS, calls_of, corpus_bodies, corpus_totals, joined, parsed, readings_of

FILES = sorted(corpus_totals())
LEAVES = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "cache_write_unsplit", "output")
#: Hand-made files: a string, a number and a list stand as lines among the records.
ODD_LINES = {"claude-code/93.jsonl": [(13, "not_an_object"), (15, "not_an_object"), (16, "not_an_object")]}


def sums(calls: list[CallReading]) -> dict[str, int]:
    """Leaves by the names of the totals, which keep writes of unknown lifetime apart from the 5-minute ones."""
    leaves = [leaves_of(call) for call in calls]
    return {
        "input": sum(one.uncached_input for one in leaves),
        "cache_read": sum(one.cache_read for one in leaves),
        "cache_write_5m": sum(one.cache_write_5m - one.cache_write_unknown_ttl for one in leaves),
        "cache_write_1h": sum(one.cache_write_1h for one in leaves),
        "cache_write_unsplit": sum(one.cache_write_unknown_ttl for one in leaves),
        "output": sum(one.output for one in leaves),
    }


@pytest.mark.parametrize("name", FILES)
def test_corpus__one_file__equals_its_totals(name: str) -> None:
    totals = corpus_totals()[name]
    outcome = parsed(FEED, corpus_bodies()[name])
    held = joined(r for item in outcome.items for r in item.readings)
    calls = calls_of(held)
    assert sums(calls) == {leaf: totals["totals"].get(leaf, 0) for leaf in LEAVES}
    assert len(calls) == totals["responses"]
    assert [(r.position, r.code) for r in outcome.refusals] == ODD_LINES.get(name, [])
    signals = [r.signal for r in held.values() if isinstance(r, CompactionReading)]
    assert signals.count(Signal.BOUNDARY) == totals["compactions"]
    assert signals.count(Signal.MICRO) == totals["microcompactions"]
    assert signals.count(Signal.SUMMARY) == totals["compact_summaries"]


def plain_tally() -> dict[str, int]:
    """All files together by the rule of the totals: a response is message.id, its last line wins; nothing of ours."""
    last: dict[str, dict[str, Any]] = {}
    for body in corpus_bodies().values():
        for line in body.split(b"\n"):
            record = json.loads(line) if line.strip() else None
            if not isinstance(record, dict) or record.get("type") != "assistant":
                continue
            message = record.get("message")
            if not isinstance(message, dict) or not message.get("usage"):
                continue
            if message["model"] != "<synthetic>":
                held = last.setdefault(message["id"], message["usage"])
                if message["usage"]["output_tokens"] >= held["output_tokens"]:
                    last[message["id"]] = message["usage"]
    return {
        "responses": len(last),
        "input": sum(usage["input_tokens"] for usage in last.values()),
        "cache_read": sum(usage.get("cache_read_input_tokens", 0) for usage in last.values()),
        "output": sum(usage["output_tokens"] for usage in last.values()),
    }


def test_corpus__all_files_together__shared_responses_count_once() -> None:
    calls: dict[str, CallReading] = {}
    for call in calls_of(readings_of(FEED, corpus_bodies().values())):
        # One response may stand in several files under several sessions; the session is no part of its name.
        own = decode("call", encode(call))
        assert isinstance(own, CallReading)
        calls[call.key] = calls[call.key].merge(own) if call.key in calls else own
    together = sums(list(calls.values()))
    tally = plain_tally()
    assert len(calls) == tally["responses"] < sum(corpus_totals()[name]["responses"] for name in FILES)
    assert {leaf: together[leaf] for leaf in ("input", "cache_read", "output")} == {
        leaf: tally[leaf] for leaf in ("input", "cache_read", "output")
    }


def test_corpus__read_again_from_the_husks__the_same_readings() -> None:
    for name in FILES[::5]:
        for item in parsed(FEED, corpus_bodies()[name]).items:
            assert FEED.read(husk(item.husk), Context(received_ms=NOW_MS)) == item.readings
