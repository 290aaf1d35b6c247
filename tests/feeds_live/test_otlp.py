"""OTLP as JSON: shapes of real exporters are taken, wrong ones refused where they stand."""

import json
from typing import Any

import pytest

from sessions_app.feeds.base import Context, Feed, Refused
from sessions_app.feeds.claude_otlp import LOGS, METRICS
from sessions_app.feeds.husk import husk
from sessions_app.kernel.readings import CallReading, CounterReading
from tests.feeds_live.exports import attributes, log, logs, only, point, points, refused
from tests.support.inputs import NOW_MS, STORY, parsed

RECORD = "/resourceLogs/0/scopeLogs/0/logRecords"


def with_attribute(name: str, value: dict[str, Any]) -> dict[str, Any]:
    record = log(request_id="r")
    record["attributes"].append({"key": name, "value": value})
    return record


@pytest.mark.parametrize(
    "value",
    [{"intValue": 5}, {"intValue": "5"}, {"doubleValue": 5.0}, {"stringValue": "5"}, {"int_value": "5"}],
)
def test_integer__however_it_is_written__is_read(value: dict[str, Any]) -> None:
    assert only(LOGS, logs(with_attribute("input_tokens", value)), CallReading).uncached_input == 5


@pytest.mark.parametrize(
    "value",
    [
        {"intValue": -1},
        {"intValue": "5.5"},
        {"doubleValue": 5.5},
        {"boolValue": True},
        {"stringValue": "1,000"},
        {"stringValue": "five"},
        {"intValue": 1 << 63},
        {"intValue": 10**4_000},
    ],
)
def test_integer__that_is_none__refused_at_its_attribute(value: dict[str, Any]) -> None:
    outcome = parsed(LOGS, logs(log(input_tokens=1, request_id="a"), with_attribute("input_tokens", value)))
    place = len(log(request_id="r")["attributes"])
    assert [(p, at) for p, at, _ in refused(outcome)] == [(2, f"{RECORD}/1/attributes/{place}")]
    assert len(outcome.items) == 1


@pytest.mark.parametrize("value", [{}, None, {"stringValue": None}, {"arrayValue": {"values": []}}])
def test_attribute__without_a_plain_value__says_nothing(value: Any) -> None:
    record = log(input_tokens=5)
    record["attributes"].append({"key": "output_tokens", "value": value})
    assert only(LOGS, logs(record), CallReading).output is None


def test_attributes__of_the_resource__stand_under_those_of_the_record() -> None:
    shared = {"service.name": "claude-code", "session.id": "of the resource", "input_tokens": 7, "output_tokens": 8}
    record = {
        "timeUnixNano": "1796077195850000000",
        "body": {"stringValue": "claude_code.api_request"},
        "attributes": attributes({"session.id": "own", "input_tokens": 5}),
    }
    call = only(LOGS, logs(record, resource=shared), CallReading)
    assert (call.session, call.uncached_input, call.output) == ("own", 5, 8)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ({"timeUnixNano": "1796077195850000000", "observedTimeUnixNano": "1796077196000000000"}, 1_796_077_195_850),
        ({"timeUnixNano": 1796077195850000000}, 1_796_077_195_850),
        ({"timeUnixNano": "0", "observedTimeUnixNano": "1796077196000000000"}, 1_796_077_196_000),
        ({"timeUnixNano": 0, "observedTimeUnixNano": 0}, 1_796_077_195_849),
        ({}, 1_796_077_195_849),
        ({"timeUnixNano": "soon"}, 1_796_077_195_849),
        ({"time_unix_nano": "1796077195850000000"}, 1_796_077_195_850),
    ],
)
def test_time__the_first_that_is_told(times: dict[str, Any], expected: int) -> None:
    record = log(input_tokens=5, event__timestamp="2026-11-30T22:19:55.849Z")
    del record["timeUnixNano"]
    assert only(LOGS, logs({**record, **times}), CallReading).ended_ms == expected


@pytest.mark.parametrize("nanos", ["1000000000", "9999999999000000000"])
def test_time__impossible__the_receipt_stands_in_and_it_is_flagged(nanos: str) -> None:
    record = {**log(input_tokens=5), "timeUnixNano": nanos}
    call = only(LOGS, logs(record), CallReading, received_ms=1_796_115_600_000)
    assert (call.ended_ms, call.received_ms, call.flags) == (None, 1_796_115_600_000, ("impossible_time",))


