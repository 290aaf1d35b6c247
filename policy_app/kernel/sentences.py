"""Tables in plain English: conditions, rules, parameters, traces."""

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

from policy_app.kernel.conditions import Bound, Condition, InRange, Is, OneOf, Only
from policy_app.kernel.evaluate import Outcome, Step
from policy_app.kernel.numbers import percent, plain
from policy_app.kernel.operations import (
    MEMORY_TOOL,
    Compact,
    Externalize,
    Measure,
    NoParameters,
    Operation,
    Parameters,
    PruneToolResults,
    SubagentIsolate,
    default_parameters,
)
from policy_app.kernel.signals import CATALOGUE, Kind, Special, Value
from policy_app.kernel.table import Rule

OPERATION_WORDS = {
    Operation.CONTINUE: "go on",
    Operation.EXTERNALIZE: "write a checkpoint",
    Operation.PRUNE_TOOL_RESULTS: "prune tool results",
    Operation.COMPACT: "compact",
    Operation.HANDOFF_FRESH: "hand over to a fresh session",
    Operation.SUBAGENT_ISOLATE: "explore in a subagent",
    Operation.WRAP_UP: "wrap up",
    Operation.FINISH_AND_RETURN: "finish and return",
}
_NAMED = {
    "host": "on {}",
    "model": "the model is {}",
    "window_kind": "the window is {}",
}
#: Signals whose label does not name what is unknown or unset.
_SUBJECTS = {"budget_spent_ratio": "the budget", "cache_cold": "the state of the cache"}
_THREADS = {"main": "in the main chain", "subagent": "in a subagent"}


def rule_sentence(rule: Rule, *, otherwise: bool = False) -> str:
    """The rule as a sentence; with `otherwise` for a last rule that takes all that is left."""
    deed = OPERATION_WORDS[rule.operation]
    details = parameters_words(rule.takes) if rule.takes != default_parameters(rule.operation) else ""
    ending = f"{deed} ({details})." if details else f"{deed}."
    if otherwise:
        return f"Otherwise, {ending}"
    if not rule.when:
        return f"Always, {ending}"
    return f"When {listed(map(condition_words, rule.when), 'and')}, {ending}"


def condition_words(condition: Condition) -> str:
    """The condition as a clause, as in `depth < 2` or `RED or CRITICAL`."""
    label = CATALOGUE[condition.signal].label
    if isinstance(condition, Only):
        return f"{_subject(condition.signal)} {listed(_special_words(condition.accepts), 'or')}"
    if isinstance(condition, OneOf):
        return _set_words(condition)
    words = _flag_words(condition) if isinstance(condition, Is) else _range_words(condition, label)
    return listed([words, *_special_words(condition.accepts)], "or")


def _subject(signal: str) -> str:
    label = _SUBJECTS.get(signal, CATALOGUE[signal].label)
    many = label.endswith("s") or label.startswith(("calls", "seconds"))
    return f"{label} {'are' if many else 'is'}"


def _set_words(condition: OneOf) -> str:
    members = [*condition.members, *(special.value for special in _ordered(condition.accepts))]
    if condition.signal == "thread_kind" and len(condition.members) == 1:
        return _THREADS[condition.members[0]]
    return _NAMED.get(condition.signal, "{}").format(listed(members, "or"))


def _flag_words(condition: Is) -> str:
    if condition.signal == "cache_cold":
        return "the cache is cold" if condition.value else "the cache is warm"
    label = CATALOGUE[condition.signal].label
    return label if condition.value else f"not {label}"


def _range_words(condition: InRange, label: str) -> str:
    if condition.signal == "budget_spent_ratio":
        if condition.low is None and condition.high is None:
            return "a budget is set"
        if condition == InRange("budget_spent_ratio", Bound(Decimal(1)), None, condition.accepts):
            return "the budget is spent"
        return f"{_ends_words(condition, 'spending')} of the budget"
    if condition.low is None and condition.high is None:
        return f"{_subject(condition.signal)} known"
    unit = " tokens" if condition.signal == "context_tokens" else ""
    return _ends_words(condition, label) + unit


def _ends_words(condition: InRange, label: str) -> str:
    low, high = condition.low, condition.high
    if low is not None and high is not None:
        if low.value == high.value:
            return f"{label} = {_bound_words(condition.signal, low)}"
        return f"{label} {_from_words(condition.signal, low)} and {_to_words(condition.signal, high)}"
    if low is not None:
        return f"{label} {_from_words(condition.signal, low)}"
    return f"{label} {_to_words(condition.signal, high)}" if high is not None else label


def _from_words(signal: str, bound: Bound) -> str:
    return f"{'≥' if bound.inclusive else '>'} {_bound_words(signal, bound)}"


def _to_words(signal: str, bound: Bound) -> str:
    return f"{'≤' if bound.inclusive else '<'} {_bound_words(signal, bound)}"


def _bound_words(signal: str, bound: Bound) -> str:
    if CATALOGUE[signal].kind is Kind.SHARE:
        return f"{plain(bound.value * 100)}%"
    return f"{int(bound.value):,}"


def value_words(value: Value) -> str:
    """A value as it is read: shares in percent, cut after one place; tokens with separators."""
    if isinstance(value, Special):
        return value.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Fraction):
        return percent(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def values_words(values: Iterable[tuple[str, Value]]) -> str:
    """A situation in words, as in `zone RED, depth 2`."""
    return ", ".join(f"{CATALOGUE[name].label} {value_words(value)}" for name, value in values)


def step_words(step: Step) -> str:
    """Why a rule answered or not, as in `needs depth < 2; depth is 3`."""
    if step.outcome is Outcome.OFF:
        return "switched off"
    if step.failed is None or step.value is None:
        return "matched"
    return f"needs {condition_words(step.failed)}; {_subject(step.failed.signal)} {value_words(step.value)}"


def parameters_words(parameters: Parameters) -> str:
    """The parameters in words; empty where the operation takes none."""
    match parameters:
        case NoParameters():
            return ""
        case Externalize():
            return f"to {listed(map(str, parameters.sinks), 'else')}"
        case Compact():
            return "with own instructions" if parameters.instructions else "with the host's instructions"
        case SubagentIsolate():
            return f"its summary at most {parameters.summary_max_tokens:,} tokens"
        case PruneToolResults():
            return _prune_words(parameters)


def _prune_words(parameters: PruneToolResults) -> str:
    unit = "tokens" if parameters.trigger.measure is Measure.INPUT_TOKENS else "tool uses"
    words = [f"from {parameters.trigger.value:,} {unit} on", f"keep the newest {parameters.keep}"]
    if parameters.clear_at_least is not None:
        words.append(f"clear at least {parameters.clear_at_least:,} tokens")
    tools = [tool for tool in parameters.exclude_tools if tool != MEMORY_TOOL]
    if tools:
        words.append(f"never {listed(tools, 'or')}")
    if parameters.clear_tool_inputs:
        words.append("inputs too")
    return ", ".join(words)


def listed(words: Iterable[str], last: str) -> str:
    """`a, b or c` with `last` as the joining word."""
    given = list(words)
    return given[0] if len(given) == 1 else f"{', '.join(given[:-1])} {last} {given[-1]}" if given else ""


def _ordered(specials: Iterable[Special]) -> list[Special]:
    return sorted(specials, key=lambda special: special.value)


def _special_words(specials: Iterable[Special]) -> list[str]:
    return [special.value for special in _ordered(specials)]
