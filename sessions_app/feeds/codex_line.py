"""Lines of a Codex rollout: what is kept of each, and whose they are.

Only the first line of a file names its session; a spawned agent's file is a thread of its parent's session. Forks
and spawned agents embed the first lines of their ancestors below their own, so the first one in the file counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sessions_app.feeds.base import Context, Husk, Refused
from sessions_app.feeds.husk import FLAGS, husk
from sessions_app.feeds.husk_strings import size_of
from sessions_app.feeds.lines import decode
from sessions_app.feeds.times import moment
from sessions_app.kernel.joins import Ranked

#: The main chain outranks any agent that replays it, an agent those that it spawned.
MAIN_RANK, DEEPEST_AGENT = 30, 20

#: Fields that are kept of each type of line, everything else is not even looked at.
_META = (
    "id session_id timestamp cwd originator cli_version source thread_source parent_thread_id forked_from_id agent_role"
)
KEPT: Mapping[str, frozenset[str]] = {
    kind: frozenset(names.split())
    for kind, names in {
        "session_meta": f"{_META} git",
        "turn_context": "turn_id cwd model effort",
        "token_usage_record": "thread_id turn_id response_id usage",
        "compacted": "window_id previous_window_id window_number compaction_response_id",
        "event_msg": "type turn_id info model_context_window reason duration_ms",
        "response_item": "type call_id status",
    }.items()
}
_EVENTS = frozenset(
    "token_count task_started task_complete user_message item_completed turn_aborted context_compacted error"
    " thread_settings_applied".split()
)
_CALLS = frozenset(("function_call", "custom_tool_call", "local_shell_call"))
_OUTPUTS = frozenset(("function_call_output", "custom_tool_call_output"))


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its session; `ms` is None where its time is absent or impossible (`flags` say so)."""

    kind: str
    payload: Husk
    session: str
    thread: Ranked
    ms: int | None
    received_ms: int
    flags: tuple[str, ...]

    @property
    def received_if_timeless(self) -> int | None:
        """When it was received, where the line has no usable time of its own."""
        return self.received_ms if self.ms is None else None

    @property
    def event(self) -> str:
        """What an event or an item is."""
        return self.text("type")

    def text(self, name: str) -> str:
        """A name that the payload carries, if it is one."""
        value = self.payload.get(name)
        return value if isinstance(value, str) else ""

    def tree(self, name: str) -> Husk:
        """A part of the payload; empty where it is none."""
        value = self.payload.get(name)
        return value if isinstance(value, dict) else {}

    def ranked(self, value: object) -> Ranked | None:
        """A value that is replaced by what later lines say."""
        return (self.ms or 0, value) if isinstance(value, str) and value else None


def reduce(record: Any, context: Context) -> Husk:
    """The husk of a line with its owner written into it, so that it can be read again by itself."""
    if not isinstance(record, dict):
        raise Refused("not_an_object", "", f"expected an object, got {type(record).__name__}")
    payload, kind = record.get("payload"), record.get("type")
    told = payload if isinstance(payload, dict) else {}
    names = KEPT.get(kind, frozenset()) if isinstance(kind, str) else frozenset()
    kept = {name: told[name] for name in names if name in told}
    if kind in ("event_msg", "response_item"):
        kept |= _of_event(told) if kind == "event_msg" else _of_item(told)
    out: Husk = {
        **husk({name: record[name] for name in ("timestamp", "type", FLAGS) if name in record}),
        "payload": husk(kept),
        **owner(record, context),
    }
    return out


def owner(record: Husk, context: Context) -> Husk:
    """Whose a line is: as a client wrote it onto the line, else as the file's first line says."""
    named = {name: record[name] for name in ("session_id", "thread_id", "depth") if name in record}
    if isinstance(named.get("session_id"), str):
        return husk(named)
    thread = {"thread_id": context.thread, "depth": context.depth} if context.thread else {}
    return {"session_id": context.session, **thread}


