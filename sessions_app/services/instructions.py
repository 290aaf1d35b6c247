"""Instruction files and settings: what hosts say of them, as digests. Neither text nor path comes here."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sessions_app.models import InstructionFile, Session
from sessions_app.services import marking

#: Whose settings changed, by what the host calls it.
SETTINGS: Mapping[str, str] = {
    "user_settings": "a user's settings",
    "project_settings": "the project's settings",
    "local_settings": "local settings of the project",
    "policy_settings": "managed settings",
    "skills": "skills",
}
KINDS = ("user", "project", "local", "managed")
NAMES = frozenset(("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", "copilot-instructions.md"))
OTHER = "another file"
MOST_BYTES = 1 << 31
_DIGEST = re.compile(r"[0-9a-f]{16}")
_HEAD = re.compile(r"[0-9a-f]{12}")


def note(*, session: Session, payload: Mapping[str, Any], machine: str, at_ms: int) -> None:
    """Keep what a client told of an instruction file that was loaded."""
    told, kind = payload.get("instructions"), str(payload.get("memory_type", "")).lower()
    if not isinstance(told, dict) or kind not in KINDS:
        return
    digest, size, head = told.get("digest"), told.get("bytes"), told.get("head")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest) or type(size) is not int or size < 0:
        return
    name, committed = told.get("name"), told.get("committed")
    InstructionFile.objects.get_or_create(
        session=session,
        kind=kind,
        name=name if isinstance(name, str) and name in NAMES else OTHER,
        digest=digest,
        defaults={
            "bytes": min(size, MOST_BYTES - 1),
            "committed": committed if isinstance(committed, bool) else None,
            "head": head if isinstance(head, str) and _HEAD.fullmatch(head) else "",
            "machine": machine,
            "at": _moment(at_ms),
        },
    )


def note_settings(*, session: Session, payload: Mapping[str, Any], at_ms: int) -> None:
    """A marker for settings that changed while a session ran."""
    what = SETTINGS.get(str(payload.get("source", "")))
    if what is not None:
        place = f" in {session.project.name}" if session.project is not None else ""
        marking.noticed(session=session, title=f"{what}{place} changed", at=_moment(at_ms))


def _moment(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)
