"""The doors of OTLP as real senders use them: JSON and protobuf, compressed, chunked, partly bad, sent twice."""

import gzip
import json
from typing import Any

import pytest
from django.test import Client
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from sessions_app.models import Session
from tests.support import deliveries as story
from tests.support.inputs import TRAPS, traps
from tests.support.otlp import spans_as_protobuf
from tests.support.world import World

PROTOBUF = "application/x-protobuf"


def post(client: Client, world: World, signal: str, body: bytes, kind: str = "application/json", **headers: str) -> Any:
    key = {"Authorization": f"Bearer {world.secrets['ingest_key']}"}
    return client.post(f"/otlp/v1/{signal}", body, content_type=kind, headers={**key, **headers})


def trap(name: str) -> bytes:
    return (TRAPS / name).read_bytes()


def wanted(number: str) -> dict[str, Any]:
    found: dict[str, Any] = traps()[number]["expectation"]
    return found


def tokens() -> tuple[int, int, int]:
    story.fold_everything()
    sessions = Session.objects.all()
    return sum(s.calls for s in sessions), sum(s.uncached_input for s in sessions), sum(s.output for s in sessions)


def test_traces__one_bad_span__partial_success_as_json(client: Client, world: World) -> None:
    answer = post(client, world, "traces", trap("T106.json"))
    assert answer.status_code == wanted("T106")["http_status"]
    told = answer.json()["partialSuccess"]
    assert told["rejectedSpans"] == str(wanted("T106")["rejected_spans"])
    assert told["errorMessage"].startswith("/resourceSpans/0/scopeSpans/0/spans/1/spanId")
    assert tokens() == (2, 30, 3)


def test_traces__one_bad_span_in_protobuf__partial_success_as_protobuf(client: Client, world: World) -> None:
    answer = post(client, world, "traces", spans_as_protobuf(trap("T106.json")), PROTOBUF)
    assert (answer.status_code, answer["Content-Type"]) == (200, PROTOBUF)
    told = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert (told.rejected_spans, told.error_message.split(":")[0]) == (
        1,
        "/resourceSpans/0/scopeSpans/0/spans/1/spanId",
    )
    assert tokens() == (2, 30, 3)


def test_traces__json_then_protobuf_of_the_same__counted_once(client: Client, world: World) -> None:
    body = trap("T115.json")
    assert post(client, world, "traces", body).json() == {}
    answer = post(client, world, "traces", spans_as_protobuf(body), PROTOBUF)
    assert (answer.status_code, answer.content) == (200, b"")
    assert tokens() == (1, 70, 7)


@pytest.mark.parametrize("coding", ["gzip", "x-gzip"])
def test_traces__compressed__read(coding: str, client: Client, world: World) -> None:
    answer = post(client, world, "traces", trap("T149.json.gz"), **{"Content-Encoding": coding})
    assert answer.status_code == 200
    assert tokens() == (1, 33, 4)


def test_traces__another_coding__415_names_those_that_are_taken(client: Client, world: World) -> None:
    answer = post(client, world, "traces", b"x", **{"Content-Encoding": "br"})
    assert (answer.status_code, answer.json()["code"]) == (415, "bad_encoding")
    assert "gzip" in answer.json()["detail"]


def test_traces__a_bomb__413_and_nothing_stored(client: Client, world: World) -> None:
    answer = post(client, world, "traces", trap("T116.json.gz"), **{"Content-Encoding": "gzip"})
    assert answer.status_code == wanted("T116")["http_status"]
    assert not Session.objects.exists()


@pytest.mark.parametrize("signal", ["logs", "metrics", "traces"])
def test_protobuf__that_is_none__400(signal: str, client: Client, world: World) -> None:
    answer = post(client, world, signal, b'{"resourceSpans":[]}', PROTOBUF)
    assert (answer.status_code, answer.json()["code"]) == (400, "not_protobuf")


