"""Hooks of Claude Code: one payload a delivery, or several as a list or as lines (spools, replays).

Hooks carry no tokens, no clock and no id of their own. A payload is named by the digest of its husk; only
a compaction's hook without `prompt_id` is named by its receipt too: three such intentions are three.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.bodies import parse_records, payloads, unwrapped
from sessions_app.feeds.claude_line import FOLDER_RANK, MINUTE_MS, is_externalizing
from sessions_app.feeds.husk import SIZE, husk, size_of
from sessions_app.kernel.joins import Ranked
from sessions_app.kernel.readings import (
    HANDOFF,
    CompactionReading,
    Mark,
    MarkReading,
    Reading,
    SessionReading,
    Signal,
    Source,
    StepsReading,
    ToolSize,
)

MARKS = {
    "SessionStart": Mark.START,
    "SessionEnd": Mark.END,
    "UserPromptSubmit": Mark.PROMPT,
    "Stop": Mark.STOP,
    "SubagentStart": Mark.AGENT_START,
    "SubagentStop": Mark.AGENT_STOP,
    "StopFailure": Mark.API_ERROR,
}
COMPACTIONS = {"PreCompact": Signal.PRE_HOOK, "PostCompact": Signal.POST_HOOK}
#: How an API failure is called by StopFailure; under the same key other hooks hold text.
FAILURES = frozenset(
    "rate_limit overloaded authentication_failed oauth_org_not_allowed billing_error invalid_request model_not_found"
    " server_error max_output_tokens unknown verification_required cloud_credential_error account_on_hold".split()
)


#: Hooks that tell how a tool use ended.
TOOL_ENDS = ("PostToolUse", "PostToolUseFailure")


def reduce(record: Any) -> Husk:
    """The husk of a payload, the name of the API failure that ended a turn, and a tool's input as a hash."""
    reduced = husk(record)
    for place, payload in payloads(record):
        held = reduced.get(place) if place else reduced
        if not isinstance(held, dict) or SIZE in held:
            continue
        failure = payload.get("error")
        if payload.get("hook_event_name") == "StopFailure" and isinstance(failure, str) and failure in FAILURES:
            held["error_type"] = failure
        given = payload.get("tool_input")
        if payload.get("hook_event_name") in TOOL_ENDS and isinstance(given, dict) and SIZE not in given:
            held["input_hash"] = input_hash(str(payload.get("session_id")), given)
    return reduced


