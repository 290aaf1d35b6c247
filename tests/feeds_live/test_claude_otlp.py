"""Claude Code's telemetry: the recorded story, real exports, traps, and names that must not collide."""

import json
from decimal import Decimal
from typing import Any

import pytest

from sessions_app.feeds.base import Context, Feed
from sessions_app.feeds.claude_otlp import LOGS, METRICS
from sessions_app.kernel.readings import (
    CallReading,
    CompactionReading,
    CounterReading,
    Mark,
    MarkReading,
    Purpose,
    SessionReading,
    StepsReading,
)
from tests.feeds_live.exports import SESSION, log, logs, only, point, points, read, refused
from tests.support.inputs import INPUTS, NOW_MS, STORY, TRAPS, calls_of, joined, parsed, readings_of, sums_of, traps

REAL = INPUTS / "claude-otel"
#: The story's ten calls as they were served: uncached, read, write, output.
SERVED = [
    (call["in"], call["r"], call["w5"] + call.get("w1h", 0), call["out"])
    for call in json.loads((STORY / "served-usage.json").read_text())["turns"]
]
LEAVES = {"uncached_input": 53, "cache_read": 472_200, "cache_write": 324_500, "output": 4_450}


def story(kind: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(STORY.glob(f"otlp-{kind}-*.json"))]


def counted(bodies: list[bytes]) -> dict[str, int]:
    total: dict[str, int] = {}
    for reading in readings_of(METRICS, bodies).values():
        if isinstance(reading, CounterReading):
            total[reading.leaf] = total.get(reading.leaf, 0) + reading.value
    return total


def usd(nano: int) -> Decimal:
    return Decimal(nano).scaleb(-9)


def test_logs__recorded_story__ten_calls_with_the_served_usage() -> None:
    calls = sorted(calls_of(readings_of(LOGS, story("logs"))), key=lambda c: c.ended_ms or 0)
    told = [(c.uncached_input, c.cache_read, c.write_total, c.output) for c in calls]
    assert told == SERVED
    assert usd(sum(c.host_cost_nanousd or 0 for c in calls)) == Decimal("1.428819")
    assert {(c.write_5m, c.write_1h) for c in calls} == {(None, None)}
    sums = sums_of(calls)
    assert (sums["uncached_input"], sums["cache_read"], sums["output"]) == (53, 472_200, 4_450)
    assert (sums["cache_write_5m"], sums["cache_write_1h"]) == (324_500, 0)


def test_logs__recorded_story__purposes_and_threads() -> None:
    calls = calls_of(readings_of(LOGS, story("logs")))
    by_request = {c.request_id: (c.thread[1], c.purpose[1]) for c in calls}
    assert len(by_request) == 10
    assert by_request["req_mock00008"] == ("", Purpose.COMPACTION)
    assert by_request["req_mock00004"] == ("agent:general-purpose", Purpose.TURN)
    rest = set(by_request) - {"req_mock00008", "req_mock00004"}
    assert {by_request[name] for name in rest} == {("", Purpose.TURN)}


def test_logs__recorded_story__one_compaction_with_its_own_estimates() -> None:
    held = readings_of(LOGS, story("logs")).values()
    (compaction,) = [r for r in held if isinstance(r, CompactionReading)]
    assert (compaction.before_tokens, compaction.after_tokens, compaction.duration_ms) == (10_923, 651, 140)
    assert compaction.trigger is not None
    assert (compaction.trigger[1], compaction.succeeded) == ("manual", (0, "true"))
    assert compaction.at_ms == 1_796_077_198_854


def test_logs__recorded_story__prompts_without_the_compact_command() -> None:
    marks = [r for r in readings_of(LOGS, story("logs")).values() if isinstance(r, MarkReading)]
    assert sorted(m.key for m in marks if m.mark is Mark.PROMPT) == [
        "prompt:665aaa85-6fb8-4fb2-9898-165a2e51d527",
        "prompt:6ebc85a5-dd2f-4c34-ba44-01b8a8ee938d",
    ]


