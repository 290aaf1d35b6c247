"""Causes of misses in words: what they are, what rules them out, and what to do about them. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from ecm_site.common import figures
from sessions_app.kernel.causes import Cause

#: In a table, and as the subject of a sentence.
NAMES = {
    Cause.SUMMARY: "compactions’ own calls",
    Cause.COMPACTION: "writing again after compactions",
    Cause.CONTEXT_EDIT: "old results cleared",
    Cause.MODEL_SWITCH: "model changed",
    Cause.PARAM_SWITCH: "effort, tier or format changed",
    Cause.TTL_5M: "pauses over 5 minutes",
    Cause.TTL_1H: "pauses over an hour",
    Cause.TTL_MIXED: "pauses: only the 5-minute part was gone",
    Cause.TTL_OTHER: "pauses longer than the cache lives",
    Cause.BELOW_MINIMUM: "prompt too small to be cached",
    Cause.DISABLED: "caching is off",
    Cause.NOT_ADVANCING: "the cached part stands still",
    Cause.TOOLS: "tools changed in mid-session",
    Cause.SYSTEM: "system text changed in mid-session",
    Cause.MESSAGES: "earlier messages changed",
    Cause.CACHE_KEY: "cache key changed",
    Cause.UNKNOWN: "not proved",
    Cause.SMALL: "too small to look into",
}
#: As the answer to "why".
SENTENCES = {
    Cause.SUMMARY: "this call wrote the summary of a compaction",
    Cause.COMPACTION: "the first call after a compaction: expected",
    Cause.CONTEXT_EDIT: "old tool results were cleared: expected",
    Cause.MODEL_SWITCH: "the model was changed, and caches are not shared between models",
    Cause.PARAM_SWITCH: "effort, service tier or output format was changed, and they are part of the cache key",
    Cause.TTL_5M: "the pause was longer than the 5 minutes that the cache lives",
    Cause.TTL_1H: "the pause was longer than the hour that the cache lives",
    Cause.TTL_MIXED: "the part that was written for 5 minutes had gone; the part for an hour was read",
    Cause.TTL_OTHER: "the pause was longer than the cache lives",
    Cause.BELOW_MINIMUM: "the prompt is smaller than the least that this model caches",
    Cause.DISABLED: "nothing is cached in this thread: caching is off, or something on the way drops the marks",
    Cause.NOT_ADVANCING: "the same part is read again and again while the prompt grows: the mark does not move",
    Cause.TOOLS: "the list of tools changed",
    Cause.SYSTEM: "the system text changed",
    Cause.MESSAGES: "an earlier message changed",
    Cause.CACHE_KEY: "the cache key changed",
    Cause.UNKNOWN: "not proved: the prefix changed, or the provider dropped it",
    Cause.SMALL: "too few tokens to have a cause of their own",
}
_TTL_FIX = (
    "Use the 1-hour cache (promptCacheTtl, ENABLE_PROMPT_CACHING_1H) if over 40% of writes follow such pauses;"
    " else clear or compact before a break, while it is cheap"
)
_FIXES = {
    Cause.MODEL_SWITCH: "Give the other model a subagent: it has its own cache and leaves this one alone",
    Cause.PARAM_SWITCH: "Choose effort and tier before the first turn",
    Cause.TTL_5M: _TTL_FIX,
    Cause.TTL_MIXED: _TTL_FIX,
    Cause.TTL_1H: "After an hour start afresh from a note, or compact first: the cache is gone either way",
    Cause.TTL_OTHER: "After a long break start afresh from a note, or compact first: the cache is gone either way",
    Cause.BELOW_MINIMUM: "Nothing, if the prompt stays small; it starts to be cached when it grows",
    Cause.DISABLED: "Check DISABLE_PROMPT_CACHING and whether your gateway passes cache_control on: ecm probe cache",
    Cause.NOT_ADVANCING: "Update the host; behind a gateway, check that it keeps cache_control on the last message",
    Cause.TOOLS: "Connect MCP servers before the first turn, and keep the order of tools fixed",
    Cause.SYSTEM: "Move date, folder and git state out of the system text into the last message",
    Cause.MESSAGES: "Find what rewrites history: hooks that insert text, resumes, plugins that prune each turn",
    Cause.CACHE_KEY: "Send one prompt_cache_key for the whole session",
}
#: What differs on some hosts.
_HOST_FIXES = {
    ("codex", Cause.TOOLS): "Keep the list of MCP servers in config.toml fixed while a session runs",
    ("codex", Cause.TTL_OTHER): "After a long break start a new session from a note: /new with what matters",
    ("opencode", Cause.TTL_5M): "Anthropic models live 5 minutes here: compact before a break, or set a longer cache",
    ("opencode", Cause.SYSTEM): "The date in the system text breaks the cache at midnight; update OpenCode",
    ("litellm", Cause.DISABLED): "Set cache_control_injection_points, and check that the route keeps cache_control",
    ("gemini", Cause.TTL_OTHER): "Nothing is promised here; keep the front of the prompt fixed",
}
_SETTLES = {
    "claude-code": "the provider’s own reason (Claude Code from 2.1.120 on), or fingerprints from a proxy",
    "codex": "the provider’s diagnostics (prompt_cache_diagnostics), or fingerprints from a proxy",
}
_TIMED = (Cause.TTL_5M, Cause.TTL_1H, Cause.TTL_MIXED, Cause.TTL_OTHER)
_SHORT = {
    **dict.fromkeys(_TIMED, "a pause"),
    Cause.COMPACTION: "a compaction",
    Cause.CONTEXT_EDIT: "clearing of old results",
    Cause.MODEL_SWITCH: "another model",
    Cause.TOOLS: "changed tools",
    Cause.SYSTEM: "changed system text",
    Cause.MESSAGES: "an early message changed",
    Cause.DISABLED: "caching is off",
    Cause.BELOW_MINIMUM: "minimum size",
    Cause.NOT_ADVANCING: "a mark that stands still",
}

type Check = Sequence[str | int | None]


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One cause that was looked at, with its numbers."""

    cause: str
    text: str


