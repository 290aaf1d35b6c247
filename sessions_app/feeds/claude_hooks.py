"""Hooks of Claude Code: one payload a delivery, or several as a list or as lines (spools, replays).

Hooks carry no tokens, no clock and no id of their own. A payload is named by the digest of its husk; only
a compaction's hook without `prompt_id` is named by its receipt too: three such intentions are three.
"""

import hashlib
from typing import Any

import msgspec

from sessions_app.feeds.base import Context, Feed, Husk, Item, Parsed, Refusal, Refused
from sessions_app.feeds.claude_transcript import FOLDER_RANK, MINUTE_MS, is_externalizing
from sessions_app.feeds.husk import husk, size_of
from sessions_app.feeds.lines import decode, parse_lines
from sessions_app.feeds.times import moment
from sessions_app.kernel.joins import Ranked
from sessions_app.kernel.readings import (
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
    "SessionEnd": Mark.END,
    "UserPromptSubmit": Mark.PROMPT,
    "Stop": Mark.STOP,
    "SubagentStart": Mark.AGENT_START,
    "SubagentStop": Mark.AGENT_STOP,
    "StopFailure": Mark.API_ERROR,
}
COMPACTIONS = {"PreCompact": Signal.PRE_HOOK, "PostCompact": Signal.POST_HOOK}


def parse(body: bytes, context: Context) -> Parsed:
    """One payload, a list of them, or one a line; each may be wrapped as `{"received_at", "payload"}`."""
    stripped = body.strip()
    if stripped.startswith(b"{") and b"\n" in stripped:
        try:
            decode(stripped)
        except Refused:
            return parse_lines(body, context, _reduce_and_read)
    parsed = Parsed()
    try:
        value, _ = decode(stripped)
    except Refused as refused:
        parsed.refusals.append(Refusal(1, refused.pointer, refused.code, refused.message))
        return parsed
    for position, payload in enumerate(value if isinstance(value, list) else [value], 1):
        try:
            parsed.items.append(Item(position, *_reduce_and_read(payload, context)))
        except Refused as refused:
            parsed.refusals.append(Refusal(position, refused.pointer, refused.code, refused.message))
    return parsed


def _reduce_and_read(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
    reduced = husk(record)
    return reduced, read(reduced, context)


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one hook payload."""
    payload, received_ms = _unwrapped(record, context)
    session = payload.get("session_id")
    if not isinstance(session, str) or not session:
        raise Refused("missing_session", "/session_id", "a hook payload needs session_id, a string")
    event = str(payload.get("hook_event_name") or context.event)
    hook = _Hook(payload, session, event, received_ms)
    return (*hook.marks(), *hook.compactions(), *hook.steps(), hook.facts())


def _unwrapped(record: Husk, context: Context) -> tuple[Husk, int]:
    payload = record.get("payload")
    if not isinstance(payload, dict):
        return record, context.received_ms
    received = record.get("received_at")
    at = moment(received, context.received_ms).ms
    return payload, at if at is not None else context.received_ms


class _Hook:
    """One payload and what can be read from it."""

    def __init__(self, payload: Husk, session: str, event: str, received_ms: int) -> None:
        self.payload, self.session, self.event, self.received_ms = payload, session, event, received_ms
        digest = hashlib.sha256(msgspec.json.encode(payload, order="sorted"))
        self.digest = digest.hexdigest()[:16]

    def text(self, name: str) -> str:
        value = self.payload.get(name)
        return value if isinstance(value, str) else ""

    def ranked(self, name: str) -> Ranked | None:
        value = self.text(name)
        return (self.received_ms, value) if value else None

    def marks(self) -> list[Reading]:
        found: list[Reading] = []
        if self.event == "SessionStart":
            found.append(self._mark(Mark.START, f"start:{self.digest}", self.text("source")))
        elif self.event == "SubagentStop" and not self.text("agent_type"):
            # The summariser runs as an agent without a type; it is no agent of the user's.
            return found
        elif self.event in MARKS:
            found.append(self._mark(MARKS[self.event], f"{self.event}:{self.digest}", self.text("reason")))
        tool, use = self.text("tool_name"), self.text("tool_use_id")
        if self.event == "PostToolUse" and use and is_externalizing(tool):
            found.append(self._mark(Mark.EXTERNALIZE, use, tool))
        return found

    def _mark(self, mark: Mark, key: str, detail: str) -> MarkReading:
        return MarkReading(
            session=self.session,
            source=Source.HOOK,
            key=key,
            mark=mark,
            received_ms=self.received_ms,
            detail=(0, detail) if detail else None,
            thread=(20, self.text("agent_id")) if self.text("agent_id") else (0, ""),
            prompt_id=self.ranked("prompt_id"),
        )

    def compactions(self) -> list[Reading]:
        signal = COMPACTIONS.get(self.event)
        if self.event == "SessionStart" and self.text("source") == "compact":
            signal = Signal.START_HOOK
        if signal is None:
            return []
        named = bool(self.text("prompt_id"))
        return [
            CompactionReading(
                session=self.session,
                source=Source.HOOK,
                key=f"{signal}:{self.digest}" if named else f"{signal}:{self.digest}:{self.received_ms}",
                signal=signal,
                trigger=self.ranked("trigger"),
                received_ms=self.received_ms,
                prompt_id=self.ranked("prompt_id"),
                thread=(20, self.text("agent_id")) if self.text("agent_type") else (0, ""),
            )
        ]

    def steps(self) -> list[Reading]:
        use = self.text("tool_use_id")
        if self.event not in ("PostToolUse", "PostToolUseFailure") or not use:
            return []
        size = ToolSize(
            name=self.text("tool_name") or None,
            result_bytes=size_of(self.payload.get("tool_response")),
            input_bytes=size_of(self.payload.get("tool_input")),
            failed=int(self.event == "PostToolUseFailure"),
            at_ms=self.received_ms,
            thread=self.text("agent_id"),
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
        )


FEED = Feed("claude-code-hook", "claude-code", parse, read)