def test_logs__recorded_story__one_session_of_version_and_developer() -> None:
    facts = [r for r in readings_of(LOGS, story("logs")).values() if isinstance(r, SessionReading)]
    (fact,) = facts
    assert fact.version is not None
    assert fact.version[1] == "2.1.197"
    assert fact.developer is not None
    assert len(fact.developer[1]) == 32
    assert (fact.first_ms, fact.last_ms) == (1_796_077_195_741, 1_796_077_201_040)
    assert fact.agents == {"agent:general-purpose": "general-purpose"}


def test_metrics__recorded_story__sums_equal_the_calls() -> None:
    total = counted(story("metrics"))
    cost = total.pop("cost_nanousd")
    assert total == LEAVES
    assert usd(cost) == Decimal("1.428819")


@pytest.mark.parametrize(("feed", "kind"), [(LOGS, "logs"), (METRICS, "metrics")])
def test_telemetry__story_backwards_and_twice__same_readings(feed: Feed, kind: str) -> None:
    bodies = story(kind)
    assert readings_of(feed, [*reversed(bodies), *bodies]) == readings_of(feed, bodies)


def test_telemetry__received_again_later__nothing_changes() -> None:
    for feed, kind in ((LOGS, "logs"), (METRICS, "metrics")):
        items = [i for b in story(kind) for at in (NOW_MS, NOW_MS + 9_000) for i in feed.parse(b, Context(at)).items]
        assert joined(r for i in items for r in i.readings) == readings_of(feed, story(kind))


def test_corpus__real_logs__calls_and_cost_of_the_published_totals() -> None:
    wanted = json.loads((REAL / "totals.json").read_text())["claude-otel/1.jsonl"]
    calls = calls_of(readings_of(LOGS, exports("1.jsonl")))
    sums = sums_of(calls)
    assert len(calls) == wanted["responses"]
    assert {
        "input": sums["uncached_input"],
        "output": sums["output"],
        "cache_read": sums["cache_read"],
        "cache_write": sums["cache_write_5m"],
    } == wanted["totals"]
    assert usd(sum(c.host_cost_nanousd or 0 for c in calls)) == Decimal(str(wanted["cost_usd"]))


def test_corpus__real_metrics__sums_of_the_published_totals() -> None:
    wanted = json.loads((REAL / "totals.json").read_text())["claude-otel/2.jsonl"]
    total = counted(exports("2.jsonl"))
    assert usd(total.pop("cost_nanousd")) == Decimal(str(wanted["cost_usd"]))
    names = {"input": "uncached_input", "output": "output", "cacheRead": "cache_read", "cacheCreation": "cache_write"}
    assert total == {names[name]: value for name, value in wanted["totals"].items()}


def exports(name: str) -> list[bytes]:
    lines = (REAL / name).read_text().splitlines()
    return [json.dumps(json.loads(line)["body_json"]).encode() for line in lines]


def trap(number: str, name: str = "") -> tuple[list[bytes], dict[str, Any]]:
    trap = traps()[number]
    wanted = [name] if name else trap["files"]
    bodies = [b for n in wanted for b in (lines(n) if n.endswith("l") else [(TRAPS / n).read_bytes()])]
    return bodies, trap["expectation"]


def lines(name: str) -> list[bytes]:
    return (TRAPS / name).read_bytes().splitlines()


def test_t104__time_zero__the_observed_time_counts() -> None:
    bodies, wanted = trap("T104")
    (call,) = calls_of(readings_of(LOGS, bodies))
    assert call.ended_ms == 1_793_610_000_500
    assert (call.uncached_input, call.output) == (wanted["uncached_input"], wanted["output"])
    assert call.flags == ()


