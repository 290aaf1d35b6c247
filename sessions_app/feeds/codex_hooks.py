"""Hooks of Codex: the form of Claude Code's, with the turn's id and the model in nearly every payload.

They carry no tokens. Two compactions may share a turn, so a compaction's hook is named by its receipt.
"""

import msgspec

from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.bodies import unwrapped
from sessions_app.feeds.claude_hooks import Hook, event_of, parse_hooks, readings_of, signal_of
from sessions_app.kernel.readings import CompactionReading, Reading, Signal


class CodexHook(Hook):
    """A payload whose turn is what other hosts call a prompt."""

    def compaction(self, signal: Signal) -> CompactionReading:
        """A signal of a compaction, whatever the turn."""
        told = super().compaction(signal)
        return msgspec.structs.replace(told, key=f"{signal}:{self.digest}:{self.received_ms}", prompt_id=None)


def parse(body: bytes, context: Context) -> Parsed:
    """One payload, a list of them, or one a line; each may be wrapped as `{"received_at", "payload"}`."""
    return parse_hooks(body, context, read)


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one hook payload. Refused: `missing_session`."""
    payload, received_ms, where = unwrapped(record, context)
    session = payload.get("session_id")
    if not isinstance(session, str) or not session:
        raise Refused("missing_session", f"{where}/session_id", "a hook payload needs session_id, a string")
    told = {**payload, "prompt_id": payload["turn_id"]} if isinstance(payload.get("turn_id"), str) else payload
    hook = CodexHook(told, session, event_of(payload, context), received_ms)
    return readings_of(hook, signal_of(payload, context))


FEED = Feed("codex-hook", "codex", parse, read)