def input_hash(session: str, given: dict[str, Any]) -> str:
    """By which equal inputs of one session are known again, and nothing else: the session is mixed in."""
    text = json.dumps([session, given], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def parse(body: bytes, context: Context) -> Parsed:
    """One payload, a list of them, or one a line; each may be wrapped as `{"received_at", "payload"}`."""
    return parse_hooks(body, context, read)


def parse_hooks(body: bytes, context: Context, read: Callable[[Husk, Context], tuple[Reading, ...]]) -> Parsed:
    """The same for hosts whose hooks have this form, with their own `read`."""
    repeated: Counter[str] = Counter()

    def read_one(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
        reduced = reduce(record)
        payload, received_ms, where = unwrapped(reduced, context)
        if not where and not payload.get("prompt_id") and signal_of(payload, context):
            # Equal intentions in one body came one after the other; their receipts tell them apart.
            name = _digest(payload)
            if repeated[name]:
                reduced = {"received_at": (received_ms + repeated[name]) / 1000, "payload": payload}
            repeated[name] += 1
        return reduced, read(reduced, context)

    return parse_records(body, context, read_one)


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one hook payload. Refused: `missing_session`."""
    payload, received_ms, where = unwrapped(record, context)
    session = payload.get("session_id")
    if not isinstance(session, str) or not session:
        raise Refused("missing_session", f"{where}/session_id", "a hook payload needs session_id, a string")
    hook = Hook(payload, session, event_of(payload, context), received_ms)
    return readings_of(hook, signal_of(payload, context))


def readings_of(hook: "Hook", signal: Signal | None) -> tuple[Reading, ...]:
    """All that a payload tells."""
    return (*hook.marks(), *([hook.compaction(signal)] if signal else []), *hook.steps(), hook.facts())


def event_of(payload: Husk, context: Context) -> str:
    """The name of the hook, by the payload, else by the address."""
    name = payload.get("hook_event_name")
    return name if isinstance(name, str) and name else context.event


def signal_of(payload: Husk, context: Context) -> Signal | None:
    """What the hook says of a compaction."""
    event = event_of(payload, context)
    if event == "SessionStart" and payload.get("source") == "compact":
        return Signal.START_HOOK
    return COMPACTIONS.get(event)


def _digest(payload: Husk) -> str:
    return hashlib.sha256(msgspec.json.encode(payload, order="sorted")).hexdigest()[:16]


class Hook:
    """One payload and what can be read from it. Nothing but the names holds the time of receipt."""

    def __init__(self, payload: Husk, session: str, event: str, received_ms: int) -> None:
        self.payload, self.session, self.event, self.received_ms = payload, session, event, received_ms
        self.digest = _digest(payload)

    def text(self, name: str) -> str:
        value = self.payload.get(name)
        return value if isinstance(value, str) else ""

    def ranked(self, name: str) -> Ranked | None:
        value = self.text(name)
        return (0, value) if value else None

    @property
    def thread(self) -> Ranked:
        agent = self.text("agent_id")
        return (20, agent) if agent else (0, "")

    def marks(self) -> list[Reading]:
        found: list[Reading] = []
        mark = MARKS.get(self.event)
        # The summariser runs as an agent without a type; it is no agent of the user's.
        if mark and not (mark in (Mark.AGENT_START, Mark.AGENT_STOP) and not self.text("agent_type")):
            detail = self.text("source") or self.text("reason") or self.text("error_type")
            found.append(self._mark(mark, self._name(mark), detail))
        tool, use, given = self.text("tool_name"), self.text("tool_use_id"), self.payload.get("tool_input")
        command = given.get("command") if isinstance(given, dict) else None
        # The client knows its user's note files; the tool's name alone does not tell them.
        sink = tool if is_externalizing(tool, command) else self.text("externalizes")
        if self.event == "PostToolUse" and use and sink:
            found.append(self._mark(Mark.EXTERNALIZE, use, sink))
        return found

    def _name(self, mark: Mark) -> str:
        if mark is Mark.START:
            return f"start:{self.text('source')}:{self.digest}"
        if mark is Mark.PROMPT:
            return f"prompt:{self.text('prompt_id') or self.digest}"
        return f"{mark}:{self.digest}"

    def _mark(self, mark: Mark, key: str, detail: str) -> MarkReading:
        return MarkReading(
            session=self.session,
            source=Source.HOOK,
            key=key,
            mark=mark,
            received_ms=self.received_ms,
            detail=(0, detail) if detail else None,
            thread=self.thread,
            prompt_id=self.ranked("prompt_id"),
        )

    def compaction(self, signal: Signal) -> CompactionReading:
        key = f"{signal}:{self.digest}"
        return CompactionReading(
            session=self.session,
            source=Source.HOOK,
            key=key if self.text("prompt_id") else f"{key}:{self.received_ms}",
            signal=signal,
            trigger=self.ranked("trigger"),
            received_ms=self.received_ms,
            prompt_id=self.ranked("prompt_id"),
            thread=self.thread if self.text("agent_type") else (0, ""),
        )

    def steps(self) -> list[Reading]:
        use = self.text("tool_use_id")
        if self.event not in TOOL_ENDS or not use:
            return []
        size = ToolSize(
            name=self.text("tool_name") or None,
            result_bytes=size_of(self.payload.get("tool_response", self.payload.get("error"))),
            input_bytes=size_of(self.payload.get("tool_input")),
            failed=int(self.event == "PostToolUseFailure"),
            at_ms=self.received_ms,
            thread=self.text("agent_id"),
            input_hash=self.text("input_hash"),
        )
        minute = str(self.received_ms // MINUTE_MS)
        return [StepsReading(session=self.session, source=Source.HOOK, key=minute, tools={use: size})]

    def facts(self) -> SessionReading:
        cwd, agent, kind = self.text("cwd"), self.text("agent_id"), self.text("agent_type")
        return SessionReading(
            session=self.session,
            source=Source.HOOK,
            key="session",
            received_ms=self.received_ms,
            project=(FOLDER_RANK - self.received_ms, cwd) if cwd else None,
            model=self.ranked("model"),
            agents={agent: kind} if agent and kind else {},
            parent=self.ranked("parent_session_id") if self.payload.get("handoff") is True else None,
            flags=(HANDOFF,) if self.payload.get("handoff") is True else (),
        )


FEED = Feed("claude-code-hook", "claude-code", parse, read)
