"""From the coverage map of a host to the signals of policies: which of them a verdict could be told."""

from collections.abc import Iterable, Mapping

from policy_app.kernel.liveness import Sent
from sessions_app.kernel.coverage import Cover, State, Todo
from sessions_app.kernel.topics import Topic

_SENT = {
    State.RECEIVED: Sent.RECEIVED,
    State.ESTIMATED: Sent.ESTIMATED,
    State.SILENT: Sent.SILENT,
    State.IMPOSSIBLE: Sent.IMPOSSIBLE,
}
#: Best first.
_ORDER = (Sent.RECEIVED, Sent.ESTIMATED, Sent.SILENT, Sent.IMPOSSIBLE)


def signals_told(covers: Iterable[Cover]) -> Mapping[str, Sent]:
    """Signal -> how well one host tells it. A budget's ceiling and repeated failures are told by nobody yet."""
    by_topic = {cover.topic: cover for cover in covers}
    sent = {topic: _SENT[cover.state] for topic, cover in by_topic.items()}
    # Sums of a counter have no single call, so nothing of the context follows from them.
    usage = Sent.SILENT if by_topic[Topic.USAGE].basis is Topic.COUNTERS else sent[Topic.USAGE]
    gauge = sent[Topic.GAUGE] if by_topic[Topic.GAUGE].basis is None else Sent.SILENT
    depth = _depth(by_topic[Topic.COMPACTIONS])
    return {
        "context_tokens": min(usage, gauge, key=_ORDER.index),
        "window_tokens": sent[Topic.WINDOW],
        "window_kind": sent[Topic.WINDOW],
        "behind_calls": usage,
        "depth": depth,
        "calls_since_compaction": max(usage, depth, key=_ORDER.index),
        "tool_result_share": Sent.ESTIMATED if sent[Topic.TOOL_SIZES] is Sent.RECEIVED else sent[Topic.TOOL_SIZES],
        "budget_spent_tokens": usage,
        "cache_expiry_seconds": sent[Topic.TTL_SPLIT],
        "idle_seconds": usage,
    }


def _depth(cover: Cover) -> Sent:
    """Zero until a compaction is told, so known from a way that would tell one."""
    return Sent.RECEIVED if cover.todo is Todo.WAIT else _SENT[cover.state]
