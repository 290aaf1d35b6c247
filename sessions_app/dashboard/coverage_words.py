"""The coverage map in words: what each signal is, what stands in for it, what is lost without it. Pure."""

from dataclasses import dataclass

from sessions_app.kernel.coverage import Cover, State, Todo
from sessions_app.kernel.readings import Source
from sessions_app.kernel.topics import Topic


@dataclass(frozen=True, slots=True)
class Meaning:
    """A signal: its name, what is unknown without it, what an estimate is, and the occasion on which it comes."""

    name: str
    without: str
    instead: str = ""
    occasion: str = ""


MEANINGS = {
    Topic.USAGE: Meaning("usage of each call", "no tokens and no cost", "sums of a counter, no single call"),
    Topic.TTL_SPLIT: Meaning(
        "cache writes by lifetime",
        "writes cannot be priced exactly",
        "writes of unknown lifetime are priced as 5-minute ones",
    ),
    Topic.HOST_COST: Meaning("the host’s own cost", "the list price has nothing to be held against"),
    Topic.MISS_REASON: Meaning(
        "the provider’s reason of a cache miss",
        "causes rest on times, models and counts alone",
        occasion="comes only where the provider diagnoses a miss",
    ),
    Topic.GAUGE: Meaning("the host’s own gauge", "how full the context is", "worked out from the last call"),
    Topic.WINDOW: Meaning("the stated window", "percentages and zones", "assumed from the model"),
    Topic.COMPACTIONS: Meaning(
        "compactions", "that the context was replaced", occasion="comes with the first compaction"
    ),
    Topic.COMPACTION_CALL: Meaning(
        "a compaction’s own call",
        "what the summary cost: sums are lower bounds",
        occasion="comes with the first compaction",
    ),
    Topic.TOOL_SIZES: Meaning(
        "sizes of tool results", "what fills the context", occasion="comes with the first use of a tool"
    ),
    Topic.SUBAGENTS: Meaning(
        "subagents", "which calls are whose, if there are any", occasion="comes with the first subagent"
    ),
    Topic.MOMENTS: Meaning("starts, prompts and ends", "when people worked and waited"),
    Topic.PROJECT: Meaning("the project", "where the money went"),
    Topic.GIT_REMOTE: Meaning(
        "the git remote",
        "which code base it is",
        "the folder’s name, which may stand for several code bases",
        occasion="comes where the folder is a clone",
    ),
    Topic.BRANCH: Meaning("the branch", "what a branch cost"),
    Topic.VERSION: Meaning("the host’s version", "what changed with an upgrade"),
    Topic.DEVELOPER: Meaning(
        "the developer", "who could be asked", occasion="comes with a personal key, or where the host knows an account"
    ),
    Topic.RATE_LIMITS: Meaning(
        "limits of a subscription", "how much of a quota is used", occasion="comes only with a subscription"
    ),
    Topic.BILLING: Meaning(
        "how it is paid", "whether the list price is a bill", "limits of a subscription were told, so likely one"
    ),
}
WAYS = {
    Source.TRANSCRIPT: "transcripts",
    Source.OTLP_LOG: "telemetry",
    Source.OTLP_METRIC: "metrics",
    Source.OTLP_SPAN: "traces",
    Source.HOOK: "hooks",
    Source.STATUSLINE: "status line",
    Source.CANONICAL: "own format",
    Source.PROXY: "proxy",
}
#: Endings of the names of feeds, longest first where one is part of another.
_ENDINGS = (
    ("-otlp-logs", Source.OTLP_LOG),
    ("-otlp-metrics", Source.OTLP_METRIC),
    ("-otlp-traces", Source.OTLP_SPAN),
    ("-hook", Source.HOOK),
    ("-statusline", Source.STATUSLINE),
    ("-transcript", Source.TRANSCRIPT),
    ("proxy", Source.PROXY),
)


def way_of(feed: str) -> Source:
    """By which kind of record a feed tells; what is not named after one is the own format."""
    return next((way for ending, way in _ENDINGS if feed.endswith(ending)), Source.CANONICAL)


def either(ways: tuple[Source, ...]) -> str:
    """Ways as alternatives: telemetry or a proxy."""
    names = [("a " if way is Source.PROXY else "the " if way is Source.CANONICAL else "") + WAYS[way] for way in ways]
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def remark(cover: Cover) -> str:
    """What the state of a signal means, and what would make it known."""
    meaning = MEANINGS[cover.topic]
    if cover.state is State.RECEIVED:
        return ""
    if cover.state is State.IMPOSSIBLE:
        return f"No way of this host carries it. Unknown without it: {meaning.without}."
    now = f"{meaning.instead}." if cover.state is State.ESTIMATED else f"Unknown without it: {meaning.without}."
    return f"{now[0].upper()}{now[1:]}"


def todo(cover: Cover) -> str:
    """What to do about it; "" where there is nothing."""
    meaning = MEANINGS[cover.topic]
    if cover.todo is Todo.CONNECT:
        return f"Connect {either(cover.able)}."
    if cover.todo is Todo.RESTORE:
        return f"It stopped: look after {either(tuple(way for way, _ in cover.told))}."
    if cover.todo is Todo.WAIT:
        wait = meaning.occasion or f"{either(cover.able)} may tell it, but did not"
        return f"{wait[0].upper()}{wait[1:]}."
    return "An administrator states it below." if cover.todo is Todo.STATE else ""
