"""Tools and their instructions that come and go: Claude Code names them in attachments; counts are kept of them."""

from typing import Any

#: Types of attachments that change what the model is told of its tools, with the lists that they name.
DELTAS = {
    "deferred_tools_delta": ("addedNames", "removedNames"),
    "mcp_instructions_delta": ("addedNames", "removedNames"),
    "agent_listing_delta": ("addedTypes", "removedTypes"),
}
MOST = 10_000


def tool_delta(attachment: dict[str, Any]) -> dict[str, Any] | None:
    """An attachment of this kind as type and counts; None where it is another one. What was counted stays so."""
    kind = attachment.get("type")
    if not isinstance(kind, str) or kind not in DELTAS:
        return None
    names = zip(DELTAS[kind], ("added", "removed"), strict=True)
    added, removed = (_count(attachment.get(name), attachment.get(short)) for name, short in names)
    return {"type": kind, "added": added, "removed": removed}


def _count(names: object, counted: object) -> int:
    if isinstance(names, list):
        return min(len(names), MOST)
    return min(counted, MOST) if type(counted) is int and counted > 0 else 0
