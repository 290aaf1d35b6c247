"""Lines of Copilot CLI's `events.jsonl`: what is kept of each, and whose they are.

Only `session.start` (and some `session.resume`) names the session; the folder of the file does too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sessions_app.feeds.base import Context, Husk, Refused
from sessions_app.feeds.codex_line import owner
from sessions_app.feeds.husk import FLAGS, husk
from sessions_app.feeds.husk_strings import size_of
from sessions_app.feeds.lines import decode
from sessions_app.feeds.times import moment
from sessions_app.kernel.joins import Ranked

MAIN_RANK, AGENT_RANK = 30, 20

#: Fields that are kept of each type of line, everything else is not even looked at.
KEPT: Mapping[str, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        "session.start": "sessionId",
        "session.resume": "sessionId",
        "session.model_change": "",
        "user.message": "messageId interactionId",
        "assistant.message": "messageId model outputTokens requestId apiCallId interactionId parentToolCallId",
        "assistant.usage": "",
        "session.usage_record": "",
        "tool.execution_start": "toolCallId toolName",
        "tool.execution_complete": "toolCallId success",
        "session.compaction_start": "trigger",
        "session.compaction_complete": "success trigger preCompactionTokens postCompactionTokens requestId",
        "session.truncation": "tokensRemovedDuringTruncation droppedTokens",
        "subagent.started": "toolCallId",
        "session.error": "",
        "session.shutdown": "",
    }.items()
}
_USAGE = frozenset(
    "model inputTokens outputTokens cacheReadTokens cacheWriteTokens reasoningTokens duration initiator interactionType"
    " maxPromptTokens apiCallId providerCallId parentToolCallId finishReason".split()
)
_PROMPT = ("input", "cache_read", "cache_write")
_SPENT = frozenset("model inputTokens outputTokens cacheReadTokens cacheWriteTokens duration".split())


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its session; `ms` is None where its time is absent or impossible (`flags` say so)."""

    kind: str
    data: Husk
    name: str
    session: str
    thread: Ranked
    ms: int | None
    received_ms: int
    flags: tuple[str, ...]

    @property
    def received_if_timeless(self) -> int | None:
        """When it was received, where the line has no usable time of its own."""
        return self.received_ms if self.ms is None else None

    def text(self, name: str) -> str:
        """A name that the data carries, if it is one."""
        value = self.data.get(name)
        return value if isinstance(value, str) else ""

    def tree(self, name: str) -> Husk:
        """A part of the data; empty where it is none."""
        value = self.data.get(name)
        return value if isinstance(value, dict) else {}

    def ranked(self, value: object) -> Ranked | None:
        """A value that is replaced by what later lines say."""
        return (self.ms or 0, value) if isinstance(value, str) and value else None


def reduce(record: Any, context: Context) -> Husk:
    """The husk of a line with its owner written into it, so that it can be read again by itself."""
    if not isinstance(record, dict):
        raise Refused("not_an_object", "", f"expected an object, got {type(record).__name__}")
    data, kind = record.get("data"), record.get("type")
    told = data if isinstance(data, dict) else {}
    names = KEPT.get(kind) if isinstance(kind, str) else None
    kept = {} if names is None else {name: told[name] for name in names if name in told} | _more(str(kind), told)
    heads = ("id", "timestamp", "type", "agentId", FLAGS)
    return {
        **husk({name: record[name] for name in heads if name in record}),
        "told": husk(kept),
        **owner(record, context),
    }


def _more(kind: str, told: Husk) -> Husk:
    """What is kept under names of ours: places, sizes, and maps whose keys are models."""
    if kind in ("session.start", "session.resume"):
        return _place(told)
    if kind in ("session.usage_record", "assistant.usage"):
        usage = told.get("usage") if kind == "session.usage_record" else told
        inside = usage if isinstance(usage, dict) else {}
        accounting = _tree(inside, "accounting")
        return {"usage": _picked(inside, _USAGE), "parentSessionId": accounting.get("sourceSessionId")}
    if kind == "session.model_change":
        return {"model": told.get("newModel")}
    if kind == "tool.execution_start":
        return {"input_bytes": size_of(told.get("arguments"))}
    if kind == "tool.execution_complete":
        return {"output_bytes": size_of(_tree(told, "result").get("content", told.get("result", told.get("error"))))}
    if kind == "subagent.started":
        return {"agent_type": told.get("agentName")}
    if kind == "session.compaction_complete":
        return {"spent": _spent(_tree(told, "compactionTokensUsed"))}
    return {"metrics": _metrics(told), "model": told.get("currentModel")} if kind == "session.shutdown" else {}


