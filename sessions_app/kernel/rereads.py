"""What was fetched again after a compaction: the same tool with the same input, before it and after it.

Only hooks tell equal inputs apart from unequal ones (as a hash); without them it is not known.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sessions_app.kernel.facts import CompactionFact
from sessions_app.kernel.points import tool_sizes
from sessions_app.kernel.readings import StepsReading


def with_rereads(compactions: Sequence[CompactionFact], steps: Iterable[StepsReading]) -> list[CompactionFact]:
    """The compactions, each with the uses that were made again after it and the bytes that they brought."""
    told = sorted(
        (use.at_ms, use.name or "", use.input_hash, use.result_bytes or 0, use.thread)
        for use in tool_sizes(steps).values()
        if use.input_hash and use.at_ms is not None and not use.failed
    )
    moments = [use[0] for use in told]
    ends = sorted(int(c.at.timestamp() * 1000) for c in compactions if c.at and c.worth and not c.thread)
    if not told:
        return list(compactions)
    found: list[CompactionFact] = []
    for fact in compactions:
        if fact.at is None or fact.worth is None or fact.thread:
            found.append(fact)
            continue
        at = int(fact.at.timestamp() * 1000)
        cut = bisect_left(moments, at)
        later = bisect_right(ends, at)
        end = bisect_left(moments, ends[later]) if later < len(ends) else len(moments)
        before = {use[1:3] for use in told[:cut] if not use[4]}
        again = [use for use in told[cut:end] if not use[4] and use[1:3] in before]
        known = bool(before) and end > cut
        found.append(
            replace(
                fact,
                rereads=len(again) if known else None,
                reread_bytes=sum(use[3] for use in again) if known else None,
            )
        )
    return found
