"""What every line of a Claude Code transcript says beside its message: session, time, place, agent."""

import hashlib
from dataclasses import dataclass

from sessions_app.feeds.base import Context, Husk
from sessions_app.feeds.husk import FLAGS
from sessions_app.feeds.times import moment
from sessions_app.kernel.joins import Ranked

#: Longer ids of lines are kept as a digest of so many characters: every line is kept with its parent's.
SHORT = 12
#: The earliest folder names the project: later ones are where a command went.
FOLDER_RANK = 1 << 45
MINUTE_MS = 60_000

MEMORY_WRITES = frozenset(("create", "str_replace", "insert", "delete", "rename"))


@dataclass(frozen=True, slots=True)
class Line:
    """A line with a session; `ms` is None where its time is absent or impossible (`flags` say so)."""

    husk: Husk
    session: str
    ms: int | None
    received_ms: int
    flags: tuple[str, ...]

    @property
    def received_if_timeless(self) -> int | None:
        """When it was received, where the line has no usable time of its own."""
        return self.received_ms if self.ms is None else None

    def text(self, name: str) -> str | None:
        """A name that the line carries, if it is one."""
        value = self.husk.get(name)
        return value if isinstance(value, str) and value else None

    def ranked(self, value: object) -> Ranked | None:
        """A value that is replaced by what later lines say."""
        return (self.ms or 0, value) if isinstance(value, str) and value else None


def line_of(husk: Husk, context: Context) -> Line | None:
    """The line of a husk; None when it belongs to no session. Also the snake case of the SDK's stream."""
    session = husk.get("sessionId") or husk.get("session_id")
    if not isinstance(session, str) or not session:
        return None
    at = moment(husk.get("timestamp"), context.received_ms)
    flags = husk.get(FLAGS)
    if not flags:
        return Line(husk, session, at.ms, context.received_ms, at.flags)
    return Line(husk, session, at.ms, context.received_ms, tuple(sorted({*at.flags, *flags})))


def short(value: object) -> tuple[str, ...]:
    """An id in few characters, or nothing."""
    if not isinstance(value, str) or not value:
        return ()
    return (value if len(value) <= SHORT else hashlib.blake2b(value.encode(), digest_size=SHORT // 2).hexdigest(),)


def thread_of(husk: Husk) -> Ranked:
    """Which agent wrote the line; a copy in the main chain outranks one in a side file."""
    agent = husk.get("agentId")
    if isinstance(agent, str) and agent:
        return (20, agent)
    # The SDK's stream names the tool use that runs the agent.
    use = husk.get("parent_tool_use_id")
    if isinstance(use, str) and use:
        return (15, use)
    return (10, "side") if husk.get("isSidechain") is True else (30, "")


def is_externalizing(tool: str, command: object = None) -> bool:
    """Whether a tool writes to durable memory; `command` is the memory tool's, where it is known."""
    if tool == "memory":
        return command is None or command in MEMORY_WRITES
    return tool.startswith("mcp__crystalium__")