@pytest.mark.parametrize("number", ["T109", "T110"])
def test_counters__cumulative_with_restart_and_delta_with_retry__sums(number: str) -> None:
    bodies, wanted = trap(number)
    total = counted([*bodies, bodies[0]])
    leaves = {
        "uncached_input": "uncached_input",
        "output": "output",
        "cache_read": "cache_read",
        "cache_write_5m": "cache_write",
    }
    assert {name: total.get(leaf, 0) for name, leaf in leaves.items()} == {name: wanted[name] for name in leaves}


def test_t112__numbers_as_strings__same_ids_as_the_transcript() -> None:
    bodies, wanted = trap("T112", "T112.logs.json")
    calls = calls_of(readings_of(LOGS, bodies))
    assert sorted(c.request_id or "" for c in calls) == ["req_t112a", "req_t112b"]
    sums = sums_of(calls)
    assert (sums["uncached_input"], sums["output"]) == (wanted["uncached_input"], wanted["output"])
    metrics, _ = trap("T112", "T112.metrics.json")
    assert counted(metrics) == {"uncached_input": 150, "output": 15}


def test_call__resumed_process_with_the_same_sequence__two_calls() -> None:
    body = logs(*(log(at_ns=1_796_077_195_850_000_000 + s, event__sequence=20, input_tokens=5) for s in (0, 10**10)))
    assert len({c.key for c in read(LOGS, body, CallReading)}) == 2


def test_call__without_request_id__client_id_stands_in() -> None:
    call = only(LOGS, logs(log(client_request_id="c-1", input_tokens=5)), CallReading)
    assert call.request_id == "client:c-1"


def test_call__bad_host_price_or_duration__call_is_kept() -> None:
    body = logs(log(input_tokens=5, cost_usd="NaN", duration_ms=-4, request_id="r"))
    call = only(LOGS, body, CallReading)
    assert (call.uncached_input, call.host_cost_nanousd, call.duration_ms) == (5, None, None)
    assert call.first_ms == call.ended_ms == 1_796_077_195_850


def test_call__starts_before_it_ended() -> None:
    call = only(LOGS, logs(log(input_tokens=5, duration_ms="850", request_id="r")), CallReading)
    assert (call.first_ms, call.ended_ms) == (1_796_077_195_000, 1_796_077_195_850)


@pytest.mark.parametrize(
    ("source", "agent", "purpose", "thread"),
    [
        ("", "", Purpose.TURN, ""),
        ("repl_main_thread", "", Purpose.TURN, ""),
        ("repl_main_thread:outputStyle:default", "", Purpose.TURN, ""),
        ("sdk", "reviewer", Purpose.TURN, ""),
        ("agent:builtin:Explore", "Explore", Purpose.TURN, "agent:Explore"),
        ("agent:custom", "", Purpose.TURN, "agent:agent:custom"),
        ("subagent", "", Purpose.TURN, "agent:subagent"),
        ("Explore", "Explore", Purpose.TURN, "agent:Explore"),
        ("compact", "", Purpose.COMPACTION, ""),
        ("generate_session_title", "", Purpose.TITLE, ""),
        ("prompt_suggestion", "", Purpose.AUXILIARY, ""),
        ("auxiliary", "", Purpose.AUXILIARY, ""),
    ],
)
def test_call__query_source__thread_and_purpose(source: str, agent: str, purpose: Purpose, thread: str) -> None:
    named: dict[str, Any] = {"query_source": source, "agent__name": agent}
    call = only(LOGS, logs(log(input_tokens=5, **{k: v for k, v in named.items() if v})), CallReading)
    assert (call.purpose[1], call.thread[1]) == (purpose, thread)


def test_tool_result__sizes_by_tool_use() -> None:
    record = log("tool_result", tool_use_id="t1", tool_name="Bash", success="false", tool_result_size_bytes="8892")
    steps = only(LOGS, logs(record), StepsReading)
    assert (steps.tools["t1"].result_bytes, steps.tools["t1"].failed, steps.tools["t1"].name) == (8892, 1, "Bash")


