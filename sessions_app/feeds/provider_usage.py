"""Usage objects as providers answer them, made disjoint: every token in one leaf, whatever the dialect.

The shape is told by its keys (the first that fits), never by one key alone: `input_tokens` leaves the cached
part out at one provider and holds it at the next. Arithmetic then checks the claim (`conventions`).
"""

from collections.abc import Mapping
from typing import Any

from sessions_app.feeds.base import Husk, Refused
from sessions_app.feeds.claude_usage import tokens
from sessions_app.feeds.conventions import Counts, disjoint
from sessions_app.feeds.husk import SIZE
from sessions_app.feeds.numbers import token_count
from sessions_app.kernel.facts import capped

#: Fields of a call reading that a usage object fills.
type Fields = dict[str, Any]


class Tree:
    """A usage object: counts by path, each refused with its pointer."""

    def __init__(self, usage: Any, pointer: str) -> None:
        if not isinstance(usage, dict) or SIZE in usage:
            raise Refused("not_an_object", pointer, "usage must be an object, as the provider answered it")
        self.usage: Husk = usage
        self.pointer = pointer

    def has(self, *names: str) -> bool:
        return any(self.usage.get(name) is not None for name in names)

    def count(self, *path: str) -> int | None:
        """The count at a path of names."""
        value: Any = self.usage
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return token_count(value, f"{self.pointer}/{'/'.join(path)}")

    def first(self, *names: str) -> int | None:
        """The count under the first name that is there."""
        return next((count for name in names if (count := self.count(name)) is not None), None)

    def most(self, *paths: tuple[str, ...]) -> int | None:
        """The largest of counts that say the same thing."""
        return max((count for path in paths if (count := self.count(*path)) is not None), default=None)


def counted(usage: Any, pointer: str, *, provider: str = "", api: str = "") -> Fields:
    """Fields of a call from one usage object. Refused: `unknown_usage`, and counts that are none.

    `provider` and `api` are what the sender says; `anthropic_messages` says that the input count leaves the
    cached part out, which is believed where arithmetic proves it.
    """
    tree = Tree(usage, pointer)
    if tree.has("promptTokenCount", "candidatesTokenCount", "responseTokenCount", "prompt_token_count"):
        return _gemini(tree)
    if tree.has("total_input_tokens", "total_cached_tokens"):
        return _interactions(tree)
    if tree.has("cacheReadInputTokens", "cacheWriteInputTokens") or tree.has("inputTokens"):
        return _converse(tree)
    if tree.has("prompt_tokens", "prompt_cache_hit_tokens"):
        return _chat(tree, provider, api)
    if tree.has("input_token_details", "input_tokens_details"):
        return _responses(tree)
    if tree.has("input_tokens", "output_tokens"):
        return _bare(tree, provider)
    raise Refused("unknown_usage", pointer, "no provider's usage is known by these names")


def is_anthropic(usage: Any, provider: str) -> bool:
    """Whether a usage object has Anthropic's own shape, which may list the calls inside a call."""
    if not isinstance(usage, dict) or "input_tokens" not in usage:
        return False
    keys = ("cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation", "iterations")
    plain = "input_tokens_details" not in usage and "input_token_details" not in usage
    return plain and (provider == "anthropic" or any(key in usage for key in keys))


def _fields(counts: Counts, read: int | None, written: int | None, reasoning: int | None, **more: Any) -> Fields:
    told = {"uncached_input": counts.uncached, "cache_read": read, "write_total": written, "output": counts.output}
    return {**told, "reasoning": reasoning, "flags": counts.flags, **more}


def _gemini(tree: Tree) -> Fields:
    """Thoughts are beside the candidates, a tool's prompt is beside the prompt; there is no write."""
    prompt, read = tree.first("promptTokenCount", "prompt_token_count"), _snake(tree, "cachedContentTokenCount")
    tools, thoughts = _snake(tree, "toolUsePromptTokenCount") or 0, _snake(tree, "thoughtsTokenCount")
    answer = tree.first("candidatesTokenCount", "candidates_token_count", "responseTokenCount", "response_token_count")
    total = _snake(tree, "totalTokenCount")
    output = None if answer is None and thoughts is None else capped((answer or 0) + (thoughts or 0))
    total = None if total is None else max(0, total - tools)
    counts = disjoint(given=prompt, read=read, written=None, output=output, total=total)
    uncached = None if counts.uncached is None else capped(counts.uncached + tools)
    return _fields(Counts(uncached, counts.output, counts.is_suspect), read, None, thoughts)


def _snake(tree: Tree, name: str) -> int | None:
    return tree.first(name, "".join(f"_{c.lower()}" if c.isupper() else c for c in name))


