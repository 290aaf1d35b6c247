"""Who hears a verdict, and when it is better to say nothing (pure rules over what was said before)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from policy_app.kernel.evaluate import Verdict
from policy_app.kernel.levers import Addressee, Lever
from policy_app.kernel.operations import STEPS, Operation
from policy_app.kernel.zones import Zone

#: So many calls count as *soon*: two compactions within it thrash, an advice is followed within it or not at all.
SOON_CALLS = 8
#: No message so soon after a compaction: what is known then is of the context that is gone.
QUIET_CALLS = 2

#: How far an operation goes; at a tool boundary only a higher one than the standing verdict's is news.
RANK: Mapping[Operation, int] = {
    Operation.CONTINUE: 0,
    Operation.EXTERNALIZE: 1,
    Operation.PRUNE_TOOL_RESULTS: 2,
    Operation.SUBAGENT_ISOLATE: 2,
    Operation.COMPACT: 3,
    Operation.HANDOFF_FRESH: 4,
    Operation.FINISH_AND_RETURN: 4,
    Operation.WRAP_UP: 5,
}


class Silence(StrEnum):
    """Why a verdict is stored and not said."""

    NOTHING_TO_DO = "nothing_to_do"
    NOBODY_CAN = "nobody_can"
    NOT_HEARD_HERE = "not_heard_here"
    MUTED = "muted"
    AFTER_COMPACTION = "after_compaction"
    SAID_IN_THIS_ZONE = "said_in_this_zone"
    ADVISED_LATELY = "advised_lately"


@dataclass(frozen=True, slots=True)
class Standing:
    """What stands and what was said in a thread.

    `operation`: the standing verdict's; `zone` and `spoken` of the last message (None before one);
    `calls_since_advice`: since a compaction was advised last, None where it never was.
    """

    operation: Operation = Operation.CONTINUE
    zone: Zone | None = None
    spoken: Operation | None = None
    calls_since_advice: int | None = None
    muted: bool = False


def hearers(lever: Lever | None, operation: Operation) -> tuple[Addressee, ...]:
    """Model and human, as far as the operation is theirs; the model also prepares what a human carries out."""
    if lever is None:
        return ()
    told = {lever.addressee, lever.also}
    found = [each for each in (Addressee.HUMAN, Addressee.MODEL) if each in told]
    prepares = Addressee.HUMAN in found and STEPS[operation][:1] == ("externalize",)
    return (*found, Addressee.MODEL) if prepares and Addressee.MODEL not in found else tuple(found)


def is_raised(operation: Operation, standing: Standing) -> bool:
    """Whether it goes further than what stands."""
    return RANK[operation] > RANK[standing.operation]


def is_too_soon(operation: Operation, calls_since_compaction: int | None) -> bool:
    """Whether a compaction is so fresh that nothing is advised, and no second compaction a while longer."""
    least = SOON_CALLS if operation is Operation.COMPACT else QUIET_CALLS
    return calls_since_compaction is not None and calls_since_compaction < least


def silence(
    verdict: Verdict, standing: Standing, *, heard: frozenset[Addressee], calls_since_compaction: int | None
) -> Silence | None:
    """Why nothing is said, None where the verdict is spoken. `heard`: whom this hook's answer reaches."""
    if verdict.operation is Operation.CONTINUE:
        return Silence.NOTHING_TO_DO
    wanted = hearers(verdict.lever, verdict.operation)
    if not wanted:
        return Silence.NOBODY_CAN
    if standing.muted:
        return Silence.MUTED
    if is_too_soon(verdict.operation, calls_since_compaction):
        return Silence.AFTER_COMPACTION
    if verdict.zone is standing.zone and not _goes_further(verdict.operation, standing.spoken):
        return Silence.SAID_IN_THIS_ZONE
    since = standing.calls_since_advice
    if verdict.operation is Operation.COMPACT and since is not None and since < SOON_CALLS:
        return Silence.ADVISED_LATELY
    # The first of them carries it out; a helper alone is not told.
    return None if wanted[0] in heard else Silence.NOT_HEARD_HERE


def _goes_further(operation: Operation, spoken: Operation | None) -> bool:
    return spoken is None or RANK[operation] > RANK[spoken]
