"""Tool results of a session by tool: how often, how large, how many failed."""

from collections import defaultdict
from collections.abc import Iterable

from sessions_app.kernel.facts import ToolFact
from sessions_app.kernel.points import tool_sizes
from sessions_app.kernel.readings import StepsReading, ToolSize

#: A result whose use no record names.
NAMELESS = ""


def facts(steps: Iterable[StepsReading]) -> list[ToolFact]:
    """One fact a tool, in the order of names."""
    by_name: dict[str, list[ToolSize]] = defaultdict(list)
    for size in tool_sizes(steps).values():
        by_name[size.name or NAMELESS].append(size)
    return [
        ToolFact(
            key=name,
            uses=len(uses),
            failed=sum(1 for use in uses if use.failed),
            input_bytes=sum(use.input_bytes or 0 for use in uses),
            result_bytes=sum(use.result_bytes or 0 for use in uses),
            largest_bytes=max(use.result_bytes or 0 for use in uses),
        )
        for name, uses in sorted(by_name.items())
    ]
