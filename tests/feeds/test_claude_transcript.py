"""What one line of a Claude Code transcript says."""

import json
from typing import Any

import pytest

from sessions_app.feeds.base import Context, Refused
from sessions_app.feeds.claude_line import short
from sessions_app.feeds.claude_transcript import FEED
from sessions_app.feeds.husk import husk
from sessions_app.kernel.readings import (
    CallReading,
    CompactionReading,
    Mark,
    MarkReading,
    Purpose,
    Reading,
    SessionReading,
    Signal,
    Source,
    StepsReading,
    ToolSize,
)
from tests.support.inputs import NOW_MS, STORY, calls_of, parsed, readings_of, story_transcripts

SESSION = "11111111-2222-4333-8444-555555555555"
#: 2026-11-30 09:00:02.100 UTC
MS = 1_796_029_202_100
UUID, PARENT = "aaaaaaaa-0000-4000-8000-000000000002", "bbbbbbbb-0000-4000-8000-000000000001"
(SHORT,), (SHORT_PARENT,) = short(UUID), short(PARENT)


def line(**fields: Any) -> dict[str, Any]:
    """An envelope as the host writes it."""
    return {
        "uuid": UUID,
        "parentUuid": PARENT,
        "sessionId": SESSION,
        "timestamp": "2026-11-30T09:00:02.100Z",
        "version": "2.1.294",
        "cwd": "/srv/acme/api",
        "gitBranch": "main",
        "isSidechain": False,
        "entrypoint": "cli",
        **fields,
    }


def answer(usage: Any, **fields: Any) -> dict[str, Any]:
    """An assistant line with this usage."""
    message = {"id": "msg_1", "model": "claude-opus-4-6", "stop_reason": "end_turn", "content": [], "usage": usage}
    message.update(fields.pop("message", {}))
    return line(type="assistant", requestId="req_1", message=message, **fields)


def read(record: dict[str, Any]) -> list[Reading]:
    return list(FEED.read(husk(record), Context(received_ms=NOW_MS)))


def only[R: Reading](kind: type[R], record: dict[str, Any]) -> R:
    (found,) = [reading for reading in read(record) if isinstance(reading, kind)]
    return found


def none_of(kind: type[Reading], record: dict[str, Any]) -> bool:
    return not any(isinstance(reading, kind) for reading in read(record))


FULL = {
    "input_tokens": 12,
    "cache_read_input_tokens": 138_000,
    "cache_creation_input_tokens": 3_188,
    "cache_creation": {"ephemeral_5m_input_tokens": 88, "ephemeral_1h_input_tokens": 3_100},
    "output_tokens": 900,
    "output_tokens_details": {"thinking_tokens": 310},
    "server_tool_use": {"web_search_requests": 3, "web_fetch_requests": 0},
    "speed": "fast",
    "iterations": None,
}


def test_assistant__full_usage__every_field_of_the_call() -> None:
    miss = {"cache_miss_reason": {"type": "tools_changed", "cache_missed_input_tokens": 5_000}}
    assert only(CallReading, answer(FULL, message={"diagnostics": miss}, promptId="p-1")) == CallReading(
        session=SESSION,
        source=Source.TRANSCRIPT,
        key="msg_1",
        message_id="msg_1",
        request_id="req_1",
        thread=(30, ""),
        purpose=(0, Purpose.TURN),
        model=(MS, "claude-opus-4-6"),
        first_ms=MS,
        uncached_input=12,
        cache_read=138_000,
        write_total=3_188,
        write_5m=88,
        write_1h=3_100,
        output=900,
        reasoning=310,
        web_searches=3,
        stop_reason=(MS, "end_turn"),
        prompt_id=(MS, "p-1"),
        speed=(MS, "fast"),
        miss_reason=(MS, "tools_changed"),
        missed_tokens=5_000,
        uuids=(SHORT,),
        parents=(SHORT_PARENT,),
    )


def test_assistant__null_and_missing_split__lifetime_is_not_known() -> None:
    call = only(CallReading, answer({"input_tokens": 1, "cache_creation_input_tokens": 9, "cache_creation": None}))
    assert (call.write_total, call.write_5m, call.write_1h, call.cache_read) == (9, None, None, None)


@pytest.mark.parametrize(
    ("fields", "thread", "purpose"),
    [
        ({}, (30, ""), Purpose.TURN),
        ({"isSidechain": True}, (10, "side"), Purpose.TURN),
        ({"isSidechain": True, "agentId": "a0d1"}, (20, "a0d1"), Purpose.TURN),
        ({"isSidechain": True, "agentId": "acompact-5e3f9e"}, (20, "acompact-5e3f9e"), Purpose.COMPACTION),
    ],
)
def test_assistant__main_chain_or_agent__thread_and_purpose(
    fields: dict[str, Any], thread: tuple[int, str], purpose: Purpose
) -> None:
    call = only(CallReading, answer(FULL, **fields))
    assert call.thread == thread
    assert call.purpose[1] == purpose