def name(cause: str) -> str:
    """A cause as the subject of a sentence or the head of a row."""
    return NAMES[Cause(cause)] if cause in _ALL else cause.replace("_", " ")


def sentence(cause: str) -> str:
    """A cause as the answer to "why"."""
    return SENTENCES[Cause(cause)] if cause in _ALL else cause.replace("_", " ")


def fix(cause: str, host: str = "") -> str:
    """What to do about it on this host; empty where nothing is to be done."""
    if cause not in _ALL:
        return ""
    return _HOST_FIXES.get((host, Cause(cause)), _FIXES.get(Cause(cause), ""))


def settles(host: str) -> str:
    """What would tell the cause where no number does."""
    return _SETTLES.get(host, "the provider’s own reason, or fingerprints of the prompt from a proxy")


def check_line(check: Check) -> CheckLine:
    """A stored check [cause, measured, limit] in words."""
    cause, measured, limit = str(check[0]), check[1], check[2]
    words = (
        f"{_SHORT.get(Cause(cause), NAMES[Cause(cause)])}{_numbers(cause, measured, limit)}" if cause in _ALL else cause
    )
    return CheckLine(cause, words)


def _numbers(cause: str, measured: object, limit: object) -> str:
    if not isinstance(measured, int):
        return ""
    if cause in _TIMED and isinstance(limit, int):
        return (
            f" ({figures.duration(measured / 1000)} since the last read; the limit is {figures.duration(limit / 1000)})"
        )
    match cause:
        case Cause.COMPACTION | Cause.CONTEXT_EDIT:
            return " (none between)" if not measured else ""
        case Cause.MODEL_SWITCH:
            return " (the same)" if not measured else ""
        case Cause.TOOLS | Cause.SYSTEM if isinstance(limit, int):
            return f" ({figures.tokens(measured)} tokens were read, beyond the first prompt of {figures.tokens(limit)})"
        case Cause.BELOW_MINIMUM if isinstance(limit, int):
            return f" ({figures.tokens(measured)} tokens; the least is {figures.tokens(limit)})"
        case Cause.DISABLED:
            return f" ({figures.tokens(measured)} tokens went through the cache)"
        case Cause.NOT_ADVANCING:
            return f" (reads differ by {figures.tokens(measured)} tokens in three calls)"
    return ""


_ALL = frozenset(cause.value for cause in Cause)
