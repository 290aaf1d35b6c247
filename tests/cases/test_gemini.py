"""Gemini CLI: the recorded story in any order and by any way, real sessions leaf by leaf, compressions."""

import json
import random
from typing import Any

import pytest

from sessions_app.models import Session, Team
from tests.support import deliveries as given
from tests.support.deliveries import INPUTS, Delivery
from tests.support.inputs import corpus_of_others, totals_of_others
from tests.support.pins import BOOK
from tests.support.told import nanos

STORY = INPUTS / "hosts" / "gemini-cli-0.61.0"
SESSION = "96c985ac-ea10-4925-a3b9-789fd9d98612"
LOGS = [Delivery("any-otlp-logs", line) for line in (STORY / "otlp-logs.jsonl").read_bytes().splitlines()]
METRICS = [Delivery("any-otlp-metrics", line) for line in (STORY / "otlp-metrics.jsonl").read_bytes().splitlines()]
TRACES = [Delivery("any-otlp-traces", line) for line in (STORY / "otlp-traces.jsonl").read_bytes().splitlines()]
HOOKS = [Delivery("gemini-hook", line) for line in (STORY / "hooks.jsonl").read_bytes().splitlines()]
CHAT = [Delivery("gemini-transcript", path.read_bytes()) for path in (STORY / "chats").iterdir()]
WAYS = {"telemetry": LOGS, "telemetry and metrics": [*LOGS, *METRICS, *TRACES], "chat log": CHAT, "all": []}
WAYS["all"] = [*HOOKS, *LOGS, *METRICS, *TRACES, *CHAT]
#: In each of these a message holds a tool's run and zeros for counts: no point of occupancy.
UNCOUNTED = {"gemini-cli/12.json": 1, "gemini-cli/13.json": 1}
FILES = sorted(name for name in totals_of_others() if name.startswith("gemini-cli/"))


def check(session: Session) -> None:
    assert (session.host, session.host_session_id, session.calls, session.aux_calls) == ("gemini", SESSION, 2, 0)
    assert (session.uncached_input, session.cache_read, session.output) == (50_000, 35_000, 104)
    assert list(session.call_rows.order_by("number").values_list("occupancy", flat=True)) == [35_000, 50_000]
    assert session.compactions == 0
    assert not session.compaction_rows.exists()


@pytest.mark.parametrize("way", WAYS)
def test_story__by_each_way__the_served_calls(way: str, teams: dict[str, Team]) -> None:
    given.deliver(teams["A"], WAYS[way], final=True)
    given.fold_everything()
    check(Session.objects.get())


@pytest.mark.parametrize("seed", range(3))
def test_story__any_order_doubled_and_split__the_served_calls(seed: int, teams: dict[str, Team]) -> None:
    rng = random.Random(seed)
    pieces = [piece for delivery in WAYS["all"] for piece in cut(delivery)]
    pieces += [piece for piece in pieces if rng.random() < 0.4]
    rng.shuffle(pieces)
    given.deliver(teams["A"], pieces, final=True)
    given.fold_everything()
    check(Session.objects.get())


def cut(delivery: Delivery) -> list[Delivery]:
    """Log records one by one, lines of the chat log with its first line each."""
    if delivery.feed == "gemini-transcript":
        head, *lines = delivery.body.splitlines()
        return [Delivery(delivery.feed, head + b"\n" + line + b"\n") for line in lines]
    export = json.loads(delivery.body)
    if "resourceLogs" not in export:
        return [delivery]
    return [
        export_of(resource["resource"], scope["scope"], [record])
        for resource in export["resourceLogs"]
        for scope in resource["scopeLogs"]
        for record in scope["logRecords"]
    ]


def export_of(resource: Any, scope: Any, records: list[Any]) -> Delivery:
    held = {"resource": resource, "scopeLogs": [{"scope": scope, "logRecords": records}]}
    return Delivery("any-otlp-logs", json.dumps({"resourceLogs": [held]}).encode())


@pytest.mark.parametrize("name", FILES)
def test_corpus__each_file__leaf_by_leaf(name: str) -> None:
    wanted = totals_of_others()[name]
    (fold,) = given.folded([Delivery("gemini-transcript", corpus_of_others()[name])], BOOK).values()
    fields, totals = fold.summary.fields, wanted["totals"]
    # Input holds what was cached; output leaves the thoughts out.
    assert fields["uncached_input"] == totals["input"] - totals["cached"] + totals["tool"]
    assert fields["cache_read"] == totals["cached"]
    assert fields["output"] == totals["output"] + totals["thoughts"]
    uncounted = UNCOUNTED.get(name, 0)
    assert (fields["calls"], fields["compactions"]) == (wanted["responses"] - uncounted, wanted["compactions"])
    assert sum(bound["count"] for bound in fields["lower_bound"]) == uncounted


def record(name: str, seconds: float, **attributes: Any) -> dict[str, Any]:
    told = {"event.name": f"gemini_cli.{name}", "session.id": "s", **attributes}
    values = {key: {"intValue" if isinstance(v, int) else "stringValue": v} for key, v in told.items()}
    return {"timeUnixNano": nanos(seconds), "attributes": [{"key": k, "value": v} for k, v in values.items()]}


def response(seconds: float, tokens: int, cached: int = 0, **more: Any) -> dict[str, Any]:
    counts = {"input_token_count": tokens, "cached_content_token_count": cached, "output_token_count": 10}
    return record("api_response", seconds, model="gemini-2.5-pro", duration_ms=500, role="main", **counts, **more)


def test_compression__told_by_telemetry__completed_with_its_own_call() -> None:
    records = [
        response(0, 900_000),
        response(10, 890_000),
        record("chat_compression", 12, tokens_before=900_000, tokens_after=120_000),
        response(20, 125_000),
    ]
    records[1]["attributes"] = [a for a in records[1]["attributes"] if a["key"] != "role"] + [
        {"key": "role", "value": {"stringValue": "utility_compressor"}}
    ]
    (fold,) = given.folded([export_of({}, {}, records)], BOOK).values()
    (compaction,) = fold.compactions
    assert (compaction.state, compaction.before_tokens, compaction.after_tokens) == ("completed", 900_000, 125_000)
    assert (fold.summary.fields["calls"], fold.summary.fields["aux_calls"]) == (2, 1)
    assert compaction.summary_call


def test_compression__that_made_it_larger__failed() -> None:
    records = [response(0, 900), record("chat_compression", 2, tokens_before=900, tokens_after=1_200)]
    (fold,) = given.folded([export_of({}, {}, records)], BOOK).values()
    assert [c.state for c in fold.compactions] == ["failed"]
    assert fold.summary.fields["compactions"] == 0


def test_tool_prompt__comes_on_top_of_the_input() -> None:
    (fold,) = given.folded([export_of({}, {}, [response(0, 100, 60, tool_token_count=7)])], BOOK).values()
    assert (fold.calls[0].leaves.uncached_input, fold.calls[0].leaves.cache_read) == (47, 60)