@pytest.mark.parametrize(
    ("message_id", "uuid", "key"), [("msg_9", UUID, "msg_9"), (None, UUID, f"uuid:{UUID}"), ("", UUID, f"uuid:{UUID}")]
)
def test_assistant__with_or_without_id__key(message_id: str | None, uuid: str, key: str) -> None:
    assert only(CallReading, answer(FULL, message={"id": message_id}, uuid=uuid)).key == key


def test_assistant__no_id_at_all__numbers_tell_lines_apart() -> None:
    first = only(CallReading, answer({"input_tokens": 1}, message={"id": None}, uuid=None))
    other = only(CallReading, answer({"input_tokens": 2}, message={"id": None}, uuid=None))
    assert first.key != other.key


def test_assistant__synthetic__no_call_but_an_error_if_it_is_one() -> None:
    row = answer({"input_tokens": 0, "output_tokens": 0}, message={"model": "<synthetic>"}, isApiErrorMessage=True)
    assert none_of(CallReading, row)
    assert only(MarkReading, row).mark is Mark.API_ERROR
    assert none_of(MarkReading, {**row, "isApiErrorMessage": False})


@pytest.mark.parametrize("usage", [None, {}])
def test_assistant__without_usage__no_call(usage: Any) -> None:
    assert none_of(CallReading, answer(usage))


@pytest.mark.parametrize(
    ("usage", "code", "pointer"),
    [
        ({"input_tokens": -37}, "negative", "/message/usage/input_tokens"),
        ({"output_tokens": 12.7}, "not_an_integer", "/message/usage/output_tokens"),
        ({"input_tokens": True}, "not_an_integer", "/message/usage/input_tokens"),
        ({"input_tokens": "1,234"}, "not_an_integer", "/message/usage/input_tokens"),
        ({"cache_read_input_tokens": 2**63}, "too_large", "/message/usage/cache_read_input_tokens"),
        (
            {"cache_creation": {"ephemeral_1h_input_tokens": []}},
            "not_an_integer",
            "/message/usage/cache_creation/ephemeral_1h_input_tokens",
        ),
        ("many", "not_an_object", "/message/usage"),
        ([1], "not_an_object", "/message/usage"),
    ],
)
def test_assistant__bad_usage__refused_with_its_place(usage: Any, code: str, pointer: str) -> None:
    with pytest.raises(Refused) as caught:
        read(answer(usage))
    assert (caught.value.code, caught.value.pointer) == (code, pointer)


def test_assistant__usage_without_session__refused_and_other_lines_ignored() -> None:
    with pytest.raises(Refused) as caught:
        read({**answer(FULL), "sessionId": None})
    assert caught.value.code == "missing_session"
    assert read({"type": "summary", "summary": "x", "leafUuid": UUID}) == []


def iteration(kind: str, model: str | None = None, output: int = 10, **fields: int) -> dict[str, Any]:
    return {"type": kind, "model": model, "input_tokens": 1, "output_tokens": output, **fields}


def test_iterations__one_message__is_the_top_level_again() -> None:
    assert only(CallReading, answer({**FULL, "iterations": [iteration("message")]})).occupancy is None


def test_iterations__declined_before_output__nothing_and_after_output__a_call() -> None:
    served = iteration("fallback_message", "claude-opus-4-6", 1_100)
    for output, declined in ((0, []), (410, [("msg_1#declined0", (MS, "claude-fable-5-1"), 410)])):
        usage = {**FULL, "iterations": [iteration("message", "claude-fable-5-1", output), served]}
        calls = [r for r in read(answer(usage)) if isinstance(r, CallReading)]
        assert [(c.message_id, c.model, c.output) for c in calls[1:]] == declined
        assert all(c.purpose[1] == Purpose.DECLINED for c in calls[1:])


def test_iterations__advisor_and_compaction__calls_of_their_own_after_the_line() -> None:
    usage = {
        **FULL,
        "iterations": [
            iteration("compaction", output=7),
            iteration("message", cache_read_input_tokens=100),
            iteration("advisor_message", "claude-haiku-4-5", 9),
            iteration("message", cache_read_input_tokens=200),
        ],
    }
    main, *inner = [r for r in read(answer(usage)) if isinstance(r, CallReading)]
    assert main.occupancy == 201
    assert [(c.key, c.purpose[1], c.model and c.model[1], c.output) for c in inner] == [
        ("msg_1#compaction0", Purpose.COMPACTION, "claude-opus-4-6", 7),
        ("msg_1#advisor2", Purpose.ADVISOR, "claude-haiku-4-5", 9),
    ]
    assert all(c.request_id is None and c.uuids == () and c.parents == (SHORT,) for c in inner)