def test_api_error__named_by_request_and_attempt() -> None:
    body = logs(
        *(log("api_error", request_id="r", attempt=n, status_code="529", error="what was said") for n in (1, 2))
    )
    marks = read(LOGS, body, MarkReading)
    assert [(m.mark, m.detail) for m in marks] == [(Mark.API_ERROR, (0, "529"))] * 2
    assert len({m.key for m in marks}) == 2


@pytest.mark.parametrize(
    ("body", "name"),
    [("claude_code.api_request", ""), ("api_request", "api_request"), ("anything said", "claude_code.api_request")],
)
def test_event__bare_or_prefixed_in_attribute_or_body__is_recognised(body: str, name: str) -> None:
    record = log(name, input_tokens=5)
    record["body"] = {"stringValue": body}
    if not name:
        record["attributes"] = record["attributes"][1:]
    assert only(LOGS, logs(record), CallReading).uncached_input == 5


def test_event__of_another_service__no_reading_and_no_refusal() -> None:
    record = log(input_tokens=5)
    record["body"] = {"stringValue": "codex.api_request"}
    resource = {"service.name": "codex_cli_rs", "service.version": "0.171.0"}
    outcome = parsed(LOGS, logs(record, resource=resource))
    assert [item.readings for item in outcome.items] == [()]
    renamed = logs(log(input_tokens=5), resource={"service.name": "our-laptops", "service.version": "today"})
    assert only(LOGS, renamed, CallReading).uncached_input == 5
    assert only(LOGS, renamed, SessionReading).version is None


def test_event__that_opens_no_session__no_reading() -> None:
    outcome = parsed(LOGS, logs(log("hook_registered"), log("plugin_loaded"), log("never_heard_of")))
    assert [item.readings for item in outcome.items] == [(), (), ()]


def test_call__without_session__refused_by_name() -> None:
    record = log(input_tokens=5)
    record["attributes"] = [a for a in record["attributes"] if a["key"] != "session.id"]
    where = "/resourceLogs/0/scopeLogs/0/logRecords/0"
    assert refused(parsed(LOGS, logs(record))) == [(1, f"{where}/attributes", "missing_session")]


def test_counter__two_skills_of_one_model__two_series() -> None:
    body = points(point(100, skill__name="a"), point(50, skill__name="b"))
    assert len({r.key for r in read(METRICS, body, CounterReading)}) == 2
    assert counted([body, body]) == {"uncached_input": 150}


@pytest.mark.parametrize("value", [-1, 1.5, "many", True, 1 << 80])
def test_counter__impossible_amount__refused_at_the_value(value: Any) -> None:
    data = point(value)
    ((position, pointer, _),) = refused(parsed(METRICS, points(data)))
    assert (position, pointer) == (1, "/resourceMetrics/0/scopeMetrics/0/metrics/0/sum/dataPoints/0/asInt")


def test_counter__other_metrics_and_gauges__no_reading() -> None:
    body = points(point(3), name="claude_code.session.count")
    assert read(METRICS, body, CounterReading) == []
    gauge = {"name": "claude_code.token.usage", "gauge": {"dataPoints": [point(3)]}}
    export = {"resourceMetrics": [{"scopeMetrics": [{"metrics": [gauge]}]}]}
    assert parsed(METRICS, json.dumps(export).encode()).items == []


def test_developer__same_person_in_any_spelling__one_digest_and_no_address() -> None:
    told = [
        only(LOGS, logs(log("user_prompt", user__email=mail)), SessionReading).developer
        for mail in ("Ann@Example.org", " ann@example.org")
    ]
    assert told[0] == told[1]
    outcome = parsed(LOGS, logs(log("user_prompt", user__email="ann@example.org", user__account_id="acc-1")))
    kept = str(outcome.items[0])
    assert "example.org" not in kept
    assert "acc-1" not in kept
    assert SESSION in kept
