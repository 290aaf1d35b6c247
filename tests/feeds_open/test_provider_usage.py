"""Usage objects of providers: the vectors of the reference, and what follows from keys and arithmetic."""

import json
from typing import Any

import pytest

from sessions_app.feeds.base import Refused
from sessions_app.feeds.provider_usage import counted
from sessions_app.feeds.usage_record import FEED
from sessions_app.kernel.readings import CallReading, Purpose
from sessions_app.kernel.usage import leaves_of
from tests.support.inputs import parsed

#: Dialect: usage as answered, provider where the keys do not tell, [uncached, read, 5 m, 1 h, output, reasoning].
VECTORS: dict[str, tuple[str, str, list[int]]] = {
    "anthropic": (
        '{"input_tokens":12,"cache_creation_input_tokens":8200,"cache_read_input_tokens":91000,"cache_creation":'
        '{"ephemeral_5m_input_tokens":200,"ephemeral_1h_input_tokens":8000},"output_tokens":640,'
        '"output_tokens_details":{"thinking_tokens":300}}',
        "",
        [12, 91000, 200, 8000, 640, 300],
    ),
    "openai_chat": (
        '{"prompt_tokens":21000,"completion_tokens":500,"total_tokens":21500,"prompt_tokens_details":'
        '{"cached_tokens":18000,"cache_write_tokens":2500},"completion_tokens_details":{"reasoning_tokens":200}}',
        "",
        [500, 18000, 2500, 0, 500, 200],
    ),
    "responses": (
        '{"input_tokens":10000,"input_tokens_details":{"cached_tokens":8000,"cache_write_tokens":1900,'
        '"cache_write_tokens_details":{"ttl_30m_tokens":0,"ttl_12h_tokens":1900}},"output_tokens":50,'
        '"output_tokens_details":{"reasoning_tokens":20},"total_tokens":10050}',
        "",
        [100, 8000, 0, 1900, 50, 20],
    ),
    "gemini": (
        '{"promptTokenCount":40000,"cachedContentTokenCount":36000,"toolUsePromptTokenCount":700,'
        '"candidatesTokenCount":900,"thoughtsTokenCount":1100,"totalTokenCount":42700}',
        "",
        [4700, 36000, 0, 0, 2000, 1100],
    ),
    "deepseek": (
        '{"prompt_tokens":9000,"prompt_cache_hit_tokens":8600,"prompt_cache_miss_tokens":400,"completion_tokens":300,'
        '"total_tokens":9300,"completion_tokens_details":{"reasoning_tokens":120}}',
        "",
        [400, 8600, 0, 0, 300, 120],
    ),
    "converse": (
        '{"inputTokens":30,"cacheReadInputTokens":50000,"cacheWriteInputTokens":2000,"cacheDetails":'
        '[{"ttl":"5m","inputTokens":2000}],"outputTokens":400,"totalTokens":52430}',
        "",
        [30, 50000, 2000, 0, 400, 0],
    ),
    "litellm": (
        '{"prompt_tokens":60000,"completion_tokens":200,"total_tokens":60200,"cache_read_input_tokens":55000,'
        '"cache_creation_input_tokens":4000,"prompt_tokens_details":{"cached_tokens":55000}}',
        "",
        [1000, 55000, 4000, 0, 200, 0],
    ),
    "xai_chat": (
        '{"prompt_tokens":5000,"completion_tokens":100,"total_tokens":5500,"prompt_tokens_details":'
        '{"cached_tokens":4600},"completion_tokens_details":{"reasoning_tokens":400}}',
        "",
        [400, 4600, 0, 0, 500, 400],
    ),
    "xai_without_total": (
        '{"prompt_tokens":5000,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":4600},'
        '"completion_tokens_details":{"reasoning_tokens":400}}',
        "xai",
        [400, 4600, 0, 0, 500, 400],
    ),
    "openrouter": (
        '{"prompt_tokens":21000,"completion_tokens":500,"total_tokens":21500,"cost":0.0123,"prompt_tokens_details":'
        '{"cached_tokens":18000,"cache_write_tokens":2500}}',
        "openrouter",
        [500, 18000, 2500, 0, 500, 0],
    ),
    "vllm": (
        '{"prompt_tokens":900,"total_tokens":1000,"completion_tokens":100,"prompt_tokens_details":null}',
        "",
        [900, 0, 0, 0, 100, 0],
    ),
    "sglang": (
        '{"prompt_tokens":900,"completion_tokens":100,"total_tokens":1000,"prompt_tokens_details":{"cached_tokens":512}}',
        "",
        [388, 512, 0, 0, 100, 0],
    ),
    "langchain": (
        '{"input_tokens":1000,"output_tokens":50,"total_tokens":1050,"input_token_details":{"cache_read":700,'
        '"cache_creation":200},"output_token_details":{"reasoning":10}}',
        "",
        [100, 700, 200, 0, 50, 10],
    ),
    "gemini_interactions": (
        '{"total_input_tokens":1000,"total_cached_tokens":400,"total_output_tokens":50,"total_thought_tokens":30}',
        "",
        [600, 400, 0, 0, 80, 30],
    ),
    "bedrock_long": (
        '{"inputTokens":30,"cacheReadInputTokens":5,"cacheWriteInputTokens":2000,"outputTokens":4,"cacheDetails":'
        '[{"ttl":"1h","inputTokens":1500},{"ttl":"5m","inputTokens":500}]}',
        "",
        [30, 5, 500, 1500, 4, 0],
    ),
}