def test_iterations__a_bad_count_inside__refuses_the_record_as_a_whole() -> None:
    usage = {**FULL, "iterations": [iteration("message"), {"type": "advisor_message", "input_tokens": -1}]}
    with pytest.raises(Refused) as caught:
        read(answer(usage))
    assert caught.value.pointer == "/message/usage/iterations/1/input_tokens"


def test_boundary__with_figures__compaction_with_its_place_in_the_chain() -> None:
    metadata = {"trigger": "auto", "preTokens": 967_100, "postTokens": 41_000, "durationMs": 38_000}
    row = line(
        type="system",
        subtype="compact_boundary",
        parentUuid=None,
        logicalParentUuid=PARENT,
        compactMetadata=metadata,
    )
    assert only(CompactionReading, row) == CompactionReading(
        session=SESSION,
        source=Source.TRANSCRIPT,
        key=UUID,
        signal=Signal.BOUNDARY,
        trigger=(MS, "auto"),
        at_ms=MS,
        duration_ms=38_000,
        before_tokens=967_100,
        after_tokens=41_000,
        thread=(30, ""),
        uuids=(SHORT,),
        parents=(SHORT_PARENT,),
    )
    assert only(StepsReading, row).links == {SHORT: SHORT_PARENT}


def test_boundary__snake_case_of_the_sdk__the_same() -> None:
    row = {
        "type": "system",
        "subtype": "compact_boundary",
        "session_id": SESSION,
        "uuid": UUID,
        "compact_metadata": {"trigger": "manual", "pre_tokens": 5},
    }
    found = only(CompactionReading, row)
    assert (found.session, found.trigger, found.before_tokens) == (SESSION, (0, "manual"), 5)
    assert (found.at_ms, found.received_ms) == (None, NOW_MS)


@pytest.mark.parametrize("metadata", [None, {}, {"trigger": None, "preTokens": None}, {"preTokens": "NaN"}, "bad"])
def test_boundary__bad_or_no_metadata__a_compaction_with_unknown_figures(metadata: Any) -> None:
    found = only(CompactionReading, line(type="system", subtype="compact_boundary", compactMetadata=metadata))
    assert (found.trigger, found.before_tokens) == (None, None)


def test_boundary__micro__its_own_signal() -> None:
    metadata = {"trigger": "auto", "preTokens": 120_010, "tokensSaved": 30_000}
    row = line(type="system", subtype="microcompact_boundary", microcompactMetadata=metadata)
    found = only(CompactionReading, row)
    assert (found.signal, found.before_tokens, found.saved_tokens) == (Signal.MICRO, 120_010, 30_000)


def test_user__summary_line__signal_of_a_compaction_and_no_prompt() -> None:
    row = line(
        type="user", isCompactSummary=True, promptId="p-1", message={"role": "user", "content": "This session …"}
    )
    found = only(CompactionReading, row)
    assert (found.signal, found.key, found.prompt_id) == (Signal.SUMMARY, f"summary:{UUID}", (MS, "p-1"))
    assert none_of(MarkReading, row)


@pytest.mark.parametrize("content", ["do it", [{"type": "text", "text": "do it"}, {"type": "image", "source": {}}]])
def test_user__plain_text__a_prompt(content: Any) -> None:
    found = only(MarkReading, line(type="user", promptId="p-1", message={"role": "user", "content": content}))
    assert (found.mark, found.key, found.at_ms, found.prompt_id) == (Mark.PROMPT, UUID, MS, (MS, "p-1"))


