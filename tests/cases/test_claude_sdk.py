"""The SDK's stream: a transcript in snake case, without times, ordered by place; joined by message id."""

import json
from typing import Any

from sessions_app.feeds.base import Context
from sessions_app.feeds.husk import husk
from sessions_app.feeds.registry import FEEDS
from tests.support import deliveries as given
from tests.support.deliveries import Delivery
from tests.support.pins import BOOK
from tests.support.told import call, transcript, usage

INIT = {"type": "system", "subtype": "init", "session_id": "s", "cwd": "/srv/app", "model": "claude-sonnet-4-5"}


def step(message: str, used: Any, **fields: Any) -> dict[str, Any]:
    told = {"id": message, "model": "claude-sonnet-4-5", "content": [], "stop_reason": None, "usage": used}
    return {"type": "assistant", "session_id": "s", "uuid": f"u-{message}", "message": told, **fields}


def result(**fields: Any) -> dict[str, Any]:
    models = {"claude-sonnet-4-5": {"contextWindow": 200_000, "outputTokens": 90}}
    told = {"type": "result", "subtype": "success", "session_id": "s", "uuid": "u-r", "is_error": False}
    return {**told, "total_cost_usd": 0.5, "modelUsage": models, **fields}


def stream(*lines: dict[str, Any]) -> Delivery:
    return Delivery("claude-sdk-transcript", b"".join(json.dumps(line).encode() + b"\n" for line in lines))


LINES = (
    {**INIT, "claude_code_version": "2.1.197"},
    step("m1", usage(10, 0, 1_000, 3)),
    step("m2", usage(10, 1_000, 2_000, 4)),
    step("m3", usage(5, 0, 500, 2), parent_tool_use_id="toolu_1"),
    result(),
)


def test_stream__in_the_order_of_its_lines__calls_threads_window_and_cost() -> None:
    (fold,) = given.folded([stream(*LINES)], BOOK).values()
    fields = fold.summary.fields
    assert [(c.thread, c.occupancy) for c in fold.calls] == [("", 1_010), ("", 3_010), ("toolu_1", 505)]
    assert (fields["window"], fields["window_origin"], str(fields["host_cost_usd"])) == (
        200_000,
        "stated",
        "0.500000000",
    )
    assert (fields["version"], fold.summary.project) == ("2.1.197", "app")


def test_stream__outputs_of_steps__lower_bound() -> None:
    (fold,) = given.folded([stream(*LINES)], BOOK).values()
    assert [(b["code"], b["count"]) for b in fold.summary.fields["lower_bound"]] == [("output_partial", 3)]


def test_stream_and_transcript__of_one_session__each_call_once_with_its_output() -> None:
    lines = [call("s", "m1", 0, usage(10, 0, 1_000, 300)), call("s", "m2", 9, usage(10, 1_000, 2_000, 400))]
    (fold,) = given.folded([stream(*LINES), transcript(*lines)], BOOK).values()
    assert (fold.summary.fields["calls"], fold.summary.fields["output"]) == (3, 702)


def test_stream__compaction__by_its_boundary_in_snake_case() -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "session_id": "s", "uuid": "u-b"}
    told = {**boundary, "compact_metadata": {"trigger": "auto", "pre_tokens": 150_000}}
    (fold,) = given.folded([stream(LINES[1], told, LINES[2])], BOOK).values()
    (compaction,) = fold.compactions
    assert (compaction.state, compaction.trigger, compaction.before_tokens) == ("completed", "auto", 150_000)
    assert compaction.after_tokens == 3_010


def test_stream__a_line_that_calls_itself_reduced__its_husk_stays_the_same() -> None:
    for item in FEEDS["claude-sdk-transcript"].parse(b'{"~bytes":13}\n', Context(given.NOW_MS)).items:
        assert husk(item.husk) == item.husk
