"""Whether what a verdict advised happened soon after it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from policy_app.kernel.operations import Operation
from policy_app.kernel.quiet import SOON_CALLS


class Adherence(StrEnum):
    """PENDING may still change; UNKNOWN: the session ended before it could be told."""

    PENDING = "pending"
    FOLLOWED = "followed"
    NOT_FOLLOWED = "not_followed"
    UNKNOWN = "unknown"


class Act(StrEnum):
    """What can be seen of an advice that was followed."""

    EXTERNALIZED = "externalized"
    COMPACTED = "compacted"
    CLEARED = "cleared"
    ISOLATED = "isolated"
    ENDED = "ended"


ACTS: Mapping[Operation, frozenset[Act]] = {
    Operation.EXTERNALIZE: frozenset({Act.EXTERNALIZED}),
    Operation.PRUNE_TOOL_RESULTS: frozenset({Act.CLEARED, Act.COMPACTED}),
    Operation.COMPACT: frozenset({Act.COMPACTED}),
    Operation.SUBAGENT_ISOLATE: frozenset({Act.ISOLATED}),
    Operation.HANDOFF_FRESH: frozenset({Act.ENDED}),
    Operation.WRAP_UP: frozenset({Act.ENDED}),
    Operation.FINISH_AND_RETURN: frozenset({Act.ENDED}),
}


@dataclass(frozen=True, slots=True)
class After:
    """What came after a verdict: `calls` in all, and each act with the number of calls before it."""

    calls: int
    acts: Mapping[Act, int]


def adherence(operation: Operation, after: After) -> tuple[Adherence, int | None]:
    """The outcome, and for FOLLOWED after how many calls."""
    wanted = ACTS.get(operation, frozenset())
    done = [calls for act, calls in after.acts.items() if act in wanted and calls <= SOON_CALLS]
    if done:
        return Adherence.FOLLOWED, min(done)
    if after.calls > SOON_CALLS:
        return Adherence.NOT_FOLLOWED, None
    return (Adherence.UNKNOWN if Act.ENDED in after.acts else Adherence.PENDING), None
