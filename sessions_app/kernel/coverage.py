"""The coverage map: for each signal of a host whether it is received, estimated, impossible or silent.

Silent says that somebody could tell it and nobody does; it is not "no", and never zero. The table of who can
tell what is of hosts that were run and of their published formats (docs/sources.md).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sessions_app.kernel.readings import Source
from sessions_app.kernel.topics import Topic

DAY_MS = 86_400_000
#: A signal that comes with every call and is this much older than the host's last sign of life is silent.
QUIET_MS = 7 * DAY_MS


class State(StrEnum):
    """How well a signal is known, the best first."""

    RECEIVED = "received"
    ESTIMATED = "estimated"
    SILENT = "silent"
    IMPOSSIBLE = "impossible"


class Todo(StrEnum):
    """What would make a signal known."""

    NOTHING = "nothing"
    #: One of the ways that can tell it has never spoken: connect it.
    CONNECT = "connect"
    #: A way that can tell it speaks: it comes when there is occasion (a compaction, a subagent, a subscription).
    WAIT = "wait"
    #: It came once and stopped.
    RESTORE = "restore"
    #: People say it on the page.
    STATE = "state"


@dataclass(frozen=True, slots=True)
class Seen:
    """What was received of one host by one way: when the way last spoke, and when last of each signal (ms)."""

    host: str
    way: Source
    last_ms: int
    topics: Mapping[Topic, int]


@dataclass(frozen=True, slots=True)
class Cover:
    """One field of the map. `told` is (way, ms) by newest first, `able` who else could tell it."""

    topic: Topic
    state: State
    told: tuple[tuple[Source, int], ...]
    able: tuple[Source, ...]
    todo: Todo
    #: What an estimate rests on.
    basis: Topic | None = None


_T, _L, _M, _H, _S, _C, _P = (
    Source.TRANSCRIPT,
    Source.OTLP_LOG,
    Source.OTLP_METRIC,
    Source.HOOK,
    Source.STATUSLINE,
    Source.CANONICAL,
    Source.PROXY,
)
_W = Source.OTLP_SPAN

type Able = Mapping[Topic, tuple[Source, ...]]

_CLAUDE_CODE: Able = {
    Topic.USAGE: (_L, _T, _P),
    Topic.TTL_SPLIT: (_T, _P),
    Topic.HOST_COST: (_L, _S),
    Topic.MISS_REASON: (_T,),
    Topic.GAUGE: (_S,),
    Topic.WINDOW: (_S,),
    Topic.COMPACTIONS: (_T, _L, _H),
    Topic.COMPACTION_CALL: (_L, _P),
    Topic.TOOL_SIZES: (_H, _T, _L),
    Topic.SUBAGENTS: (_T, _L, _H),
    Topic.MOMENTS: (_H, _L, _T),
    Topic.PROJECT: (_T, _H, _S),
    Topic.GIT_REMOTE: (_S,),
    Topic.BRANCH: (_T,),
    Topic.VERSION: (_T, _S, _L),
    Topic.DEVELOPER: (_L,),
    Topic.RATE_LIMITS: (_S,),
}
_OPENCODE: Able = {
    Topic.USAGE: (_H, _T, _P),
    Topic.HOST_COST: (_H, _T),
    Topic.WINDOW: (_H,),
    Topic.COMPACTIONS: (_H, _T),
    Topic.COMPACTION_CALL: (_H, _T, _P),
    Topic.TOOL_SIZES: (_H, _T),
    Topic.SUBAGENTS: (_H, _T),
    Topic.MOMENTS: (_H, _T),
    Topic.PROJECT: (_H, _T),
    Topic.VERSION: (_H, _T),
}
_GEMINI: Able = {
    Topic.USAGE: (_L, _T, _P),
    Topic.COMPACTIONS: (_L,),
    Topic.COMPACTION_CALL: (_L, _P),
    Topic.TOOL_SIZES: (_T,),
    Topic.SUBAGENTS: (_L,),
    Topic.MOMENTS: (_H, _L, _T),
    Topic.PROJECT: (_H,),
    Topic.DEVELOPER: (_L,),
}
#: Its hooks tell sums of turns and the context before a compaction; that one has ended they never tell.
_CURSOR: Able = {
    Topic.USAGE: (_P,),
    Topic.GAUGE: (_H,),
    Topic.WINDOW: (_H,),
    Topic.TOOL_SIZES: (_H,),
    Topic.SUBAGENTS: (_H,),
    Topic.MOMENTS: (_H,),
    Topic.PROJECT: (_H,),
    Topic.VERSION: (_H,),
}
#: What a script or a proxy may say of any host in the product's own format.
_OWN_FORMAT: Able = {
    **dict.fromkeys(
        (
            Topic.USAGE,
            Topic.TTL_SPLIT,
            Topic.HOST_COST,
            Topic.WINDOW,
            Topic.COMPACTION_CALL,
            Topic.SUBAGENTS,
            Topic.GIT_REMOTE,
            Topic.BRANCH,
            Topic.VERSION,
            Topic.DEVELOPER,
            Topic.PROJECT,
        ),
        (_C, _P),
    ),
    **dict.fromkeys((Topic.GAUGE, Topic.COMPACTIONS, Topic.TOOL_SIZES), (_C,)),
}
#: What spans of any emitter may say by the GenAI conventions.
_OTLP: Able = {
    Topic.USAGE: (_W, _L, _P),
    Topic.HOST_COST: (_W, _P),
    **dict.fromkeys((Topic.GIT_REMOTE, Topic.BRANCH, Topic.VERSION, Topic.DEVELOPER, Topic.PROJECT), (_W, _C)),
    **dict.fromkeys((Topic.WINDOW, Topic.GAUGE, Topic.COMPACTIONS, Topic.TOOL_SIZES), (_C,)),
}
_CODEX: Able = {
    Topic.USAGE: (_T, _L),
    Topic.WINDOW: (_T,),
    Topic.COMPACTIONS: (_T, _H),
    Topic.COMPACTION_CALL: (_T,),
    Topic.TOOL_SIZES: (_T, _H),
    Topic.SUBAGENTS: (_T, _H),
    Topic.MOMENTS: (_H, _T, _L),
    Topic.PROJECT: (_T, _H),
    Topic.GIT_REMOTE: (_T,),
    Topic.BRANCH: (_T,),
    Topic.VERSION: (_T, _L),
    Topic.DEVELOPER: (_L,),
    Topic.RATE_LIMITS: (_T,),
}
_COPILOT: Able = {
    Topic.USAGE: (_T, _W),
    Topic.WINDOW: (_T, _W),
    Topic.COMPACTIONS: (_T, _W),
    Topic.COMPACTION_CALL: (_T, _W),
    Topic.TOOL_SIZES: (_T,),
    Topic.SUBAGENTS: (_T, _H),
    Topic.MOMENTS: (_T, _H),
    Topic.PROJECT: (_T, _H),
    Topic.GIT_REMOTE: (_T,),
    Topic.BRANCH: (_T,),
    Topic.VERSION: (_T, _W),
}
_ABLE: Mapping[str, Able] = {
    "claude-code": _CLAUDE_CODE,
    "codex": _CODEX,
    "copilot": _COPILOT,
    "otlp": _OTLP,
    "opencode": _OPENCODE,
    "gemini": _GEMINI,
    "cursor": _CURSOR,
}

#: What stands in for a signal that nobody tells: worked out from another one.
_ESTIMATES: Mapping[Topic, tuple[Topic, ...]] = {
    Topic.USAGE: (Topic.COUNTERS,),
    Topic.TTL_SPLIT: (Topic.USAGE,),
    Topic.GAUGE: (Topic.USAGE,),
    Topic.WINDOW: (Topic.USAGE,),
    Topic.GIT_REMOTE: (Topic.PROJECT,),
    Topic.BILLING: (Topic.RATE_LIMITS,),
}
#: These come only when there is occasion; that they are old proves no silence.
_OCCASIONAL = frozenset(
    (
        Topic.MISS_REASON,
        Topic.COMPACTIONS,
        Topic.COMPACTION_CALL,
        Topic.SUBAGENTS,
        Topic.RATE_LIMITS,
        Topic.DEVELOPER,
        Topic.BILLING,
    )
)
SHOWN = tuple(topic for topic in Topic if topic not in (Topic.COUNTERS, Topic.SESSIONLESS))


def coverage(host: str, seen: Iterable[Seen], *, billing_stated: bool) -> tuple[Cover, ...]:
    """The column of one host, a field per signal in the order of `Topic`."""
    mine = [s for s in seen if s.host == host]
    last_ms = max((s.last_ms for s in mine), default=0)
    ways = {s.way for s in mine}
    told = {topic: _told(topic, mine) for topic in Topic}
    covers: list[Cover] = []
    for topic in SHOWN:
        if topic is Topic.BILLING:
            covers.append(_billing(told[Topic.RATE_LIMITS], is_stated=billing_stated))
        else:
            covers.append(_cover(topic, _ABLE.get(host, _OWN_FORMAT).get(topic, ()), told, ways, last_ms))
    return tuple(covers)


def _told(topic: Topic, seen: Iterable[Seen]) -> tuple[tuple[Source, int], ...]:
    newest: dict[Source, int] = {}
    for s in seen:
        if topic in s.topics:
            newest[s.way] = max(newest.get(s.way, 0), s.topics[topic])
    return tuple(sorted(newest.items(), key=lambda pair: (-pair[1], pair[0])))


def _cover(
    topic: Topic,
    able: tuple[Source, ...],
    told: Mapping[Topic, tuple[tuple[Source, int], ...]],
    ways: set[Source],
    last_ms: int,
) -> Cover:
    mine = told[topic]
    others = tuple(way for way in able if way not in dict(mine))
    is_fresh = bool(mine) and (topic in _OCCASIONAL or last_ms - mine[0][1] <= QUIET_MS)
    if is_fresh:
        return Cover(topic, State.RECEIVED, mine, others, Todo.NOTHING)
    todo = _todo(able, is_lost=bool(mine), ways=ways)
    basis = next((b for b in _ESTIMATES.get(topic, ()) if told[b]), None)
    if basis is not None:
        return Cover(topic, State.ESTIMATED, mine, others, todo, basis)
    return Cover(topic, State.SILENT if able or mine else State.IMPOSSIBLE, mine, others, todo)


def _todo(able: tuple[Source, ...], *, is_lost: bool, ways: set[Source]) -> Todo:
    if is_lost:
        return Todo.RESTORE
    if not able:
        return Todo.NOTHING
    return Todo.WAIT if ways & set(able) else Todo.CONNECT


def _billing(limits: tuple[tuple[Source, int], ...], *, is_stated: bool) -> Cover:
    """How a team pays is in no record; limits of a subscription are a hint."""
    if is_stated:
        return Cover(Topic.BILLING, State.RECEIVED, (), (), Todo.NOTHING)
    if limits:
        return Cover(Topic.BILLING, State.ESTIMATED, (), (), Todo.STATE, Topic.RATE_LIMITS)
    return Cover(Topic.BILLING, State.SILENT, (), (), Todo.STATE)


def skew_ms(leads_ms: Sequence[int]) -> int | None:
    """How far a sender's clock leads ours: the median of its last deliveries, so that one late delivery says nothing.

    Negative: its clock lags, or it delivers late. None where no delivery had a clock.
    """
    if not leads_ms:
        return None
    return sorted(leads_ms)[(len(leads_ms) - 1) // 2]
