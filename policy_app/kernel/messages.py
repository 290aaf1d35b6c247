"""A verdict in words: facts for the model, one sentence with the only lever for the human. Each ends with its link."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from policy_app.kernel.evaluate import Verdict
from policy_app.kernel.operations import Operation, SubagentIsolate
from policy_app.kernel.signals import UNSET, Value
from policy_app.kernel.zones import Lines, Zone

#: Bytes that make a token at least: an upper estimate, so that a bound in tokens holds.
BYTES_PER_TOKEN = 3

SPECIFICS = "Exact specifics (paths, symbols, decisions, plan state, errors, versions)"

_HUMAN: Mapping[Operation, str] = {
    Operation.COMPACT: "Only you can: type /compact.",
    Operation.HANDOFF_FRESH: "Only you can: have a brief written, end this session, start a fresh one from the brief.",
    Operation.WRAP_UP: "The budget is spent. Have a brief written, then end this session.",
}
_MODEL: Mapping[Operation, str] = {
    Operation.COMPACT: "The person was told; a summary loses exact specifics.",
    Operation.HANDOFF_FRESH: "The person was told; a successor knows only what a brief says: task state, decisions with"
    " reasons, failed approaches, open variables, exact identifiers, next steps.",
    Operation.WRAP_UP: "The budget is spent; the person was told.",
    Operation.FINISH_AND_RETURN: "A subagent has no successor: what it returns is what the parent knows.",
}


@dataclass(frozen=True, slots=True)
class Telling:
    """What a message says beside the verdict. `pins`: how many come back; `written_by_service`: CRYSTALIUM is here."""

    policy: str
    number: int
    origin: str
    link: str
    most_tokens: int = 200
    pins: int = 0
    has_memory_service: bool = False
    warns: bool = False
    drill: Lines | None = None


def tokens_at_most(text: str) -> int:
    """Tokens of a text, estimated from above."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def to_human(verdict: Verdict, telling: Telling) -> str:
    """What is shown to the person at the terminal."""
    parts = [f"{_gauge(verdict)}{_line(verdict, telling)}. {_rule(verdict, telling)}."]
    if verdict.operation in _HUMAN:
        parts.append(_HUMAN[verdict.operation])
    if verdict.operation is Operation.COMPACT and telling.pins:
        one = telling.pins == 1
        parts.append(f"{telling.pins} {'pin comes' if one else 'pins come'} back after it.")
    return _fitted(_marked(parts, telling), f"Why: {telling.link}", telling.most_tokens)


def to_model(verdict: Verdict, telling: Telling) -> str:
    """What is added at the end of the prompt: facts, no commands."""
    known = verdict.situation.signals
    behind = known["behind_calls"]
    lag = f", {behind} call{'' if behind == 1 else 's'} behind" if isinstance(behind, int) and behind else ""
    tokens, window = known["context_tokens"], verdict.situation.window_tokens
    size = f"{tokens:,} tokens, " if isinstance(tokens, int) else ""
    whole = f" of {window:,}" if window else ""
    gauge = f"Context: {size}{_percent(known['utilization'])}{whole} ({verdict.zone}; by {telling.origin}{lag})."
    parts = [f"{gauge} {_rule(verdict, telling)}."]
    if verdict.operation is Operation.SUBAGENT_ISOLATE and isinstance(verdict.parameters, SubagentIsolate):
        most = verdict.parameters.summary_max_tokens
        parts.append(f"Exploration in a subagent returns its summary alone (at most {most:,} tokens).")
    elif verdict.operation in _MODEL:
        parts.append(_MODEL[verdict.operation])
    if verdict.operation is not Operation.SUBAGENT_ISOLATE and not verdict.subagent:
        parts += _written(known["externalize_age_calls"], telling)
    return _fitted(_marked(parts, telling), telling.link, telling.most_tokens)


def advice(verdict: Verdict, telling: Telling) -> str:
    """The verdict in the few words of a status line; empty where there is nothing to do."""
    words = {
        Operation.EXTERNALIZE: "checkpoint now",
        Operation.PRUNE_TOOL_RESULTS: "old tool results weigh",
        Operation.COMPACT: "/compact now",
        Operation.SUBAGENT_ISOLATE: "explore in a subagent",
        Operation.HANDOFF_FRESH: "hand off now",
        Operation.WRAP_UP: "wrap up now",
    }.get(verdict.operation, "")
    drill = "DRILL · " if telling.drill else ""
    return f"{drill}{words} ({verdict.rule} v{telling.number})" if words else ""


def _written(age: Value, telling: Telling) -> list[str]:
    if isinstance(age, int):
        last = f"were last written to durable memory {age} call{'' if age == 1 else 's'} ago"
    elif age is UNSET:
        last = "have not been written to durable memory in this session"
    else:
        return []
    if telling.has_memory_service:
        return [f"{SPECIFICS} {last}."]
    missing = ["CRYSTALIUM was not seen in this project: a note file serves."] if telling.warns else []
    return [f"{SPECIFICS} {last}.", *missing]


def _gauge(verdict: Verdict) -> str:
    return f"{verdict.zone} {_percent(verdict.situation.signals['utilization'])}"


def _percent(share: Value) -> str:
    # Cut, not rounded: 74.9% is not the 75% at which the next zone begins.
    return f"{int(share * 100)}%" if isinstance(share, Fraction) else "?"


def _line(verdict: Verdict, telling: Telling) -> str:
    lines = telling.drill
    if lines is None:
        return ""
    line = {Zone.AMBER: lines.amber, Zone.RED: lines.red, Zone.CRITICAL: lines.critical}.get(verdict.zone)
    return f" (your drill line: {int(line * 100)}%)" if line is not None else ""


def _rule(verdict: Verdict, telling: Telling) -> str:
    return f"Rule {verdict.rule} of {telling.policy} v{telling.number}: {verdict.operation}"


def _marked(parts: Sequence[str], telling: Telling) -> list[str]:
    return [f"DRILL · {parts[0]}" if telling.drill else parts[0], *parts[1:]]


def _fitted(parts: list[str], link: str, most: int) -> str:
    """The parts and the link; the last parts go first where all is too long."""
    while len(parts) > 1 and tokens_at_most(" ".join([*parts, link])) > most:
        parts = parts[:-1]
    return " ".join([*parts, link])
