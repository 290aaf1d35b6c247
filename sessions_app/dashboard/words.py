"""Words for codes. A code without words here is shown as it is, with spaces. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

WINDOW_ORIGINS = {
    "stated": "stated by the host",
    "assumed": "assumed from the model",
    "bounded": "bounded by an automatic compaction",
}
SOURCES = {
    "transcript": "transcripts",
    "otlp_log": "telemetry",
    "otlp_metric": "metrics",
    "otlp_span": "traces",
    "hook": "hooks",
    "statusline": "status line",
    "canonical": "own format",
    "proxy": "proxy",
}
#: Who told the newest reading.
ORIGINS = {
    **SOURCES,
    "transcript": "the transcript",
    "statusline": "the status line",
    "compaction": "a compaction since",
}
PURPOSES = {
    "turn": "",
    "compaction": "compaction’s own call",
    "advisor": "advisor",
    "declined": "declined attempt",
    "title": "title",
    "auxiliary": "auxiliary",
    "recount": "the host’s own count after a compaction",
}
TRIGGERS = {"manual": "by hand", "auto": "by the host", "unknown": "trigger unknown"}
STATES = {
    "completed": "completed",
    "inferred": "inferred from a fall of the context",
    "summary_only": "seen by its summary only",
    "failed": "failed",
    "attempt": "asked for, end not seen",
}
SIGNALS = {
    "boundary": "transcript boundary",
    "notice": "the host’s notice",
    "summary": "summary line",
    "telemetry": "telemetry",
    "post_hook": "hook after",
    "start_hook": "hook at restart",
    "pre_hook": "hook before",
    "micro": "clearing record",
}
#: After a count: one, and any other number.
LOWER_BOUNDS = {
    "compaction_call_unseen": (
        "compaction whose own call is in no record that arrived (transcripts do not hold it)",
        "compactions whose own calls are in no record that arrived (transcripts do not hold them)",
    ),
    "output_partial": (
        "call whose output is a placeholder, as its record was written before the answer ended",
        "calls whose output is a placeholder, as their records were written before the answers ended",
    ),
    "call_uncounted": (
        "call of which the host says only that it was made (a title’s, or one without usage)",
        "calls of which the host says only that they were made (titles’, or without usage)",
    ),
}
HOSTS = {
    "claude-code": "Claude Code",
    "codex": "Codex CLI",
    "opencode": "OpenCode",
    "copilot": "Copilot",
    "gemini": "Gemini CLI",
    "cursor": "Cursor",
    "litellm": "LiteLLM",
    "otlp": "OpenTelemetry",
    "canonical": "own format",
}


def word(words: Mapping[str, str], code: str) -> str:
    """The words of a code."""
    return words.get(code, code.replace("_", " "))


def missing(reasons: Iterable[Mapping[str, Any]]) -> list[str]:
    """What sums lack, one text per reason of the fold's list of `code` and `count`."""
    return [f"{count:,} {lower_bound(code, count)}" for code, count in counted_reasons(reasons)]


def counted_reasons(reasons: Iterable[Mapping[str, Any]]) -> list[tuple[str, int]]:
    """Codes and counts of the fold's list; a reason without a count is one case."""
    return [(str(r.get("code", "")), int(r.get("count", 1))) for r in reasons]


def lower_bound(code: str, count: int) -> str:
    """What is missing, to be read after its count."""
    one, many = LOWER_BOUNDS.get(code, (code.replace("_", " "),) * 2)
    return one if count == 1 else many


def listed(parts: list[str]) -> str:
    """A list as one reads it: a, b and c."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