def _interactions(tree: Tree) -> Fields:
    read, thoughts = tree.count("total_cached_tokens"), tree.count("total_thought_tokens")
    answer = tree.count("total_output_tokens")
    output = None if answer is None and thoughts is None else capped((answer or 0) + (thoughts or 0))
    counts = disjoint(given=tree.count("total_input_tokens"), read=read, written=None, output=output)
    return _fields(counts, read, None, thoughts)


def _converse(tree: Tree) -> Fields:
    read, written = tree.count("cacheReadInputTokens"), tree.count("cacheWriteInputTokens")
    given, output, total = tree.count("inputTokens"), tree.count("outputTokens"), tree.count("totalTokens")
    counts = disjoint(given=given, read=read, written=written, output=output, total=total, inclusive=False)
    details = tree.usage.get("cacheDetails")
    if not isinstance(details, list):
        return _fields(counts, read, written, None)
    places = [(n, part) for n, part in enumerate(details) if isinstance(part, dict) and part.get("ttl") == "1h"]
    places_of_long = ((p.get("inputTokens"), f"{tree.pointer}/cacheDetails/{n}/inputTokens") for n, p in places)
    long = capped(sum(token_count(value, place) or 0 for value, place in places_of_long))
    return _fields(counts, read, written, None, write_1h=long, write_5m=max(0, (written or 0) - long))


def _chat(tree: Tree, provider: str, api: str) -> Fields:
    """OpenAI's Chat and all who speak it: DeepSeek, xAI, OpenRouter, Groq, Moonshot, vLLM, SGLang, LiteLLM."""
    details = "prompt_tokens_details"
    read = tree.most(
        *((details, "cached_tokens"), ("cache_read_input_tokens",), ("prompt_cache_hit_tokens",), ("cached_tokens",))
    )
    written = tree.most(
        *((details, "cache_write_tokens"), (details, "cache_creation_tokens"), ("cache_creation_input_tokens",))
    )
    given, output, total = tree.count("prompt_tokens"), tree.count("completion_tokens"), tree.count("total_tokens")
    if given is None:
        given = capped((tree.count("prompt_cache_hit_tokens") or 0) + (tree.count("prompt_cache_miss_tokens") or 0))
    reasoning = tree.count("completion_tokens_details", "reasoning_tokens")
    if provider == "xai" and not total and reasoning:
        output = capped((output or 0) + reasoning)
    counts = disjoint(given=given, read=read, written=written, output=output, reasoning=reasoning, total=total)
    if counts.is_suspect and api == "anthropic_messages" and (read or 0) + (written or 0) > given:
        counts = Counts(given, output)
    searches = tree.count("server_tool_use", "web_search_requests")
    return _fields(counts, read, written, reasoning, web_searches=searches, **_split(tree, details))


def _split(tree: Tree, details: str) -> Mapping[str, int | None]:
    """Writes by lifetime, where a proxy hands on what Anthropic told."""
    places = (("cache_creation",), (details, "cache_creation_token_details"))
    short = tree.most(*((*place, "ephemeral_5m_input_tokens") for place in places))
    long = tree.most(*((*place, "ephemeral_1h_input_tokens") for place in places))
    return {"write_5m": short, "write_1h": long}


def _responses(tree: Tree) -> Fields:
    """OpenAI's Responses, and LangChain's spelling of it: the input holds what was read and written."""
    details = "input_tokens_details" if tree.has("input_tokens_details") else "input_token_details"
    read = tree.most((details, "cached_tokens"), (details, "cache_read"))
    written = tree.most((details, "cache_write_tokens"), (details, "cache_creation"))
    reasoning = tree.most(("output_tokens_details", "reasoning_tokens"), ("output_token_details", "reasoning"))
    given, output, total = (tree.count(name) for name in ("input_tokens", "output_tokens", "total_tokens"))
    counts = disjoint(given=given, read=read, written=written, output=output, reasoning=reasoning, total=total)
    long = tree.count(details, "cache_write_tokens_details", "ttl_12h_tokens")
    short = None if long is None else max(0, (written or 0) - long)
    return _fields(counts, read, written, reasoning, write_1h=long, write_5m=short)


def _bare(tree: Tree, provider: str) -> Fields:
    """Anthropic's own; or input and output alone, which say nothing of a cache: sure only where somebody vouches."""
    counts = tokens(tree.usage, tree.pointer)
    total = tree.count("total_tokens")
    is_known = is_anthropic(tree.usage, provider) or bool(provider)
    sums = (counts["uncached_input"] or 0) + (counts["output"] or 0)
    is_suspect = not is_known and total != sums
    return {
        **counts,
        "reasoning": tree.count("output_tokens_details", "thinking_tokens"),
        "web_searches": tree.count("server_tool_use", "web_search_requests"),
        "flags": Counts(None, None, is_suspect).flags,
    }