def _of_event(told: Husk) -> Husk:
    settings, item = told.get("thread_settings"), told.get("item")
    out: Husk = {}
    if isinstance(told.get("rate_limits"), dict):
        out["limits"] = {name: told["rate_limits"].get(name) for name in ("primary", "secondary")}
    if isinstance(settings, dict):
        out["model"] = settings.get("model")
    if isinstance(item, dict):
        out["kind"] = item.get("type")
    return out


def _of_item(told: Husk) -> Husk:
    """Name and size of a tool's input, or the size of what it gave."""
    kind = told.get("type")
    if not isinstance(kind, str):
        return {}
    if kind in _CALLS:
        return {
            "tool_name": told.get("name"),
            "input_bytes": size_of(told.get("arguments", told.get("input", told.get("action")))),
        }
    return {"output_bytes": size_of(told.get("output"))} if kind in _OUTPUTS else {}


def is_telling(kind: object, payload: Husk) -> bool:
    """Whether lines of this type tell anything; the rest needs no owner."""
    what = payload.get("type")
    if kind == "event_msg":
        return isinstance(what, str) and what in _EVENTS
    if kind == "response_item":
        return isinstance(what, str) and what in _CALLS | _OUTPUTS
    return isinstance(kind, str) and kind in KEPT


def prepared(body: bytes, context: Context) -> Context:
    """The context with the owner of the lines, as the first `session_meta` tells it; a told one stays."""
    if context.session:
        return context
    place = body.find(b'"session_meta"')
    if place < 0:
        return context
    start, end = body.rfind(b"\n", 0, place) + 1, body.find(b"\n", place)
    try:
        record, _ = decode(body[start : len(body) if end < 0 else end].strip())
    except Refused:
        return context
    if not isinstance(record, dict) or record.get("type") != "session_meta":
        return context
    payload = reduce(record, context)["payload"]
    session, thread, depth = owner_of(payload)
    return replace(context, session=session, thread=thread, depth=depth)


def owner_of(meta: Husk) -> tuple[str, str, int]:
    """(session, thread, depth) of a file by its first line; the main chain has no thread."""
    own, root = meta.get("id"), meta.get("session_id")
    if not isinstance(own, str):
        return (root if isinstance(root, str) else "", "", 0)
    spawn = spawned(meta)
    parent = spawn.get("parent_thread_id") or meta.get("parent_thread_id")
    depth = spawn.get("depth")
    level = depth if isinstance(depth, int) and 0 < depth < DEEPEST_AGENT else 1
    if isinstance(root, str) and root and root != own:
        return (root, own, level)
    if isinstance(parent, str) and parent and parent != own:
        return (parent, own, level)
    return (own, "", 0)


def spawned(meta: Husk) -> Husk:
    """What a spawned agent's first line says of its parent."""
    source = meta.get("source")
    agent = source.get("subagent") if isinstance(source, dict) else None
    spawn = agent.get("thread_spawn") if isinstance(agent, dict) else None
    return spawn if isinstance(spawn, dict) else {}


def line_of(record: Husk, context: Context) -> Line | None:
    """The line of a husk; None when it belongs to no session."""
    session, thread = record.get("session_id") or context.session, record.get("thread_id")
    payload, kind = record.get("payload"), record.get("type")
    if not isinstance(session, str) or not session or not isinstance(payload, dict) or not isinstance(kind, str):
        return None
    depth = record.get("depth")
    rank = DEEPEST_AGENT - (depth if isinstance(depth, int) and 0 <= depth < DEEPEST_AGENT else 1)
    at = moment(record.get("timestamp"), context.received_ms)
    flags = tuple(sorted({*at.flags, *(record.get(FLAGS) or ())}))
    owner = (rank, thread) if isinstance(thread, str) and thread else (MAIN_RANK, "")
    return Line(kind, payload, session, owner, at.ms, context.received_ms, flags)