def test_names__in_snake_case__are_taken() -> None:
    record = {**log(input_tokens=5), "time_unix_nano": "1796077195850000000"}
    export = {"resource_logs": [{"scope_logs": [{"log_records": [record]}]}]}
    assert only(LOGS, json.dumps(export).encode(), CallReading).uncached_input == 5
    data = {"attributes": point(1)["attributes"], "as_int": "9"}
    metric = {"name": "claude_code.token.usage", "sum": {"aggregation_temporality": 2, "data_points": [data]}}
    export = {"resource_metrics": [{"scope_metrics": [{"metrics": [metric]}]}]}
    assert only(METRICS, json.dumps(export).encode(), CounterReading).value == 9


@pytest.mark.parametrize(
    ("export", "pointer", "code"),
    [
        ({"resourceLogs": [7]}, "/resourceLogs/0", "not_an_object"),
        ({"resourceLogs": [{"resource": 5}]}, "/resourceLogs/0/resource/attributes", "not_a_list"),
        ({"resourceLogs": [{"scopeLogs": {"a": 1}}]}, "/resourceLogs/0/scopeLogs", "not_an_object"),
        ({"resourceLogs": [{"scopeLogs": [None]}]}, "/resourceLogs/0/scopeLogs/0", "not_an_object"),
        ({"resourceLogs": [{"scopeLogs": [{"logRecords": "x"}]}]}, RECORD, "not_an_object"),
        ({"resourceLogs": [{"scopeLogs": [{"logRecords": [[]]}]}]}, f"{RECORD}/0", "not_an_object"),
        (
            {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"attributes": {}}]}]}]},
            f"{RECORD}/0/attributes",
            "not_a_list",
        ),
        (
            {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"attributes": [{"key": "a"}, 3]}]}]}]},
            f"{RECORD}/0/attributes/1",
            "not_an_attribute",
        ),
    ],
)
def test_shape__wrong__refused_where_it_stands(export: Any, pointer: str, code: str) -> None:
    outcome = parsed(LOGS, json.dumps(export).encode())
    assert refused(outcome) == [(1, pointer, code)]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "not_json"),
        (b"[]", "not_an_object"),
        (b'{"resourceLogs":{}}', "not_a_list"),
        (b'{"resourceMetrics":[]}', "wrong_signal"),
        (b'{"resourceLogs":' + b"[" * 5_000 + b"]" * 5_000 + b"}", "too_deep"),
        (b"\x0a\x12\x00protobuf", "not_json"),
    ],
)
def test_body__in_which_no_record_can_be_told_apart__refused_as_a_whole(body: bytes, code: str) -> None:
    with pytest.raises(Refused) as caught:
        parsed(LOGS, body)
    assert caught.value.code == code


@pytest.mark.parametrize("body", [b"{}", b'{"resourceLogs":[]}', b'{"resourceLogs":null}', b'{"resourceLogs":[{}]}'])
def test_body__without_records__nothing_to_say(body: bytes) -> None:
    outcome = parsed(LOGS, body)
    assert (outcome.items, outcome.refusals) == ([], [])


def test_body__of_ten_megabytes__is_read() -> None:
    outcome = parsed(LOGS, logs(*(log(input_tokens=1, request_id=f"r{n}", error="x" * 9_000) for n in range(1_100))))
    assert len(outcome.items) == 1_100
    assert outcome.refusals == []


def test_names__with_half_a_surrogate__no_exception() -> None:
    body = points(point(5, skill__name="\ud800"), name="claude_code.token.usage")
    assert only(METRICS, body, CounterReading).value == 5


@pytest.mark.parametrize("feed", [LOGS, METRICS])
def test_husk__of_every_record__is_its_own_husk_and_reads_the_same(feed: Feed) -> None:
    kind = "logs" if feed is LOGS else "metrics"
    for path in sorted(STORY.glob(f"otlp-{kind}-*.json")):
        for item in parsed(feed, path.read_bytes()).items:
            assert husk(item.husk) == item.husk
            stored = json.loads(json.dumps(item.husk))
            assert feed.read(stored, Context(received_ms=NOW_MS, final=True)) == item.readings
