"""Whose a file or a record is, told by its shape and never by a version."""

from collections.abc import Callable, Mapping
from typing import Any

from sessions_app.feeds.base import Refused
from sessions_app.feeds.lines import decode

#: Lines that are looked at; some hosts begin with records that hold little.
FIRST_LINES = 20

type Record = Mapping[str, Any]


def _is_claude(record: Record) -> bool:
    return any(name in record for name in ("sessionId", "leafUuid", "parentUuid", "isSidechain", "snapshot"))


def _is_sdk(record: Record) -> bool:
    """The stream of the Agent SDK spells in snake case."""
    return "session_id" in record and isinstance(record.get("type"), str) and "payload" not in record


def _is_codex(record: Record) -> bool:
    return isinstance(record.get("payload"), dict) and isinstance(record.get("type"), str) and "timestamp" in record


def _is_copilot(record: Record) -> bool:
    kind = record.get("type")
    return isinstance(record.get("data"), dict) and isinstance(kind, str) and "id" in record


def _is_gemini(record: Record) -> bool:
    return "sessionId" in record and "projectHash" in record


def _is_opencode(record: Record) -> bool:
    if isinstance(record.get("messages"), list):
        return isinstance(record.get("info"), dict) or isinstance(record.get("sessions"), list)
    return isinstance(record.get("info"), dict) and isinstance(record.get("parts"), list)


#: The more telling shape first: several hosts say `sessionId`.
SHAPES: Mapping[str, Callable[[Record], bool]] = {
    "gemini": _is_gemini,
    "opencode": _is_opencode,
    "codex": _is_codex,
    "copilot": _is_copilot,
    "claude-code": _is_claude,
    "claude-sdk": _is_sdk,
}


def shape_of(record: object) -> str:
    """The shape of one decoded record; empty where it is of none."""
    if not isinstance(record, dict):
        return ""
    return next((shape for shape, fits in SHAPES.items() if fits(record)), "")


def shape_of_text(text: bytes) -> str | None:
    """The shape of a file's text: of its first lines, else of the whole as one document.

    Empty where its records are of none, None where nothing can be read.
    """
    start = text.lstrip(b" \t\r\n\xef\xbb\xbf")
    found: str | None = None
    for line in [*start.split(b"\n", FIRST_LINES)[:FIRST_LINES], start]:
        try:
            record, _ = decode(line.strip(), len(text) + 1)
        except Refused:
            continue
        found = (
            shape_of(record[0] if isinstance(record, list) and record else record)
            if isinstance(record, dict | list)
            else found
        )
        if found:
            return found
    return found
