"""Token counts of Gemini CLI: input holds what was cached, output leaves the thoughts out, tool prompts come on top."""

from typing import Any

from sessions_app.feeds.base import Husk
from sessions_app.feeds.numbers import LARGEST, token_count

SUSPECT = "convention_suspect"
#: The same counts under the names of the chat log and of telemetry.
CHAT = {name: name for name in ("input", "cached", "output", "thoughts", "tool")}
TELEMETRY = {
    "input": "input_token_count",
    "cached": "cached_content_token_count",
    "output": "output_token_count",
    "thoughts": "thoughts_token_count",
    "tool": "tool_token_count",
}


def leaves(given: Husk, names: dict[str, str], pointer: str) -> tuple[dict[str, Any], tuple[str, ...]] | None:
    """(disjoint counts, flags), or None where nothing was counted. Refused: bad counts."""
    told = {name: token_count(given.get(key), f"{pointer}/{key}") or 0 for name, key in names.items()}
    if not any(told.values()):
        return None
    # Parts that exceed the whole are not in it.
    is_suspect = told["cached"] > told["input"]
    fresh = told["input"] if is_suspect else told["input"] - told["cached"]
    counts = {
        "uncached_input": min(fresh + told["tool"], LARGEST),
        "cache_read": told["cached"],
        "output": min(told["output"] + told["thoughts"], LARGEST),
        "reasoning": told["thoughts"],
    }
    return counts, (SUSPECT,) if is_suspect else ()
