"""Values that fit no column, through the doors: never a 500, and the fold of the session is not parked."""

import json
from typing import Any

import pytest
from django.test import Client
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from sessions_app.api.bundle import MOST_TOLD
from sessions_app.feeds.otlp_protobuf import MOST_RECORDS
from sessions_app.models import Call, InstructionFile, Restoration, Session, VaultRecord
from tests.support import deliveries as given
from tests.support import told
from tests.support.world import World

LONG = "x" * 200
DOORS = {
    "claude-code-transcript": "/api/v1/transcripts/claude-code",
    "claude-code-hook": "/api/v1/hooks/claude-code",
    "claude-code-statusline": "/api/v1/statusline/claude-code",
    "claude-code-otlp-logs": "/otlp/v1/logs",
    "canonical": "/api/v1/ingest",
}


def post(world: World, door: str, body: bytes) -> Any:
    headers = {"Authorization": f"Bearer {world.secrets['ingest_key']}"}
    return Client().post(door, body, content_type="application/json", headers=headers)


def sent(world: World, *deliveries: given.Delivery) -> None:
    for delivery in deliveries:
        answer = post(world, DOORS[delivery.feed], delivery.body)
        assert answer.status_code in (200, 202), answer.content
    given.fold_everything()
    assert set(Session.objects.values_list("fold_error", flat=True)) <= {""}


PASSES = [
    {"type": "message", "model": "other", "output_tokens": 410},
    {"type": "advisor_message", "model": "advisor", "input_tokens": 9, "output_tokens": 5},
    {"type": "fallback_message", "model": told.SONNET, "output_tokens": 10},
]


@pytest.mark.parametrize("message", [LONG, LONG[:-3], None])
def test_transcript__longest_ids_everywhere__stored_with_the_calls_inside(message: str | None, world: World) -> None:
    used = {**told.usage(100, out=10), "iterations": PASSES}
    names = dict.fromkeys(("sessionId", "uuid", "parentUuid", "agentId", "promptId", "version", "gitBranch"), LONG)
    line = told.call("s", message, 0, used, requestId=None, cwd="/" + LONG, entrypoint=LONG, **names, model="m" * 120)
    sent(world, told.transcript(line, told.compacted("s", 5, {"trigger": LONG}, **names)))
    assert Session.objects.get(host_session_id=LONG).aux_calls == 2


def test_transcript__request_id_of_the_longest__stored(world: World) -> None:
    sent(world, told.transcript(told.call("s", None, 0, told.usage(9), requestId=LONG, uuid=LONG)))
    assert Call.objects.get().key.startswith("r:")


def test_telemetry__longest_names__stored(world: World) -> None:
    names = dict.fromkeys(("client_request_id", "prompt.id", "agent.name", "event.sequence", "speed"), LONG)
    record = told.request(LONG, 0, told.usage(9, out=1), query_source="agent:" + LONG, **names)
    bare = told.request(LONG, 5, told.usage(9, out=1), **{"event.sequence": "9" * 20})
    done = told.event(LONG, 9, "compaction", trigger=LONG, **names)
    error = told.event(LONG, 9, "api_error", status_code=LONG, request_id=LONG, attempt=LONG)
    sent(world, told.logs(record, bare, done, error))
    assert Session.objects.get(host_session_id=LONG).calls == 2


def test_hook__longest_names_and_event__stored(world: World) -> None:
    fields = dict.fromkeys(("prompt_id", "tool_use_id", "tool_name", "agent_id", "agent_type", "source", "model"), LONG)
    for event in ("SessionStart", "PreCompact", "PostCompact", "PostToolUse", "SubagentStop", "StopFailure", LONG):
        sent(world, told.hook(LONG, event, trigger=LONG, reason=LONG, cwd="/" + LONG, **fields))


@pytest.mark.parametrize("event", ["x" * 5_000, "a%00b", "%F0%9F%92%A9", "what was said, in words"])
def test_hook__event_of_the_address_is_no_name__kept_out(event: str, world: World) -> None:
    answer = post(world, f"/api/v1/hooks/claude-code?event={event}", b'{"session_id":"s"}')
    assert answer.status_code == 200
    assert set(VaultRecord.objects.values_list("event", flat=True)) <= {""}


def test_status_line__longest_names_and_largest_numbers__stored(world: World) -> None:
    most = 2**63 - 1
    used = {"input_tokens": most, "cache_read_input_tokens": most, "cache_creation_input_tokens": most}
    sample = told.gauge(LONG, most, used, window=most, model="m" * 120)
    sample["version"] = LONG
    sent(world, given.Delivery("claude-code-statusline", json.dumps(sample).encode()))
    assert Session.objects.get().peak_occupancy == most


