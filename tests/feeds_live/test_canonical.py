"""The own format: records of every type, refusals that name field and fix, remarks, and its published schema."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from sessions_app.feeds.base import Context, Refused
from sessions_app.feeds.canonical import FEED, FIELDS, MOST_RECORDS, host_of, reduce
from sessions_app.feeds.husk import husk
from sessions_app.kernel.readings import (
    CallReading,
    CompactionReading,
    MeterReading,
    Purpose,
    SessionReading,
    Signal,
    Source,
    StepsReading,
)
from sessions_app.kernel.usage import leaves_of
from tests.feeds_live.exports import only, read, refused
from tests.support.inputs import NOW_MS, joined, parsed

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "schemas" / "canonical.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

CALL = {
    "type": "call",
    "session": "s1",
    "host": "codex",
    "thread": "reviewer",
    "model": "claude-sonnet-4.5",
    "message_id": "msg_1",
    "request_id": "req_1",
    "started_at": "2026-11-30T22:19:55.000Z",
    "ended_at": "2026-11-30T22:19:57.500Z",
    "uncached_input": 5,
    "cache_read": 24_000,
    "cache_write_5m": 3_000,
    "cache_write_1h": 1_500,
    "cache_write_unknown_ttl": 700,
    "output": 90,
    "reasoning": 10,
    "cost_usd": "0.028815",
    "project": "git@git.example.org:team/app.git",
    "branch": "feature/x",
    "developer": "ann@example.org",
    "window": 200_000,
}
COMPACTION = {
    "type": "compaction",
    "session": "s1",
    "id": "c1",
    "at": "2026-11-30T22:20:00Z",
    "trigger": "auto",
    "before_tokens": 153_824,
    "after_tokens": 651,
    "duration_ms": 140,
}
SESSION = {"type": "session", "session": "s1", "started_at": "2026-11-30T22:19:55Z", "version": "2.1.197"}
METER = {"type": "meter", "session": "s1", "at": "2026-11-30T22:20:00Z", "window": 200_000, "occupancy": 28_505}
TOOL = {
    "type": "tool",
    "session": "s1",
    "tool_use_id": "t1",
    "tool_name": "Bash",
    "result_bytes": 8_892,
    "failed": True,
}
RECORDS: list[dict[str, Any]] = [CALL, {**CALL, "type": "proxy_call"}, COMPACTION, SESSION, METER, TOOL]


def body(*records: Any) -> bytes:
    return json.dumps(records[0] if len(records) == 1 else list(records)).encode()


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: str(r["type"]))
def test_record__of_each_type__is_taken_by_feed_and_schema(record: dict[str, Any]) -> None:
    VALIDATOR.validate(record)
    outcome = parsed(FEED, body(record))
    assert (outcome.refusals, outcome.warnings) == ([], [])
    (item,) = outcome.items
    assert husk(item.husk) == item.husk
    assert FEED.read(json.loads(json.dumps(item.husk)), Context(NOW_MS)) == item.readings
    assert parsed(FEED, body(reduce(record))).items[0].readings == item.readings


def test_call__every_field__stands_in_the_reading() -> None:
    call = only(FEED, body(CALL), CallReading)
    assert (call.session, call.source, call.key) == ("s1", Source.CANONICAL, "msg_1")
    assert (call.message_id, call.request_id, call.thread, call.purpose) == (
        "msg_1",
        "req_1",
        (25, "reviewer"),
        (0, Purpose.TURN),
    )
    assert (call.first_ms, call.ended_ms) == (1_796_077_195_000, 1_796_077_197_500)
    assert (call.host_cost_nanousd, call.reasoning) == (28_815_000, 10)
    leaves = leaves_of(call)
    assert (leaves.uncached_input, leaves.cache_read, leaves.output) == (5, 24_000, 90)
    assert (leaves.cache_write_5m, leaves.cache_write_unknown_ttl, leaves.cache_write_1h) == (3_000, 700, 1_500)
    meter = only(FEED, body(CALL), MeterReading)
    assert (meter.window, meter.occupancy) == (200_000, None)


def test_proxy_call__is_the_proxys_word() -> None:
    assert only(FEED, body({**CALL, "type": "proxy_call"}), CallReading).source is Source.PROXY


@pytest.mark.parametrize(
    ("writes", "leaves"),
    [
        ({}, (0, 0, 0)),
        ({"cache_write_5m": 300}, (300, 0, 0)),
        ({"cache_write_unknown_ttl": 700}, (700, 700, 0)),
        ({"cache_write_5m": 700, "cache_write_unknown_ttl": 700}, (700, 700, 0)),
        ({"cache_write_5m": 0, "cache_write_unknown_ttl": 700}, (700, 700, 0)),
        ({"cache_write_1h": 50, "cache_write_unknown_ttl": 700}, (700, 700, 50)),
        ({"cache_write_1h": 50}, (0, 0, 50)),
    ],
)
def test_writes__unknown_lifetime_is_part_of_five_minutes(writes: dict[str, int], leaves: tuple[int, int, int]) -> None:
    call = only(FEED, body({"type": "call", "session": "s", "message_id": "m", "output": 1, **writes}), CallReading)
    found = leaves_of(call)
    assert (found.cache_write_5m, found.cache_write_unknown_ttl, found.cache_write_1h) == leaves


def test_session__facts__strong_project_and_no_address() -> None:
    outcome = parsed(FEED, body(CALL))
    (fact,) = [r for r in outcome.items[0].readings if isinstance(r, SessionReading)]
    assert fact.project is not None
    assert fact.project == (1 << 46, "git.example.org/team/app")
    assert fact.branch is not None
    assert fact.branch[1] == "feature/x"
    assert fact.developer is not None
    assert len(fact.developer[1]) == 32
    assert "ann@" not in str(outcome)


def test_compaction_meter_and_tool__each_its_reading() -> None:
    compaction = only(FEED, body(COMPACTION), CompactionReading)
    assert (compaction.signal, compaction.key, compaction.before_tokens) == (Signal.BOUNDARY, "c1", 153_824)
    meter = only(FEED, body(METER), MeterReading)
    assert (meter.window, meter.occupancy, meter.uptime_ms) == (200_000, 28_505, 1_796_077_200_000)
    size = only(FEED, body(TOOL), StepsReading).tools["t1"]
    assert (size.name, size.result_bytes, size.failed) == ("Bash", 8_892, 1)


@pytest.mark.parametrize(
    ("record", "host"), [(CALL, "codex"), ({**CALL, "host": "canonical"}, "canonical"), (SESSION, "canonical")]
)
def test_host__of_the_record__or_the_own(record: dict[str, Any], host: str) -> None:
    assert host_of(reduce(record)) == host


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"type": "banana"}, "/type", "unknown_type"),
    ({"type": None}, "/type", "unknown_type"),
    ({"type": {}}, "/type", "unknown_type"),
    ({"host": "emacs"}, "/host", "unknown_host"),
    ({"host": {}}, "/host", "unknown_host"),
    ({"session": None}, "/session", "missing_session"),
    ({"session": ""}, "/session", "missing_session"),
    ({"session": 7}, "/session", "not_a_name"),
    ({"purpose": "fun"}, "/purpose", "unknown_purpose"),
    ({"purpose": []}, "/purpose", "unknown_purpose"),
    ({"output": -1}, "/output", "negative"),
    ({"output": 1.5}, "/output", "not_an_integer"),
    ({"output": True}, "/output", "not_an_integer"),
    ({"output": "1,000"}, "/output", "not_an_integer"),
    ({"output": 1 << 63}, "/output", "too_large"),
    ({"cost_usd": "free"}, "/cost_usd", "not_a_number"),
    ({"cost_usd": -1}, "/cost_usd", "negative"),
    ({"started_at": "yesterday"}, "/started_at", "not_a_time"),
    ({"started_at": True}, "/started_at", "not_a_time"),
    ({"started_at": {"s": 1}}, "/started_at", "not_a_time"),
    ({"model": 5}, "/model", "not_a_name"),
    ({"thread": "two words and a slash/"}, "/thread", "not_a_name"),
    ({"project": "My Great Project"}, "/project", "not_a_name"),
    ({"window": "big"}, "/window", "not_an_integer"),
]


@pytest.mark.parametrize(("change", "pointer", "code"), BAD, ids=lambda v: str(v)[:30])
def test_record__bad_value__refused_by_feed_and_schema(change: dict[str, Any], pointer: str, code: str) -> None:
    record = {**CALL, **change}
    outcome = parsed(FEED, body(SESSION, record))
    assert refused(outcome) == [(2, pointer, code)]
    assert pointer.removeprefix("/") in outcome.refusals[0].message or code in (
        "negative",
        "not_a_number",
        "too_large",
        "not_an_integer",
    )
    assert not VALIDATOR.is_valid(record) or code == "not_a_time"


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"ended_at": "2026-11-30T22:19:54Z"}, "/ended_at", "ends_before_start"),
        ({"reasoning": 91}, "/reasoning", "reasoning_exceeds_output"),
        ({"cache_write_unknown_ttl": 3_001}, "/cache_write_unknown_ttl", "unknown_ttl_exceeds_5m"),
    ],
)
def test_record__fields_that_contradict__refused_with_the_fix(change: dict[str, Any], pointer: str, code: str) -> None:
    assert refused(parsed(FEED, body({**CALL, **change}))) == [(1, pointer, code)]


@pytest.mark.parametrize(
    ("record", "pointer", "code"),
    [
        ({"type": "call", "session": "s", "message_id": "m"}, "/uncached_input", "missing_usage"),
        ({"type": "meter", "session": "s"}, "/occupancy", "missing_usage"),
        ({"type": "tool", "session": "s"}, "/tool_use_id", "missing_tool_use"),
        ({**TOOL, "failed": "yes"}, "/failed", "not_a_flag"),
        ({**COMPACTION, "trigger": "boredom"}, "/trigger", "unknown_trigger"),
    ],
)
def test_record__without_what_its_type_needs__refused(record: dict[str, Any], pointer: str, code: str) -> None:
    assert refused(parsed(FEED, body(record))) == [(1, pointer, code)]
    assert not VALIDATOR.is_valid(record)


def test_time__impossible__flagged_and_replaced_by_the_receipt() -> None:
    for told in ("1970-01-01T00:00:00Z", 0, "2399-01-01T00:00:00Z"):
        call = only(FEED, body({**CALL, "started_at": told, "ended_at": None}), CallReading)
        assert (call.first_ms, call.received_ms, call.flags) == (None, NOW_MS, ("impossible_time",))


def test_field__unknown__a_remark_with_the_likely_name() -> None:
    outcome = parsed(FEED, body(SESSION, {**CALL, "cache_reads": 5, "note": "what was said", "a/b": 1}))
    assert outcome.refusals == []
    told = [(w.position, w.pointer, w.code) for w in outcome.warnings]
    assert told == [(2, f"/{name}", "unknown_field") for name in ("cache_reads", "note", "a~1b")]
    assert "did you mean cache_read?" in outcome.warnings[0].message
    assert "what was said" not in str(outcome.items)


def test_call__without_id_and_time__named_by_its_digest_and_remarked() -> None:
    record = {"type": "call", "session": "s", "output": 5}
    outcome = parsed(FEED, body(record, record, {**record, "output": 6}))
    assert len(joined(r for i in outcome.items for r in i.readings if isinstance(r, CallReading))) == 2
    assert [w.code for w in outcome.warnings] == ["nameless_call"] * 3


@pytest.mark.parametrize("shape", ["list", "lines", "one over lines"])
def test_body__in_each_shape__same_readings(shape: str) -> None:
    wanted = [r for record in RECORDS for i in parsed(FEED, body(record)).items for r in i.readings]
    text = {
        "list": json.dumps(RECORDS),
        "lines": "\r\n".join(json.dumps(r) for r in RECORDS) + "\n\n",
        "one over lines": json.dumps(RECORDS, indent=2),
    }[shape]
    outcome = parsed(FEED, text.encode())
    assert [r for i in outcome.items for r in i.readings] == wanted


def test_body__torn_last_line__refused_and_not_left_pending() -> None:
    outcome = parsed(FEED, body(SESSION) + b'\n{"type":"call"', final=False)
    assert (refused(outcome), outcome.pending_bytes) == ([(2, "", "not_json")], 0)


def test_body__more_records_than_allowed__refused_as_a_whole() -> None:
    line = b'{"type":"session","session":"s"}\n'
    assert len(parsed(FEED, line * MOST_RECORDS).items) == MOST_RECORDS
    with pytest.raises(Refused) as caught:
        parsed(FEED, line * (MOST_RECORDS + 1))
    assert caught.value.code == "too_many_records"


def test_same_record__received_again_later__nothing_changes() -> None:
    items = [i for at in (NOW_MS, NOW_MS + 9_000) for i in FEED.parse(body(*RECORDS), Context(at)).items]
    once = FEED.parse(body(*RECORDS), Context(NOW_MS)).items
    assert joined(r for i in items for r in i.readings) == joined(r for i in once for r in i.readings)


def test_schema__fields__are_those_of_the_feed() -> None:
    definitions = SCHEMA["$defs"]
    shared = set(definitions["record"]["properties"])
    assert SCHEMA["oneOf"][1]["maxItems"] == MOST_RECORDS
    for kind, fields in FIELDS.items():
        own = definitions["call" if kind == "proxy_call" else kind]["properties"]
        assert fields == shared | set(own), kind


def test_window__of_many_calls__one_reading() -> None:
    calls = [{**CALL, "message_id": f"m{n}", "started_at": f"2026-11-30T22:19:5{n}Z"} for n in range(5)]
    meters = [r for r in joined(read(FEED, body(*calls), MeterReading)).values() if isinstance(r, MeterReading)]
    assert [(m.window, m.uptime_ms) for m in meters] == [(200_000, 1_796_077_194_000)]


def test_type__with_an_invisible_character__read_and_remarked_without_an_exception() -> None:
    record = {"type": "call\ufeff", "session": "s", "message_id": "m", "output": 1, "odd": 2}
    outcome = parsed(FEED, json.dumps(record).encode())
    assert [w.code for w in outcome.warnings] == ["unknown_field"]
    assert len(outcome.items) == 1
