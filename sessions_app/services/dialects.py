"""How a verdict is said to each host: which of its hooks anybody hears, and in which form.

Codex takes the form of Claude Code and refuses keys that it does not know; a hook before a compaction can tell its
summariser nothing. Copilot adds a text for the model at a start and after a tool, drops what a prompt's hook says,
and shows nothing to the person. The doors of OpenCode and Gemini CLI make their own of Claude Code's form.
"""

import json
from collections.abc import Mapping
from typing import Any

from sessions_app.models import Host

_ALL = frozenset(("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop"))
#: Hooks whose answer reaches the model or the person; a host that is not here hears nothing.
HEARS: Mapping[str, frozenset[str]] = {
    Host.CLAUDE_CODE: _ALL,
    Host.CODEX: _ALL - {"PostToolUseFailure"},
    Host.COPILOT: frozenset(("SessionStart", "PostToolUse")),
    Host.OPENCODE: _ALL,
    Host.GEMINI: _ALL,
}


def hears(host: str, event: str) -> bool:
    """Whether anybody hears the answer to this hook."""
    return event in HEARS.get(host, frozenset())


def said(host: str, event: str, to_model: str, to_human: str) -> str:
    """The answer as the host reads it; empty where there is nothing to say."""
    body: dict[str, Any] = {}
    if host == Host.COPILOT:
        body = {"additionalContext": to_model} if to_model else {}
    else:
        if to_model:
            body["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": to_model}
        if to_human:
            body["systemMessage"] = to_human
    return json.dumps(body, ensure_ascii=False) if body else ""


def before_compaction(host: str, text: str) -> str:
    """What the summariser is told, where the host hands it on."""
    return "" if host in (Host.CODEX, Host.COPILOT) else text