def test_logs_and_metrics__in_protobuf__as_in_json(client: Client, world: World) -> None:
    for signal, message in (("logs", ExportLogsServiceRequest()), ("metrics", ExportMetricsServiceRequest())):
        for path in sorted(story.STORY.glob(f"otlp-{signal}-*.json")):
            body = Parse(path.read_bytes(), message).SerializeToString()
            answer = post(client, world, signal, gzip.compress(body), PROTOBUF, **{"Content-Encoding": "gzip"})
            assert (answer.status_code, answer.content) == (200, b"")
    story.fold_everything()
    session = Session.objects.get()
    # Telemetry alone: all writes are of unknown lifetime (decision 1).
    assert (session.calls + session.aux_calls, session.cache_read, session.cache_write_5m) == (10, 472_200, 324_500)
    assert (session.host, session.compactions) == ("claude-code", 1)


def test_logs__a_bad_count_in_protobuf__refused_alone(client: Client, world: World) -> None:
    records = [{"attributes": [{"key": "input_tokens", "value": {"intValue": n}}]} for n in (5, -1)]
    for number, record in enumerate(records):
        texts = {"event.name": "api_request", "session.id": "s", "request_id": f"r{number}"}
        record["attributes"] += [{"key": k, "value": {"stringValue": v}} for k, v in texts.items()]
    export = {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}
    body = Parse(json.dumps(export), ExportLogsServiceRequest()).SerializeToString()
    answer = post(client, world, "logs", body, PROTOBUF)
    told = ExportLogsServiceResponse.FromString(answer.content).partial_success
    assert (told.rejected_log_records, told.error_message.split(":")[0]) == (
        1,
        "/resourceLogs/0/scopeLogs/0/logRecords/1/attributes/0",
    )
    assert tokens() == (1, 5, 0)


def test_traces__of_two_hosts_in_one_export__each_in_its_own_session(client: Client, world: World) -> None:
    own, others = (json.loads(trap(name)) for name in ("T113.json", "T107.json"))
    export = {"resourceSpans": [*own["resourceSpans"], *others["resourceSpans"]]}
    assert post(client, world, "traces", json.dumps(export).encode()).status_code == 200
    story.fold_everything()
    found = {
        s.host: (s.calls, s.uncached_input, s.cache_read, s.cache_write_5m, s.output) for s in Session.objects.all()
    }
    assert found == {"claude-code": (1, 500, 7_000, 300, 60), "otlp": (2, 130, 0, 0, 11)}


def test_traces__an_empty_export__taken(client: Client, world: World) -> None:
    assert post(client, world, "traces", b"{}", "application/json; charset=utf-8").status_code == 200
    assert not Session.objects.exists()


def counters(session: str | None) -> bytes:
    export = json.loads((TRAPS / "T110.jsonl").read_text().splitlines()[0])
    for metric in export["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]:
        for point in metric["sum"]["dataPoints"]:
            point["attributes"] = [a for a in point["attributes"] if a["key"] != "session.id"]
            if session:
                point["attributes"].append({"key": "session.id", "value": {"stringValue": session}})
    return json.dumps(export).encode()


def test_metrics__of_no_session__remarked_to_the_sender_and_on_the_page(client: Client, world: World) -> None:
    told = post(client, world, "metrics", counters(None)).json()["partialSuccess"]
    assert told["rejectedDataPoints"] == "0"
    assert "OTEL_METRICS_INCLUDE_SESSION_ID=true" in told["errorMessage"]
    assert not Session.objects.exists()
    client.force_login(world.users["admin"])
    assert "come without a session id" in client.get("/sources/").content.decode()


def test_metrics__with_a_session_since__no_remark_on_the_page(client: Client, world: World) -> None:
    post(client, world, "metrics", counters(None))
    assert post(client, world, "metrics", counters("s")).json() == {}
    client.force_login(world.users["admin"])
    assert "come without a session id" not in client.get("/sources/").content.decode()
