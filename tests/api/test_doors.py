"""Every door of ingest with hostile bodies: a named refusal, never a 500, and the good records are kept."""

import gzip
import json
import threading
from typing import Any

import pytest
from django.test import Client

from sessions_app.feeds.base import Refused
from sessions_app.feeds.lines import decode
from sessions_app.models import Session
from tests.support import deliveries as story
from tests.support.world import World

DOORS = (
    "/api/v1/ingest",
    "/api/v1/hooks/claude-code",
    "/api/v1/hooks/claude-code?as=text",
    "/api/v1/transcripts/claude-code",
    "/api/v1/statusline/claude-code",
    "/otlp/v1/logs",
    "/otlp/v1/metrics",
)
USAGE = (
    b'{"type":"assistant","sessionId":"s","session_id":"s","uuid":"u","message":{"id":"m","usage":{"input_tokens":%s}}}'
)
HOSTILE = {
    "empty": b"",
    "null": b"null",
    "number": b"5",
    "string": b'"x"',
    "list": b"[]",
    "lists": b"[[[]]]",
    "object": b"{}",
    "torn": b'{"a":',
    "binary": bytes(range(256)),
    "deep lists": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    "huge number": USAGE % (b"9" * 5_000),
    "infinite number": USAGE % b"1e400",
    "largest number": USAGE % b"9223372036854775807",
    "not a number": USAGE % b"NaN",
    "nul": b'{"session_id":"s\\u0000x","sessionId":"a\\u0000","hook_event_name":"Stop","session":"\\u0000"}',
    "surrogate": b'{"session_id":"s\\ud800x","hook_event_name":"Stop"}',
    "long id": b'{"session_id":"' + b"x" * 100_000 + b'","hook_event_name":"Stop"}',
    "wrong types": b'{"session_id":5,"sessionId":[],"hook_event_name":[],"type":{},"message":7,"resourceLogs":{"a":1}}',
    "tool of wrong types": b'{"session_id":"s","hook_event_name":"PostToolUse","tool_use_id":{"a":1},"tool_name":[1]}',
    "odd times": b'{"type":"assistant","sessionId":"s9","timestamp":"99999-01-01","message":{"id":["m"],"model":{}}}',
    "odd logs": b'{"resourceLogs":[1,null,{"scopeLogs":[{"logRecords":[3,{"attributes":[{"key":5}]}]}]}]}',
    "odd metrics": b'{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"sum":{"dataPoints":[1,{"asInt":{}}]}}]}]}]}',
}


def post(client: Client, world: World, door: str, body: bytes, **headers: str) -> Any:
    secret = world.secrets["ingest_key"]
    return client.post(
        door, body, content_type="application/json", headers={"Authorization": f"Bearer {secret}", **headers}
    )


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", HOSTILE)
def test_door__hostile_body__refused_by_name(door: str, name: str, client: Client, world: World) -> None:
    answer = post(client, world, door, HOSTILE[name])
    assert answer.status_code in (200, 202, 400, 413), answer.content[:300]
    story.fold_everything()


@pytest.mark.parametrize("door", DOORS)
def test_door__inflated_bomb__413_names_the_limit(door: str, client: Client, world: World) -> None:
    answer = post(client, world, door, gzip.compress(b"0" * 80_000_000), **{"Content-Encoding": "gzip"})
    assert (answer.status_code, answer.json()["code"]) == (413, "inflated_too_large")


@pytest.mark.parametrize("door", DOORS)
def test_door__garbage_said_to_be_gzip__400(door: str, client: Client, world: World) -> None:
    answer = post(client, world, door, b"\x00garbage", **{"Content-Encoding": "gzip"})
    assert answer.status_code == 400


@pytest.mark.parametrize("name", ["deep lists", "deep objects"])
def test_decode__deep_body_on_a_small_stack__refused_and_the_process_lives(name: str) -> None:
    codes: list[str] = []

    def ask() -> None:
        try:
            decode(HOSTILE[name])
        except Refused as refused:
            codes.append(refused.code)

    # Server threads have small stacks; a parser that recurses in C ends the process there.
    threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(0)
    assert codes == ["too_deep"]


def test_door__one_bad_record_among_good_ones__position_and_pointer(client: Client, world: World) -> None:
    lines = [
        b'{"type":"call","session":"s","message_id":"a","uncached_input":5,"output":1}',
        b'{"type":"call","session":"s","message_id":"b","uncached_input":-1}',
        b"not json",
        b'{"type":"call","session":"s","message_id":"c","uncached_input":7,"output":1}',
    ]
    answer = post(client, world, "/api/v1/ingest", b"\n".join(lines))
    receipt = answer.json()
    assert (answer.status_code, receipt["accepted"]) == (202, 2)
    assert [(r["position"], r["pointer"], r["code"]) for r in receipt["refused"]] == [
        (2, "/uncached_input", "negative"),
        (3, "", "not_json"),
    ]
    story.fold_everything()
    assert Session.objects.get().uncached_input == 12


def test_door__otlp_with_a_bad_record__partial_success_as_the_protocol_says(client: Client, world: World) -> None:
    def record(tokens: Any) -> dict[str, Any]:
        values = {
            "event.name": "api_request",
            "session.id": "s",
            "request_id": f"r{tokens}",
            "model": "claude-sonnet-4-5",
        }
        attributes = [{"key": k, "value": {"stringValue": v}} for k, v in values.items()]
        attributes.append({"key": "input_tokens", "value": {"intValue": tokens}})
        return {"timeUnixNano": "1796077195850000000", "attributes": attributes}

    export = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record(10), record(-4), record("20")]}]}]}
    answer = post(client, world, "/otlp/v1/logs", json.dumps(export).encode())
    assert answer.status_code == 200
    assert answer.json()["partialSuccess"]["rejectedLogRecords"] == "1"
    assert "/resourceLogs/0/scopeLogs/0/logRecords/1" in answer.json()["partialSuccess"]["errorMessage"]
    story.fold_everything()
    assert Session.objects.get().uncached_input == 30


def test_door__hook__answers_nothing_that_a_host_could_misread(client: Client, world: World) -> None:
    hooks = story.hooks()
    for delivery in hooks:
        answer = post(client, world, "/api/v1/hooks/claude-code", delivery.body)
        assert (answer.status_code, answer.content) == (200, b"")
    assert answer["X-ECM-Receipt"].startswith("accepted=1")


@pytest.mark.parametrize("header", ["", "Bearer nope", "Basic eDp5"])
def test_door__without_a_good_key__401(header: str, client: Client, world: World) -> None:
    answer = client.post("/api/v1/ingest", b"{}", content_type="application/json", headers={"Authorization": header})
    assert answer.status_code == 401


def test_door__read_key__may_not_write(client: Client, world: World) -> None:
    secret = world.secrets["read_key"]
    answer = client.post(
        "/api/v1/ingest", b"{}", content_type="application/json", headers={"Authorization": f"Bearer {secret}"}
    )
    assert answer.status_code == 403


def test_door__more_records_than_allowed__413_names_the_limit(client: Client, world: World) -> None:
    body = b'{"type":"session","session":"s"}\n' * 10_001
    answer = post(client, world, "/api/v1/ingest", body)
    assert (answer.status_code, answer.json()["code"], answer.json()["limit"]) == (413, "too_many_records", "items")
    assert not Session.objects.exists()
