"""Hooks of Copilot CLI and of VS Code's agent.

The CLI writes camelCase payloads without the name of the event, which the address tells (`?event=`) or the keys do;
a hook that is registered under Claude's names gets their form, as VS Code's do. They carry no tokens.
"""

from collections.abc import Callable, Mapping
from typing import Any

from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.bodies import parse_records, unwrapped
from sessions_app.feeds.claude_hooks import Hook, event_of, readings_of, signal_of
from sessions_app.feeds.husk import husk
from sessions_app.feeds.times import moment
from sessions_app.kernel.readings import Reading

#: The host's events by the names of those that tell the same.
EVENTS: Mapping[str, str] = {
    "sessionStart": "SessionStart",
    "sessionEnd": "SessionEnd",
    "userPromptSubmitted": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse",
    "postToolUseFailure": "PostToolUseFailure",
    "agentStop": "Stop",
    "subagentStart": "SubagentStart",
    "subagentStop": "SubagentStop",
    "errorOccurred": "StopFailure",
    "preCompact": "PreCompact",
    "notification": "Notification",
    "permissionRequest": "PermissionRequest",
}
_HAS: tuple[tuple[str, Callable[[Husk], bool]], ...] = (
    ("preCompact", lambda p: "trigger" in p or "customInstructions" in p),
    ("postToolUseFailure", lambda p: "toolName" in p and "error" in p),
    ("postToolUse", lambda p: "toolResult" in p),
    ("preToolUse", lambda p: "toolName" in p or "toolCalls" in p),
    ("subagentStop", lambda p: "agentName" in p and ("stopReason" in p or "stop_hook_active" in p)),
    ("subagentStart", lambda p: "agentName" in p),
    ("agentStop", lambda p: "stopReason" in p),
    ("errorOccurred", lambda p: "error" in p),
    ("userPromptSubmitted", lambda p: "prompt" in p),
    ("sessionStart", lambda p: "source" in p or "initialPrompt" in p),
    ("sessionEnd", lambda p: "reason" in p),
)
_SNAKE = {
    "sessionId": "session_id",
    "cwd": "cwd",
    "source": "source",
    "reason": "reason",
    "stopReason": "reason",
    "trigger": "trigger",
    "toolName": "tool_name",
    "toolArgs": "tool_input",
    "toolResult": "tool_response",
    "toolCallId": "tool_use_id",
    "agentName": "agent_type",
    "agentId": "agent_id",
    "timestamp": "timestamp",
}


def parse(body: bytes, context: Context) -> Parsed:
    """One payload, a list of them, or one a line; each may be wrapped as `{"received_at", "payload"}`."""
    return parse_records(body, context, _reduce_and_read)


def _reduce_and_read(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
    reduced = husk(record)
    return reduced, read(reduced, context)


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one hook payload. Refused: `missing_session`."""
    payload, received_ms, where = unwrapped(record, context)
    told = named(payload, context.event)
    session = told.get("session_id")
    if not isinstance(session, str) or not session:
        raise Refused("missing_session", f"{where}/sessionId", "a hook payload needs sessionId, a string")
    # The host's own clock stands in each payload.
    at_ms = moment(payload.get("timestamp"), received_ms).ms
    hook = Hook(told, session, told["hook_event_name"], received_ms if at_ms is None else at_ms)
    return readings_of(hook, signal_of(told, context))


def named(payload: Husk, event: str) -> Husk:
    """A payload under the names of Claude Code's; `event` is what the address says."""
    if isinstance(payload.get("session_id"), str) and "sessionId" not in payload:
        return {**payload, "hook_event_name": event_of(payload, Context(0, event=event))}
    told = {snake: payload[name] for name, snake in _SNAKE.items() if name in payload}
    name = payload.get("hookEventName")
    # Our client writes the name into the payload.
    known = (name if isinstance(name, str) else "") or event or inferred(payload) or "notification"
    return {**told, "hook_event_name": EVENTS.get(known, known)}


def inferred(payload: Husk) -> str:
    """The event that a payload's keys tell; empty where they tell none."""
    return next((event for event, has in _HAS if has(payload)), "")


FEED = Feed("copilot-hook", "copilot", parse, read)
