"""Faults of the field in transcripts, at the feed: readings, joined and united, have the right sums."""

from typing import Any

import pytest

from sessions_app.feeds.claude_transcript import FEED
from sessions_app.kernel.identity import merged, unite
from sessions_app.kernel.readings import CompactionReading, Mark, MarkReading, Purpose, Signal
from tests.support.inputs import calls_of, joined, parsed, readings_of, sums_of, trap_bodies, traps

#: T125 is two tenants in one; what one tenant's feed sees is no mixture.
APART = {"T125"}
CASES = sorted(k for k, trap in traps().items() if trap["format"] == "claude_transcript" and k not in APART)
SUMS = ("uncached_input", "cache_read", "cache_write_5m", "cache_write_1h", "output")


@pytest.mark.parametrize("key", CASES)
def test_trap__transcript__right_sums_calls_and_refusals(key: str) -> None:
    wanted: dict[str, Any] = traps()[key]["expectation"]
    bodies = trap_bodies(key)
    held = readings_of(FEED, bodies)
    calls = [merged(group) for group in unite(calls_of(held))]
    turns = [call for call in calls if call.purpose[1] == Purpose.TURN]
    assert sums_of(calls) == {name: wanted[name] for name in SUMS}
    assert len(turns) == wanted["turns"]
    assert len(calls) - len(turns) == wanted.get("aux_calls", 0)
    assert len({name[1] for name in held}) == wanted["sessions"]
    assert sum(1 for call in turns if call.thread[1]) == wanted.get("subagent_turns", 0)
    boundaries = [r for r in held.values() if isinstance(r, CompactionReading) and r.signal is Signal.BOUNDARY]
    assert len(boundaries) == wanted["compactions"]
    # The torn first half of T10 is an error only if somebody says that it is whole.
    refusals = [r for body in bodies[-1:] if key == "T10" for r in parsed(FEED, body).refusals]
    if key != "T10":
        refusals = [r for body in bodies for r in parsed(FEED, body).refusals]
    assert len(refusals) == wanted["errors"]


@pytest.mark.parametrize("key", CASES)
def test_trap__transcript_twice_and_backwards__the_same_readings(key: str) -> None:
    bodies = trap_bodies(key)
    readings = [r for body in bodies for item in parsed(FEED, body).items for r in item.readings]
    assert joined([*reversed(readings), *readings]) == joined(readings)


def test_trap__t10_half_a_line__one_call_and_a_pending_tail() -> None:
    part, whole = trap_bodies("T10")
    first = parsed(FEED, part, final=False)
    assert len(calls_of(joined(r for i in first.items for r in i.readings))) == 1
    assert not first.refusals
    assert first.pending_bytes == len(part) - part.rfind(b"\n") - 1
    assert whole.startswith(part)


def test_trap__t11_glued_line__refused_at_its_line_number() -> None:
    (refusal,) = parsed(FEED, trap_bodies("T11")[0]).refusals
    assert (refusal.position, refusal.code) == (2, "not_json")


def test_trap__t17_placeholder__one_error_and_no_model_of_that_name() -> None:
    held = readings_of(FEED, trap_bodies("T17"))
    marks = [r.mark for r in held.values() if isinstance(r, MarkReading)]
    assert marks == [Mark.API_ERROR]
    assert {call.model and call.model[1] for call in calls_of(held)} == {"claude-sonnet-4-5"}


def test_trap__t67_triggers__never_guessed() -> None:
    held = readings_of(FEED, trap_bodies("T67"))
    triggers = [
        r.trigger and r.trigger[1]
        for r in held.values()
        if isinstance(r, CompactionReading) and r.signal is Signal.BOUNDARY
    ]
    assert sorted(map(str, triggers)) == ["None", "auto", "manual"]


def test_trap__t73_passes__occupancy_of_the_last_one() -> None:
    calls = calls_of(readings_of(FEED, trap_bodies("T73")))
    assert [call.occupancy for call in calls if call.purpose[1] == Purpose.TURN] == [124_003]


@pytest.mark.parametrize("key", ["T91", "T92", "T94"])
def test_trap__bad_count__refused_with_a_pointer_or_as_no_json(key: str) -> None:
    for refusal in parsed(FEED, trap_bodies(key)[0]).refusals:
        assert refusal.pointer == "/message/usage/input_tokens" or refusal.code == "not_json"


@pytest.mark.parametrize(
    ("key", "flags"),
    [
        ("T89", [(), ("utf8_replaced",)]),
        ("T101", [(), ("impossible_time",), ("impossible_time",)]),
        ("T103", [("naive_time",)]),
    ],
)
def test_trap__odd_records__kept_and_flagged(key: str, flags: list[tuple[str, ...]]) -> None:
    assert sorted(call.flags for call in calls_of(readings_of(FEED, trap_bodies(key)))) == flags
