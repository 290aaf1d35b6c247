"""Spans of any emitter: the names of every convention, what is a call and what repeats one, and what is dropped."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from sessions_app.feeds.base import Context
from sessions_app.feeds.husk import husk
from sessions_app.feeds.otlp_hosts import LOGS, TRACES
from sessions_app.kernel.readings import CallReading, Purpose, Source
from sessions_app.models import Call
from tests.feeds_live.exports import attributes, log, logs, refused
from tests.support import deliveries as given
from tests.support.deliveries import Delivery
from tests.support.inputs import NOW_MS, parsed
from tests.support.pins import BOOK
from tests.support.world import build

TRACE = "5b8efff798038103d269b633813fc60c"
START = 1_796_077_195_000_000_000


def span(values: Mapping[str, Any], *, number: int = 1, parent: int = 0, name: str = "chat m") -> dict[str, Any]:
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": name,
        "startTimeUnixNano": str(START + number * 1_000_000),
        "endTimeUnixNano": str(START + 2_000_000_000 - number * 1_000_000),
        "attributes": attributes(values),
    }


def spans(*members: Any, resource: Mapping[str, Any] | None = None) -> bytes:
    shared = attributes({"service.name": "claude-helper", "session.id": "s"} if resource is None else resource)
    entry = {"resource": {"attributes": shared}, "scopeSpans": [{"scope": {"name": "x"}, "spans": list(members)}]}
    return json.dumps({"resourceSpans": [entry]}).encode()


def calls(body: bytes) -> list[CallReading]:
    outcome = parsed(TRACES, body)
    assert outcome.refusals == []
    return [r for item in outcome.items for r in item.readings if isinstance(r, CallReading)]


CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "asked", "gen_ai.response.model": "answered"}
DIALECTS: dict[str, dict[str, Any]] = {
    "conventions": {
        **CHAT,
        "gen_ai.usage.input_tokens": 1_000,
        "gen_ai.usage.output_tokens": 50,
        "gen_ai.usage.cache_read.input_tokens": 700,
        "gen_ai.usage.cache_creation.input_tokens": 200,
        "gen_ai.usage.reasoning.output_tokens": 10,
    },
    "conventions of 2024": {
        "gen_ai.system": "anthropic",
        "gen_ai.operation.name": "chat",
        "gen_ai.response.model": "answered",
        "gen_ai.usage.prompt_tokens": 1_000,
        "gen_ai.usage.completion_tokens": 50,
        "gen_ai.usage.cache_read_input_tokens": 700,
        "gen_ai.usage.cache_creation_input_tokens": 200,
        "gen_ai.usage.reasoning_tokens": 10,
    },
    "openinference": {
        "openinference.span.kind": "LLM",
        "llm.model_name": "answered",
        "llm.token_count.prompt": 1_000,
        "llm.token_count.completion": 50,
        "llm.token_count.total": 1_050,
        "llm.token_count.prompt_details.cache_read": 700,
        "llm.token_count.prompt_details.cache_write": 200,
        "llm.token_count.completion_details.reasoning": 10,
    },
    "openllmetry": {
        "llm.request.type": "chat",
        "gen_ai.response.model": "answered",
        "gen_ai.usage.prompt_tokens": 1_000,
        "gen_ai.usage.completion_tokens": 50,
        "llm.usage.total_tokens": 1_050,
        "gen_ai.usage.cache_read_input_tokens": 700,
        "gen_ai.usage.cache_creation_input_tokens": 200,
        "gen_ai.usage.reasoning_tokens": 10,
    },
    "ai sdk": {
        "ai.operationId": "ai.streamText.doStream",
        "ai.response.model": "answered",
        "ai.usage.inputTokens": 1_000,
        "ai.usage.outputTokens": 50,
        "ai.usage.cachedInputTokens": 700,
        "gen_ai.usage.cache_write_tokens": 200,
        "ai.usage.reasoningTokens": 10,
    },
    "pydantic ai": {
        **CHAT,
        "gen_ai.usage.input_tokens": 1_000,
        "gen_ai.usage.output_tokens": 50,
        "gen_ai.usage.details.cache_read_tokens": 700,
        "gen_ai.usage.details.cache_write_tokens": 200,
        "gen_ai.usage.details.reasoning_tokens": 10,
    },
    "numbers as texts": {
        **CHAT,
        "gen_ai.usage.input_tokens": "1000",
        "gen_ai.usage.output_tokens": "50",
        "gen_ai.usage.cache_read.input_tokens": "700",
        "gen_ai.usage.cache_write.input_tokens": "200",
        "gen_ai.usage.reasoning_tokens": "10",
    },
    "no operation told": {
        "gen_ai.response.model": "answered",
        "gen_ai.usage.input_tokens": 1_000,
        "gen_ai.usage.output_tokens": 50,
        "gen_ai.usage.cache_read_tokens": 700,
        "gen_ai.usage.cache_write_tokens": 200,
        "gen_ai.usage.reasoning_tokens": 10,
    },
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_span__in_any_dialect__each_token_in_one_leaf(dialect: str) -> None:
    (call,) = calls(spans(span(DIALECTS[dialect])))
    assert (call.uncached_input, call.cache_read, call.write_total, call.output) == (100, 700, 200, 50)
    assert (call.reasoning, call.model and call.model[1], call.flags) == (10, "answered", ())
    assert (call.session, call.source, call.first_ms) == ("s", Source.OTLP_SPAN, START // 1_000_000 + 1)


@pytest.mark.parametrize(
    "values",
    [
        {"gen_ai.operation.name": "invoke_agent"},
        {"gen_ai.operation.name": "invoke_workflow"},
        {"gen_ai.operation.name": "execute_tool"},
        {"openinference.span.kind": "AGENT"},
        {"openinference.span.kind": "CHAIN"},
        {"ai.operationId": "ai.streamText", "gen_ai.request.model": "m"},
        # A wrapper of an agent's whole run that does not say what it is.
        {"gen_ai.request.model": "m", "gen_ai.agent.name": "billing"},
        {"http.route": "/chat"},
    ],
)
def test_span__that_repeats_the_sums_of_its_children__counts_nothing(values: dict[str, Any]) -> None:
    usage = {"gen_ai.usage.input_tokens": 130, "gen_ai.usage.output_tokens": 11}
    assert calls(spans(span({**values, **usage}))) == []


def test_span__of_embeddings__is_auxiliary() -> None:
    (call,) = calls(spans(span({"gen_ai.operation.name": "embeddings", "gen_ai.usage.input_tokens": 9})))
    assert (call.purpose[1], call.uncached_input) == (Purpose.AUXILIARY, 9)


@pytest.mark.parametrize(
    ("values", "session"),
    [
        ({"gen_ai.conversation.id": "c"}, "c"),
        ({"langfuse.session.id": "l"}, "l"),
        ({"traceloop.association.properties.session_id": "t"}, "t"),
        ({}, f"trace:{TRACE}"),
        # The thread of a runtime is no conversation.
        ({"thread.id": 7}, f"trace:{TRACE}"),
    ],
)
def test_span__its_session(values: dict[str, Any], session: str) -> None:
    body = spans(span({**CHAT, "gen_ai.usage.input_tokens": 1, **values}), resource={"service.name": "x"})
    assert calls(body)[0].session == session


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        # Cached tokens beyond the input: it cannot hold them.
        ({"input_tokens": 500, "cache_read.input_tokens": 7_000}, (500, 7_000, ("convention_suspect",))),
        # The total says so too: sure.
        ({"input_tokens": 500, "cache_read.input_tokens": 7_000, "total_tokens": 7_560}, (500, 7_000, ())),
        ({"input_tokens": 7_500, "cache_read.input_tokens": 7_000, "total_tokens": 7_560}, (500, 7_000, ())),
        ({"input_tokens": 500, "total_tokens": 9_999}, (500, None, ("convention_suspect",))),
    ],
)
def test_span__whose_counts_contradict_the_convention__suspect(
    figures: dict[str, int], expected: tuple[Any, ...]
) -> None:
    told = {f"gen_ai.usage.{name}": value for name, value in figures.items()}
    (call,) = calls(spans(span({**CHAT, "gen_ai.usage.output_tokens": 60, **told})))
    assert (call.uncached_input, call.cache_read, call.flags) == expected


def folded(*parts: Delivery) -> Any:
    (fold,) = given.folded(list(parts), BOOK).values()
    return fold


def test_fold__a_suspect_call__kept_unpriced_and_remarked() -> None:
    told = {**CHAT, "gen_ai.response.model": "claude-sonnet-4-5", "gen_ai.usage.cache_read.input_tokens": 7_000}
    fold = folded(Delivery(TRACES.name, spans(span({**told, "gen_ai.usage.input_tokens": 500}))))
    assert (fold.calls[0].leaves.uncached_input, fold.calls[0].leaves.cache_read) == (500, 7_000)
    assert (fold.calls[0].cost_usd, fold.summary.fields["unpriced_calls"]) == (None, 1)
    assert [w["code"] for w in fold.summary.fields["warnings"]] == ["convention_suspect"]


@pytest.mark.django_db
def test_ledger__a_suspect_call_between_others__no_miss_of_its_own_and_none_by_it() -> None:
    world = build()
    told = {**CHAT, "gen_ai.response.model": "claude-sonnet-4-5", "gen_ai.usage.output_tokens": 5}
    figures = [(50_000, 0, 49_990), (500, 7_000, 0), (60_000, 49_990, 10_000)]
    for number, (input_tokens, read, written) in enumerate(figures, 1):
        usage = {"gen_ai.usage.input_tokens": input_tokens, "gen_ai.usage.cache_read.input_tokens": read}
        record = span({**told, **usage, "gen_ai.usage.cache_creation.input_tokens": written}, number=number)
        given.deliver(world.one, [Delivery(TRACES.name, spans(record))])
    given.fold_everything()
    rows = Call.objects.order_by("number").values_list("missed_tokens", "miss_cause", "flags")
    assert [(missed, cause) for missed, cause, _ in rows] == [(0, ""), (0, ""), (0, "")]
    assert [flags for _, _, flags in rows] == [[], ["convention_suspect"], []]


def test_fold__a_suspect_span_and_a_sure_log_of_one_call__the_sure_one_counts() -> None:
    told = {**CHAT, "gen_ai.response.id": "msg_1", "gen_ai.response.model": "claude-sonnet-4-5"}
    suspect = {**told, "gen_ai.usage.input_tokens": 900, "gen_ai.usage.cache_read.input_tokens": 7_000}
    record = log("", START, session__id="s", **{k.replace(".", "__"): v for k, v in told.items()})
    record["body"] = {"stringValue": "gen_ai.client.inference.operation.details"}
    record["attributes"] += attributes({"gen_ai.usage.input_tokens": 7_500, "gen_ai.usage.cache_read_tokens": 7_000})
    export = logs(record, resource={"service.name": "helper"})
    fold = folded(Delivery(TRACES.name, spans(span(suspect))), Delivery(LOGS.name, export))
    assert len(fold.calls) == 1
    assert (fold.calls[0].leaves.uncached_input, fold.calls[0].leaves.cache_read) == (500, 7_000)
    assert fold.calls[0].cost_usd == Decimal("0.0036")
    assert fold.summary.fields["warnings"] == []


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_fold__a_wrappers_span_around_the_clients__one_call(order: tuple[int, ...]) -> None:
    usage = {"gen_ai.usage.input_tokens": 130, "gen_ai.usage.output_tokens": 11}
    wrapper = span({"openinference.span.kind": "LLM", "llm.model_name": "m", **usage}, number=1)
    client = span({**CHAT, "gen_ai.response.id": "msg_1", **usage}, number=2, parent=1)
    # Equal figures beside them are another call.
    other = span({**CHAT, **usage}, number=3)
    members = [wrapper, client, other]
    fold = folded(*(Delivery(TRACES.name, spans(members[n])) for n in order))
    assert (fold.summary.fields["calls"], fold.summary.fields["uncached_input"]) == (2, 260)


def test_fold__claude_codes_span_log_and_transcript__one_call() -> None:
    from tests.support import told

    used = told.usage(500, 7_000, 300, 60)
    values = {"model": told.SONNET, "request_id": "req_1", "input_tokens": 500, "cache_read_tokens": 7_000}
    values |= {"cache_creation_tokens": 300, "output_tokens": 60}
    record = span({**values, "session.id": "s"}, name="claude_code.llm_request")
    at = told.nanos(2)
    record |= {"startTimeUnixNano": told.nanos(1), "endTimeUnixNano": at}
    parts = [
        Delivery(TRACES.name, spans(record)),
        told.logs(told.request("s", 2, used, request_id="req_1")),
        told.transcript(told.call("s", "msg_1", 2, used, requestId="req_1")),
    ]
    for some in (parts, parts[::-1], parts[:1]):
        fields = folded(*some).summary.fields
        assert (fields["calls"], fields["uncached_input"], fields["cache_read"]) == (1, 500, 7_000)


@pytest.mark.parametrize(
    ("bad", "place"),
    [
        ({"gen_ai.usage.input_tokens": -1}, "/attributes/3"),
        ({"gen_ai.usage.input_tokens": 1.5}, "/attributes/3"),
        ({"gen_ai.usage.input_tokens": "many"}, "/attributes/3"),
    ],
)
def test_span__with_a_bad_count__refused_at_its_attribute(bad: dict[str, Any], place: str) -> None:
    outcome = parsed(TRACES, spans(span({**CHAT, **bad}), span({**CHAT, "gen_ai.usage.input_tokens": 5}, number=2)))
    assert [(p, at) for p, at, _ in refused(outcome)] == [(1, f"/resourceSpans/0/scopeSpans/0/spans/0{place}")]
    assert len(outcome.items) == 1


def test_span__with_all_that_was_said__nothing_of_it_in_the_husk() -> None:
    canary = "the-quick-brown-canary"
    names = (
        "gen_ai.input.messages gen_ai.output.messages gen_ai.system_instructions gen_ai.prompt gen_ai.completion"
        " gen_ai.prompt.0.content llm.input_messages.0.message.content input.value output.value ai.prompt.messages"
        " ai.response.text traceloop.entity.input db.statement url.full"
    ).split()
    usage = {"gen_ai.usage.input_tokens": 5, "user.email": "ann@example.com"}
    record = span({**CHAT, **usage, **dict.fromkeys(names, canary)}, name=f"chat {canary}")
    record["events"] = [{"name": "gen_ai.user.message", "attributes": attributes({"content": canary})}]
    record["status"] = {"code": 2, "message": canary}
    (item,) = parsed(TRACES, spans(record, resource={"process.command_args": canary, "service.name": "x"})).items
    text = json.dumps(item.husk)
    assert "canary" not in text
    assert "ann@" not in text
    assert husk(item.husk) == item.husk
    assert TRACES.read(json.loads(text), Context(NOW_MS)) == item.readings
