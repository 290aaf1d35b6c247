"""Token counts as OpenCode writes them: input without the cache; output with or without reasoning, by build.

`total` tells which: the sum that fits is the convention. Builds that took a provider's inclusive prompt for
input are told apart in the same way.
"""

from dataclasses import dataclass

from sessions_app.feeds.base import Husk
from sessions_app.feeds.husk import SIZE
from sessions_app.feeds.numbers import LARGEST, token_count

SUSPECT = "convention_suspect"


@dataclass(frozen=True, slots=True)
class Tokens:
    """One response in disjoint counts; `flags` where the sum fits no convention."""

    uncached_input: int
    cache_read: int
    write_total: int
    output: int
    reasoning: int
    flags: tuple[str, ...] = ()


def tokens_of(given: object, pointer: str) -> Tokens | None:
    """The counts, or None where nothing was counted: the row is written before the response ends.

    Refused: counts that break the rule of `numbers.token_count`.
    """
    if not isinstance(given, dict) or SIZE in given:
        return None
    cache = given.get("cache")
    held: Husk = cache if isinstance(cache, dict) else {}
    told = token_count(given.get("input"), f"{pointer}/input") or 0
    output = token_count(given.get("output"), f"{pointer}/output") or 0
    reasoning = token_count(given.get("reasoning"), f"{pointer}/reasoning") or 0
    read = token_count(held.get("read"), f"{pointer}/cache/read") or 0
    write = token_count(held.get("write"), f"{pointer}/cache/write") or 0
    total = token_count(given.get("total"), f"{pointer}/total")
    if not (told or output or reasoning or read or write):
        return None
    if total is None:
        # The oldest builds have no total; they count reasoning in the output.
        return Tokens(told, read, write, output if reasoning <= output else output + reasoning, reasoning)
    with_reasoning = min(output + reasoning, LARGEST)
    if total == told + read + write + output:
        return Tokens(told, read, write, output, reasoning)
    if total == told + read + write + with_reasoning:
        return Tokens(told, read, write, with_reasoning, reasoning)
    if told >= read + write and total in (told + output, told + with_reasoning):
        out = output if total == told + output else with_reasoning
        return Tokens(told - read - write, read, write, out, reasoning)
    return Tokens(told, read, write, output, reasoning, (SUSPECT,))
