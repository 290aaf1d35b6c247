"""Who can carry out an operation on which host: enforced, advised, or impossible, and by what.

In Claude Code only the human can type `/compact`, and no setting clears tool results; OpenCode has settings for both
and a plugin that speaks to model and human; Cursor's hooks only reach the human. A gateway sees calls, and nobody
there can act on a session. What was tried with the host itself is in TRIED, with its version.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from policy_app.kernel.operations import Operation
from policy_app.kernel.signals import HOSTS


class Force(StrEnum):
    """How far an operation reaches on a host."""

    ENFORCED = "enforced"
    ADVISED = "advised"
    IMPOSSIBLE = "impossible"


class Addressee(StrEnum):
    """Whom the verdict speaks to."""

    NOBODY = "nobody"
    MODEL = "model"
    HUMAN = "human"
    SETTING = "setting"
    PLUGIN = "plugin"
    HARNESS = "harness"


@dataclass(frozen=True, slots=True)
class Lever:
    """One cell of the matrix; `also` is a second addressee who is advised beside an enforcing one."""

    force: Force
    addressee: Addressee
    by: str
    also: Addressee | None = None


NO_LEVER = Lever(Force.IMPOSSIBLE, Addressee.NOBODY, "this host has no lever for it")
_NOTHING_TO_DO = Lever(Force.ENFORCED, Addressee.NOBODY, "nothing needs to be done")
_UNHEARD = Lever(Force.IMPOSSIBLE, Addressee.NOBODY, "calls are seen here, and nobody is there to be told")


def _to_model(by: str) -> Lever:
    return Lever(Force.ADVISED, Addressee.MODEL, by)


def _to_human(by: str) -> Lever:
    return Lever(Force.ADVISED, Addressee.HUMAN, by)


def _spoken_host(model_by: str, human_by: str, compact: Lever, prune: Lever = NO_LEVER) -> dict[Operation, Lever]:
    """A host whose hooks reach the model and the human."""
    return {
        Operation.CONTINUE: _NOTHING_TO_DO,
        Operation.EXTERNALIZE: _to_model(model_by),
        Operation.PRUNE_TOOL_RESULTS: prune,
        Operation.COMPACT: compact,
        Operation.HANDOFF_FRESH: _to_human(human_by),
        Operation.SUBAGENT_ISOLATE: _to_model(model_by),
        Operation.WRAP_UP: _to_human(human_by),
        Operation.FINISH_AND_RETURN: _to_model(model_by),
    }


def _unheard_host() -> dict[Operation, Lever]:
    return {**dict.fromkeys(Operation, _UNHEARD), Operation.CONTINUE: _NOTHING_TO_DO}


_OPENCODE_PRUNES = Lever(Force.ENFORCED, Addressee.SETTING, "compaction.prune")
_OPENCODE_COMPACTS = Lever(
    Force.ENFORCED, Addressee.SETTING, "compaction.auto and compaction.reserved, or /compact", Addressee.HUMAN
)
_CLAUDE_COMPACTS = Lever(Force.ENFORCED, Addressee.SETTING, "autoCompactWindow, or /compact", Addressee.HUMAN)
_CODEX_COMPACTS = Lever(
    Force.ENFORCED, Addressee.SETTING, "model_auto_compact_token_limit, or /compact", Addressee.HUMAN
)
_GEMINI_COMPACTS = Lever(Force.ENFORCED, Addressee.SETTING, "the compression threshold")

_CURSOR = {
    **_spoken_host("additional_context", "user_message", _to_human("user_message before a compaction")),
    Operation.SUBAGENT_ISOLATE: NO_LEVER,
}
_HARNESS = {
    **dict.fromkeys(Operation, Lever(Force.ENFORCED, Addressee.HARNESS, "the harness that asked carries it out")),
    Operation.CONTINUE: _NOTHING_TO_DO,
}

#: Host -> operation -> lever; every operation is there for every host.
LEVERS: Mapping[str, Mapping[Operation, Lever]] = {
    "claude-code": _spoken_host("additionalContext", "systemMessage", _CLAUDE_COMPACTS),
    "codex": _spoken_host("additionalContext", "systemMessage", _CODEX_COMPACTS),
    "opencode": _spoken_host(
        "text added by the plugin", "a message by the plugin", _OPENCODE_COMPACTS, _OPENCODE_PRUNES
    ),
    "copilot": _spoken_host("additionalContext", "the session page", _to_human("the session page")),
    "gemini": _spoken_host("additionalContext", "systemMessage", _GEMINI_COMPACTS),
    "cursor": _CURSOR,
    "litellm": _unheard_host(),
    "otlp": _unheard_host(),
    "canonical": _HARNESS,
}


class Channel(StrEnum):
    """What reaches a session beside operations: words of a verdict, and pins around a compaction."""

    TO_MODEL = "to_model"
    TO_HUMAN = "to_human"
    INTO_SUMMARY = "into_summary"
    PINS_BACK = "pins_back"


_NO_CHANNEL = dict.fromkeys(Channel, _UNHEARD)
_NEVER = Lever(Force.IMPOSSIBLE, Addressee.NOBODY, "nothing of ours reaches it")


def _enforced(by: str) -> Lever:
    return Lever(Force.ENFORCED, Addressee.NOBODY, by)


#: Host -> channel -> by what; a verdict's words are always advice.
CHANNELS: Mapping[str, Mapping[Channel, Lever]] = {
    "claude-code": {
        Channel.TO_MODEL: _to_model("additionalContext at UserPromptSubmit and PostToolUse"),
        Channel.TO_HUMAN: _to_human("systemMessage, in interactive sessions"),
        Channel.INTO_SUMMARY: _to_model("plain text of a PreCompact command hook"),
        Channel.PINS_BACK: _enforced("additionalContext at SessionStart after the compaction"),
    },
    "codex": {
        Channel.TO_MODEL: _to_model("additionalContext"),
        Channel.TO_HUMAN: _to_human("systemMessage"),
        Channel.INTO_SUMMARY: Lever(Force.ADVISED, Addressee.SETTING, "compact_prompt"),
        Channel.PINS_BACK: _enforced("additionalContext at SessionStart after the compaction"),
    },
    "opencode": {
        Channel.TO_MODEL: _to_model("a part of the newest prompt or tool result, by the plugin"),
        Channel.TO_HUMAN: _to_human("a toast, by the plugin"),
        Channel.INTO_SUMMARY: _to_model("context added at experimental.session.compacting"),
        Channel.PINS_BACK: _enforced("a part of the request that the compaction leaves, by the plugin"),
    },
    "copilot": {
        Channel.TO_MODEL: _to_model("additionalContext"),
        Channel.TO_HUMAN: _to_human("the session page"),
        Channel.INTO_SUMMARY: _NEVER,
        Channel.PINS_BACK: _NEVER,
    },
    "gemini": {
        Channel.TO_MODEL: _to_model("additionalContext at BeforeAgent"),
        Channel.TO_HUMAN: _to_human("systemMessage"),
        Channel.INTO_SUMMARY: _NEVER,
        Channel.PINS_BACK: _NEVER,
    },
    "cursor": {
        Channel.TO_MODEL: _to_model("additional_context at sessionStart"),
        Channel.TO_HUMAN: _to_human("user_message"),
        Channel.INTO_SUMMARY: _NEVER,
        Channel.PINS_BACK: _NEVER,
    },
    "litellm": _NO_CHANNEL,
    "otlp": _NO_CHANNEL,
    "canonical": dict.fromkeys(Channel, Lever(Force.ENFORCED, Addressee.HARNESS, "the answer to its request")),
}

#: Version of the host with which the channels were tried against a model API of our own.
TRIED: Mapping[str, str] = {"claude-code": "2.1.197", "codex": "0.171.0", "copilot": "1.0.102", "opencode": "1.18.33"}


def lever_of(host: str, operation: Operation) -> Lever:
    """The lever on that host; a host that is not known has none."""
    return LEVERS[host][operation] if host in LEVERS else NO_LEVER


def hosts_without(operation: Operation, hosts: tuple[str, ...] = HOSTS) -> tuple[str, ...]:
    """Those of `hosts` on which the operation is impossible."""
    return tuple(host for host in hosts if lever_of(host, operation).force is Force.IMPOSSIBLE)