def record(usage: Any, **more: Any) -> bytes:
    told = {"session": "s", "model": "m", "id": "one", "started_at": "2026-11-30T10:00:00Z", "usage": usage}
    return json.dumps(told | more).encode()


def calls(body: bytes) -> list[CallReading]:
    outcome = parsed(FEED, body)
    assert outcome.refusals == []
    return [reading for item in outcome.items for reading in item.readings if isinstance(reading, CallReading)]


@pytest.mark.parametrize("dialect", VECTORS)
def test_usage__of_every_dialect__each_token_in_one_leaf(dialect: str) -> None:
    text, provider, expected = VECTORS[dialect]
    (call,) = calls(record(json.loads(text), provider=provider))
    leaves = leaves_of(call)
    found = [leaves.uncached_input, leaves.cache_read, leaves.cache_write_5m, leaves.cache_write_1h, leaves.output]
    assert ([*found, call.reasoning or 0], call.flags) == (expected, ())


@pytest.mark.parametrize(
    ("usage", "leaves"),
    [
        ({"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 4000}}, (1000, 4000)),
        ({"input_tokens": 10, "input_tokens_details": {"cached_tokens": 400}, "output_tokens": 1}, (10, 400)),
        # A total that no reading of the parts comes to.
        ({"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1500}, (1000, None)),
        ({"inputTokens": 30, "cacheReadInputTokens": 500, "outputTokens": 4, "totalTokens": 34}, (30, 500)),
        # Nobody says whose it is, and nothing says whether a cache is in it.
        ({"input_tokens": 10, "output_tokens": 1}, (10, None)),
    ],
)
def test_usage__that_contradicts_its_convention__kept_as_it_came_and_suspect(
    usage: dict[str, Any], leaves: tuple[int, int | None]
) -> None:
    fields = counted(usage, "/usage")
    assert (fields["uncached_input"], fields["cache_read"], fields["flags"]) == (*leaves, ("convention_suspect",))


def test_usage__whose_total_fits_one_convention_only__that_one_and_sure() -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 4_110}
    fields = counted({**usage, "prompt_tokens_details": {"cached_tokens": 4_000}}, "/usage")
    assert (fields["uncached_input"], fields["cache_read"], fields["flags"]) == (100, 4_000, ())


def test_usage__anthropic_with_iterations__the_compaction_is_a_call_of_its_own() -> None:
    inner = {"input_tokens": 400, "cache_read_input_tokens": 151_000, "output_tokens": 3_600}
    outer = {
        "input_tokens": 30,
        "cache_read_input_tokens": 21_000,
        "cache_creation_input_tokens": 5_200,
        "output_tokens": 900,
    }
    usage = {**outer, "iterations": [{"type": "compaction", **inner}, {"type": "message", **outer}]}
    found = calls(record(usage, id="msg_1"))
    assert [(c.purpose[1], c.uncached_input, c.cache_read, c.output) for c in found] == [
        (Purpose.TURN, 30, 21_000, 900),
        (Purpose.COMPACTION, 400, 151_000, 3_600),
    ]


@pytest.mark.parametrize(
    ("usage", "code", "pointer"),
    [
        ({"tokens": 5}, "unknown_usage", "/usage"),
        ([], "not_an_object", "/usage"),
        ("5", "not_an_object", "/usage"),
        ({"prompt_tokens": -1}, "negative", "/usage/prompt_tokens"),
        ({"prompt_tokens": 1.5}, "not_an_integer", "/usage/prompt_tokens"),
        ({"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": True}}, "not_an_integer",
         "/usage/prompt_tokens_details/cached_tokens"),
        ({"input_tokens": "x", "cache_read_input_tokens": 1}, "not_an_integer", "/usage/input_tokens"),
        ({"inputTokens": 1, "cacheDetails": [{"ttl": "1h", "inputTokens": -3}]}, "negative",
         "/usage/cacheDetails/0/inputTokens"),
        (None, "missing_usage", "/usage"),
    ],
)  # fmt: skip
def test_usage__that_cannot_be_counted__refused_at_its_field(usage: Any, code: str, pointer: str) -> None:
    outcome = parsed(FEED, record(usage) + b"\n" + record({"prompt_tokens": 5}, id="two"))
    assert [(r.position, r.code, r.pointer) for r in outcome.refusals] == [(1, code, pointer)]
    assert len(outcome.items) == 1


def test_usage__without_a_session__refused() -> None:
    with pytest.raises(Refused) as caught:
        FEED.read({"usage": {"prompt_tokens": 5}}, _context())
    assert (caught.value.code, caught.value.pointer) == ("missing_session", "/session")


def _context() -> Any:
    from sessions_app.feeds.base import Context

    return Context(received_ms=1_796_115_600_000)


def test_usage__a_whole_answer_with_its_text__nothing_of_it_is_kept() -> None:
    canary = "the quick brown canary"
    answer = {
        **json.loads(record({"prompt_tokens": 5, "note": canary})),
        "choices": [{"message": {"content": canary}, "usage": {"prompt_tokens": 9}}],
        "content": [{"type": "text", "text": canary}],
        "prompt": canary,
        "developer": "ann@example.com",
    }
    (item,) = parsed(FEED, json.dumps(answer).encode()).items
    assert "canary" not in json.dumps(item.husk)
    assert "ann@" not in json.dumps(item.husk)


def test_usage__inside_the_choices_of_a_stream__found() -> None:
    body = {
        "session": "s",
        "id": "a",
        "model": "kimi",
        "choices": [{"usage": {"prompt_tokens": 7, "cached_tokens": 2}}],
    }
    (call,) = calls(json.dumps(body).encode())
    assert (call.uncached_input, call.cache_read) == (5, 2)


def test_husk__of_every_record__reads_the_same() -> None:
    for text, provider, _ in VECTORS.values():
        (item,) = parsed(FEED, record(json.loads(text), provider=provider)).items
        assert FEED.read(json.loads(json.dumps(item.husk)), _context()) == item.readings


@pytest.mark.parametrize("dialect", VECTORS)
def test_usage__of_the_largest_counts__still_storable(dialect: str) -> None:
    def largest(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: largest(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [largest(inner) for inner in value] * 2
        return (1 << 63) - 1 if isinstance(value, int) else value

    text, provider, _ = VECTORS[dialect]
    (call,) = calls(record(largest(json.loads(text)), provider=provider))
    counts = [getattr(call, name) for name in call.__struct_fields__]
    assert all(count < 1 << 63 for count in counts if isinstance(count, int))
