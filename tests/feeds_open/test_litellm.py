"""LiteLLM's payloads: whose session, which convention, what is no call, and what is never kept."""

import json
from typing import Any

import pytest

from sessions_app.feeds.litellm import FEED
from sessions_app.kernel.readings import CallReading, Mark, MarkReading, Reading
from tests.support.inputs import parsed, trap_bodies

SESSION = "6b0e2f3a-0000-4000-8000-0000000000a1"


def payload(**more: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "litellm_call_id": "call-1",
        "trace_id": "trace-1",
        "call_type": "acompletion",
        "status": "success",
        "model": "claude-sonnet-4-5",
        "custom_llm_provider": "anthropic",
        "startTime": 1793610000.25,
        "endTime": 1793610003.75,
        "response_cost": 0.0667,
        "metadata": {},
        "prompt_tokens": 1000,
        "completion_tokens": 10,
        **more,
    }


def readings[R: Reading](given: Any, kind: type[R]) -> list[R]:
    outcome = parsed(FEED, json.dumps(given).encode())
    assert outcome.refusals == []
    return [r for item in outcome.items for r in item.readings if isinstance(r, kind)]


@pytest.mark.parametrize(
    ("metadata", "more", "host", "session"),
    [
        ({"requester_custom_headers": {"X-Claude-Code-Session-Id": SESSION}}, {}, "claude-code", SESSION),
        ({}, {"end_user": f"user_0a1b_account_{SESSION}_session_{SESSION}"}, "claude-code", SESSION),
        ({"requester_metadata": {"session_id": "mine"}}, {}, "litellm", "mine"),
        ({"session_id": "mine"}, {}, "litellm", "mine"),
        ({}, {}, "litellm", "trace-1"),
    ],
)
def test_payload__its_session__the_hosts_own_before_the_proxys(
    metadata: dict[str, Any], more: dict[str, Any], host: str, session: str
) -> None:
    (item,) = parsed(FEED, json.dumps(payload(metadata=metadata, **more)).encode()).items
    assert (item.husk["host"], item.readings[0].session) == (host, session)


def test_payload__without_any_session__refused() -> None:
    outcome = parsed(FEED, json.dumps(payload(trace_id=None)).encode())
    assert [(r.code, r.pointer) for r in outcome.refusals] == [("missing_session", "/session")]


@pytest.mark.parametrize(
    ("usage", "call_type", "expected"),
    [
        # Inclusive as documented, also for the pass-through call type.
        ((141_200, 138_000, 3_188), "anthropic_messages", (12, 138_000, 3_188, ())),
        ((141_200, 138_000, 3_188), "acompletion", (12, 138_000, 3_188, ())),
        # It cannot be inclusive: sure where the call type says so too, else suspect.
        ((15, 3_100, 400), "anthropic_messages", (15, 3_100, 400, ())),
        ((15, 3_100, 400), "acompletion", (15, 3_100, 400, ("convention_suspect",))),
    ],
)
def test_payload__call_type_alone_decides_nothing(
    usage: tuple[int, int, int], call_type: str, expected: tuple[Any, ...]
) -> None:
    prompt, read, written = usage
    told = {"prompt_tokens": prompt, "cache_read_input_tokens": read, "cache_creation_input_tokens": written}
    (call,) = readings(payload(call_type=call_type, metadata={"usage_object": told}), CallReading)
    assert (call.uncached_input, call.cache_read, call.write_total, call.flags) == expected


def test_payload__of_a_failure__a_moment_and_no_call() -> None:
    given = payload(status="failure", error_information={"error_code": "429"})
    assert readings(given, CallReading) == []
    (mark,) = readings(given, MarkReading)
    assert (mark.mark, mark.detail) == (Mark.API_ERROR, (0, "429"))


def test_payload__answered_from_the_proxys_cache__no_call_and_a_remark() -> None:
    outcome = parsed(FEED, json.dumps(payload(cache_hit=True)).encode())
    assert outcome.items[0].readings == ()
    assert [w.code for w in outcome.warnings] == ["served_from_cache"]


def test_payload__ids_of_the_provider__join_it_to_other_sources() -> None:
    headers = {"additional_headers": {"llm_provider-request-id": "req_1"}}
    (call,) = readings(payload(id="msg_1", hidden_params=headers), CallReading)
    assert (call.message_id, call.request_id, call.host_cost_nanousd) == ("msg_1", "req_1", 66_700_000)


@pytest.mark.parametrize("form", ["array", "lines", "one"])
def test_payload__in_any_log_format__read(form: str) -> None:
    made = [payload(litellm_call_id=f"c{n}") for n in range(1 if form == "one" else 3)]
    body = json.dumps(made if form == "array" else made[0]).encode()
    if form == "lines":
        body = b"\n".join(json.dumps(one).encode() for one in made)
    assert len(parsed(FEED, body).items) == len(made)


def test_payload__with_keys_and_prompts_in_it__nothing_of_them_in_the_husk() -> None:
    (body,) = trap_bodies("T119")
    (item,) = parsed(FEED, body).items
    assert "NOT-A-KEY" not in json.dumps(item.husk)
    assert "incorrect" not in json.dumps(item.husk)