def test_canonical__longest_names_and_largest_numbers__stored(world: World) -> None:
    most = 2**63 - 1
    names = dict.fromkeys(("session", "thread", "message_id", "request_id", "prompt_id", "stop_reason", "id"), LONG)
    records = [
        {"type": "call", **names, "uncached_input": most, "cache_write_5m": most, "cache_write_1h": most, "output": 1},
        {"type": "compaction", **names, "at": told.at(0), "before_tokens": most, "duration_ms": most},
        {"type": "tool", **names, "tool_use_id": LONG, "at": told.at(1), "result_bytes": most, "input_bytes": most},
        {"type": "meter", "session": LONG, "window": most, "occupancy": most, "cost_usd": "999999999.999999999"},
        {"type": "session", "session": LONG, "version": LONG, "branch": LONG, "project": LONG, "entrypoint": LONG},
    ]
    sent(world, given.Delivery("canonical", json.dumps(records).encode()))


def test_transcript__more_compactions_than_a_small_number_holds__counted(world: World) -> None:
    lines = [told.compacted("s", 300 * n, None) for n in range(33_000)]
    sent(world, told.transcript(*lines))
    assert Session.objects.get().compactions == 33_000


def test_session_id__that_the_store_replaced__found_by_what_was_sent(world: World) -> None:
    name = "team/checks\0 & more"
    sent(world, told.transcript(told.call(name, "m1", 0, told.usage(9))))
    headers = {"Authorization": f"Bearer {world.secrets['read_key']}"}
    answer = Client().get("/api/v1/sessions", {"host_session_id": name.replace("\0", "")}, headers=headers)
    assert [row["calls"] for row in answer.json()["results"]] == [1]


def test_own_format__a_field_named_by_half_a_surrogate__remarked(world: World) -> None:
    body = b'{"type":"call","session":"s","message_id":"m","output":1,"\\ud800x":1}'
    answer = post(world, DOORS["canonical"], body)
    assert answer.status_code == 202
    assert [w["pointer"] for w in answer.json()["warnings"]] == ["/\ufffdx"]


def bundle(world: World, body: bytes) -> Any:
    return post(world, "/api/v1/bundles/claude-code", body)


def test_bundle__half_a_surrogate_in_one_line__that_and_the_others_counted(world: World) -> None:
    odd, plain = (json.dumps(told.call("s", name, at, told.usage(9))) for at, name in enumerate(("m1", "m2")))
    cut = odd.replace('"done"', '"\\ud83d", "n": 1' + "0" * 30)
    answer = bundle(world, f'{{"session_id": "s\\ud800", "lines": [{cut}, {plain}]}}'.encode())
    assert answer.status_code == 200
    assert answer.json()["receipts"]["lines"]["refused"] == []
    given.fold_everything()
    assert Session.objects.get().calls == 2


def test_externalize__half_a_surrogate__taken(world: World) -> None:
    answer = post(world, "/api/v1/externalize", b'{"session": "s", "sink": "notes", "x": "\\ud800"}')
    assert answer.status_code == 202


def test_bundle__name_of_an_instruction_file_is_no_text__kept_as_another_file(world: World) -> None:
    instructions = {"digest": "a" * 16, "bytes": 5, "name": ["x"], "committed": {}, "head": []}
    hook = {"hook_event_name": "InstructionsLoaded", "session_id": "s", "memory_type": "User"}
    body = {"session_id": "s", "hooks": [{"payload": {**hook, "instructions": instructions}}]}
    assert bundle(world, json.dumps(body).encode()).status_code == 200
    assert InstructionFile.objects.get().name == "another file"


def test_bundle__thousands_of_counts__the_newest_are_kept(world: World) -> None:
    line = told.call("s", "m1", 0, told.usage(9))
    counts = [{"compaction": {"at": 1.1e9 + 300 * n}} for n in range(MOST_TOLD + 3)]
    body = {"session_id": "s", "lines": [line], "survival": counts}
    assert bundle(world, json.dumps(body).encode()).status_code == 200
    assert Restoration.objects.count() == MOST_TOLD


@pytest.mark.parametrize("kind", ["application/x-protobuf", "application/json"])
def test_telemetry__more_records_than_an_export_may_hold__refused_before_they_are_read(kind: str, world: World) -> None:
    export = ExportLogsServiceRequest()
    scope = export.resource_logs.add().scope_logs.add()
    for _ in range(MOST_RECORDS + 1):
        scope.log_records.add()
    text = b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[' + b",".join([b"{}"] * (MOST_RECORDS + 1)) + b"]}]}]}"
    body = export.SerializeToString() if kind.endswith("protobuf") else text
    headers = {"Authorization": f"Bearer {world.secrets['ingest_key']}"}
    answer = Client().post("/otlp/v1/logs", body, content_type=kind, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_many_records")


@pytest.mark.parametrize("path", ["/api/v1/verdicts/%00", "/v/%00"])
def test_verdict__id_with_a_nul__404(path: str, world: World) -> None:
    client = Client()
    client.force_login(world.users["admin"])
    assert client.get(path).status_code == 404