@pytest.mark.parametrize(
    "fields",
    [
        {"isMeta": True},
        {"isSidechain": True},
        {"agentId": "a0d1"},
        {"message": {"content": "<command-name>/clear</command-name>"}},
        {"message": {"content": [{"type": "text", "text": "[Request interrupted by user]"}]}},
        {"message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]}},
        {"message": {"content": []}},
        {"message": "torn"},
        {"message": None},
    ],
)
def test_user__meta_agents_wrappers_and_results__no_prompt(fields: dict[str, Any]) -> None:
    assert none_of(MarkReading, line(**{"type": "user", "message": {"content": "do it"}, **fields}))


def test_tools__use_and_result__sizes_by_id() -> None:
    use = answer(FULL, message={"content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"a": 1}}]})
    blocks = [{"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "äbc"}]
    result = line(type="user", message={"content": blocks})
    assert only(StepsReading, use).tools == {"t1": ToolSize(name="Bash", input_bytes=7)}
    assert only(StepsReading, result).tools == {"t1": ToolSize(result_bytes=4, failed=1, at_ms=MS)}
    assert only(StepsReading, use).key == str(MS // 60_000)


def test_tools__of_an_agent__carry_its_thread() -> None:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": ""}
    row = line(type="user", agentId="a0d1", message={"content": [block]})
    assert only(StepsReading, row).tools["t1"].thread == "a0d1"


@pytest.mark.parametrize(
    ("name", "given", "writes"),
    [
        ("memory", {"command": "create", "path": "/memories/x"}, True),
        ("memory", {"command": "view"}, False),
        ("mcp__crystalium__store", {}, True),
        ("Bash", {"command": "create"}, False),
    ],
)
def test_tools__writes_to_memory__marked(name: str, given: dict[str, Any], writes: bool) -> None:
    row = answer(FULL, message={"content": [{"type": "tool_use", "id": "t1", "name": name, "input": given}]})
    marks = [(r.mark, r.key) for r in read(row) if isinstance(r, MarkReading)]
    assert marks == ([(Mark.EXTERNALIZE, "t1")] if writes else [])


def test_facts__of_any_line__span_version_branch_and_weak_project() -> None:
    found = only(SessionReading, line(type="progress"))
    assert (found.first_ms, found.last_ms) == (MS, MS)
    assert (found.version, found.branch, found.entrypoint) == ((MS, "2.1.294"), (MS, "main"), (MS, "cli"))
    assert found.project is not None
    assert found.project[1] == "api"


def test_facts__several_folders__the_earliest_names_the_project() -> None:
    first = only(SessionReading, line(cwd="/srv/first"))
    later = only(SessionReading, line(cwd="/srv/later", timestamp="2026-11-30T10:00:00Z"))
    odd = only(SessionReading, line(cwd="/srv/odd", timestamp="1970-01-01T00:00:00Z"))
    merged = odd.merge(later).merge(first).project
    assert merged is not None
    assert merged[1] == "first"


def test_facts__agents__by_their_own_lines_and_by_the_tool_that_ran_them() -> None:
    own = only(SessionReading, line(agentId="a0d1", attributionAgent="Explore", isSidechain=True))
    ran = only(SessionReading, line(type="user", toolUseResult={"agentId": "b7", "agentType": "Plan"}))
    assert (own.agents, ran.agents) == ({"a0d1": "Explore"}, {"b7": "Plan"})


def test_facts__forked__parent_session() -> None:
    assert only(SessionReading, line(forkedFrom={"sessionId": "old", "messageUuid": UUID})).parent == (MS, "old")


@pytest.mark.parametrize(
    ("timestamp", "flags", "first_ms"),
    [
        ("2026-11-30T09:00:02.100", ("naive_time",), MS),
        ("1970-01-01T00:00:00Z", ("impossible_time",), None),
        ("2099-01-01T00:00:00Z", ("impossible_time",), None),
        (None, (), None),
    ],
)
def test_times__odd_ones__flagged_and_replaced_by_the_receipt(
    timestamp: str | None, flags: tuple[str, ...], first_ms: int | None
) -> None:
    call = only(CallReading, answer(FULL, timestamp=timestamp))
    assert (call.flags, call.first_ms) == (flags, first_ms)
    assert call.received_ms == (NOW_MS if first_ms is None else None)


def test_flags__bytes_replaced__stay_with_the_call_through_the_vault() -> None:
    body = json.dumps(answer(FULL)).encode().replace(b'"cli"', b'"cl\xff"')
    (item,) = parsed(FEED, body).items
    again = FEED.read(husk(item.husk), Context(received_ms=NOW_MS))
    assert again == item.readings
    assert next(r.flags for r in item.readings if isinstance(r, CallReading)) == ("utf8_replaced",)


def test_story__transcripts__nine_calls_as_they_were_served() -> None:
    calls = calls_of(readings_of(FEED, story_transcripts()))
    turns = json.loads((STORY / "served-usage.json").read_text())["turns"]
    # The eighth is the compaction's own call: it is in telemetry only.
    served = [tuple(turn.get(n, 0) for n in ("r", "w5", "w1h", "in", "out")) for turn in turns[:7] + turns[8:]]
    read_ = [(c.cache_read, c.write_5m, c.write_1h, c.uncached_input, c.output) for c in calls]
    assert sorted(map(str, read_)) == sorted(map(str, served))
    assert sum(1 for c in calls if c.thread[1]) == 1