def _place(told: Husk) -> Husk:
    context = _tree(told, "context")
    host, name = context.get("repositoryHost"), context.get("repository")
    return {
        "version": told.get("copilotVersion"),
        "model": told.get("selectedModel"),
        "cwd": context.get("cwd"),
        "branch": context.get("branch"),
        "remote": f"{host}/{name}" if isinstance(host, str) and isinstance(name, str) else None,
    }


def _spent(used: Husk) -> Husk:
    """The summary's own call; its details tell writes that the plain figure may leave out."""
    out = _picked(used, _SPENT)
    details = _tree(used, "copilotUsage").get("tokenDetails")
    by_type = {
        d.get("tokenType"): d.get("tokenCount")
        for d in (details if isinstance(details, list) else ())
        if isinstance(d, dict) and isinstance(d.get("tokenType"), str)
    }
    parts = [count for name in _PROMPT if type(count := by_type.get(name, 0)) is int]
    if len(parts) == len(_PROMPT) and sum(parts) == used.get("inputTokens"):
        out |= {"cacheReadTokens": parts[1], "cacheWriteTokens": parts[2]}
    return out


def _metrics(told: Husk) -> list[Husk]:
    """Sums of a leg by model; names of models are no names of fields."""
    metrics = told.get("modelMetrics", _tree(told, "accountingSnapshot").get("modelMetrics"))
    rows: list[Husk] = []
    for model, told_of in metrics.items() if isinstance(metrics, dict) else ():
        if not isinstance(told_of, dict):
            continue
        requests = told_of.get("requests")
        count = requests.get("count") if isinstance(requests, dict) else requests
        rows.append({"model": model, "requests": count, **_picked(_tree(told_of, "usage"), _USAGE - {"model"})})
    return rows


def _tree(holder: Husk, name: str) -> Husk:
    value = holder.get(name)
    return value if isinstance(value, dict) else {}


def _picked(holder: Husk, names: frozenset[str]) -> Husk:
    return {name: holder[name] for name in names if name in holder}


def prepared(body: bytes, context: Context) -> Context:
    """The context with the session that the first line naming one tells; a told one stays."""
    if context.session:
        return context
    for mark in (b'"session.start"', b'"session.resume"'):
        place = body.find(mark)
        if place < 0:
            continue
        start, end = body.rfind(b"\n", 0, place) + 1, body.find(b"\n", place)
        try:
            record, _ = decode(body[start : len(body) if end < 0 else end].strip())
            session = reduce(record, context)["told"].get("sessionId")
        except Refused:
            continue
        if isinstance(session, str) and session:
            return replace(context, session=session)
    return context


def first_text(*values: object) -> str:
    """The first of these that is a text."""
    return next((value for value in values if isinstance(value, str) and value), "")


def line_of(record: Husk, context: Context) -> Line | None:
    """The line of a husk; None when it belongs to no session."""
    session = record.get("session_id") or context.session
    data, kind = record.get("told"), record.get("type")
    if not isinstance(session, str) or not session or not isinstance(data, dict) or not isinstance(kind, str):
        return None
    agent = first_text(
        record.get("agentId"), data.get("parentToolCallId"), _tree(data, "usage").get("parentToolCallId")
    )
    at = moment(record.get("timestamp"), context.received_ms)
    flags = tuple(sorted({*at.flags, *(record.get(FLAGS) or ())}))
    thread = (AGENT_RANK, agent) if agent else (MAIN_RANK, "")
    name = record.get("id")
    return Line(kind, data, name if isinstance(name, str) else "", session, thread, at.ms, context.received_ms, flags)
