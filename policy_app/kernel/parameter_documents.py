"""Parameters of operations as JSON values and back."""

from policy_app.kernel.errors import UnknownName
from policy_app.kernel.fields import flag, list_of, object_of, text
from policy_app.kernel.numbers import whole_of
from policy_app.kernel.operations import (
    MEMORY_TOOL,
    MOST_TOKENS,
    Compact,
    Externalize,
    Measure,
    NoParameters,
    Operation,
    Parameters,
    PruneToolResults,
    Sink,
    SubagentIsolate,
    Trigger,
)

_PRUNE = ("trigger", "keep", "clear_at_least", "exclude_tools", "clear_tool_inputs")


def parameters_document(parameters: Parameters) -> dict[str, object]:
    """The parameters as JSON values; empty where the operation takes none."""
    match parameters:
        case Externalize():
            return {"sinks": [str(sink) for sink in parameters.sinks]}
        case PruneToolResults():
            return {
                "trigger": {"type": str(parameters.trigger.measure), "value": parameters.trigger.value},
                "keep": parameters.keep,
                "clear_at_least": parameters.clear_at_least,
                "exclude_tools": list(parameters.exclude_tools),
                "clear_tool_inputs": parameters.clear_tool_inputs,
            }
        case Compact():
            return {"instructions": parameters.instructions}
        case SubagentIsolate():
            return {"summary_max_tokens": parameters.summary_max_tokens}
        case NoParameters():
            return {}


def parameters_of(operation: Operation, raw: object, *, field: str = "parameters") -> Parameters:
    """The parameters of `operation` that a document holds; missing ones have their defaults."""
    match operation:
        case Operation.EXTERNALIZE:
            document = object_of(field, raw, ("sinks",))
            if "sinks" not in document:
                return Externalize()
            return Externalize(tuple(_sink_of(f"{field}.sinks", each) for each in list_of(field, document["sinks"])))
        case Operation.PRUNE_TOOL_RESULTS:
            return _prune_of(raw, field)
        case Operation.COMPACT:
            document = object_of(field, raw, ("instructions",))
            return Compact(text(f"{field}.instructions", document.get("instructions", "")))
        case Operation.SUBAGENT_ISOLATE:
            document = object_of(field, raw, ("summary_max_tokens",))
            most = document.get("summary_max_tokens", SubagentIsolate().summary_max_tokens)
            return SubagentIsolate(whole_of(f"{field}.summary_max_tokens", most, low=1, high=MOST_TOKENS))
        case _:
            object_of(field, raw, ())
            return NoParameters()


def _prune_of(raw: object, field: str) -> PruneToolResults:
    document = object_of(field, raw, _PRUNE)
    default = PruneToolResults()
    least = document.get("clear_at_least")
    tools = list_of(f"{field}.exclude_tools", document.get("exclude_tools", (MEMORY_TOOL,)))
    return PruneToolResults(
        trigger=_trigger_of(document["trigger"], f"{field}.trigger") if "trigger" in document else default.trigger,
        keep=whole_of(f"{field}.keep", document.get("keep", default.keep), high=MOST_TOKENS),
        clear_at_least=None if least is None else whole_of(f"{field}.clear_at_least", least, low=1, high=MOST_TOKENS),
        exclude_tools=tuple(text(f"{field}.exclude_tools", tool) for tool in tools),
        clear_tool_inputs=flag(f"{field}.clear_tool_inputs", document.get("clear_tool_inputs", False)),
    )


def _trigger_of(raw: object, field: str) -> Trigger:
    document = object_of(field, raw, ("type", "value"))
    measure = text(f"{field}.type", document.get("type", str(Measure.INPUT_TOKENS)))
    if measure not in Measure:
        raise UnknownName(f"{field}.type", measure, f"must be one of {', '.join(Measure)}")
    return Trigger(Measure(measure), whole_of(f"{field}.value", document.get("value"), low=1, high=MOST_TOKENS))


def _sink_of(field: str, raw: object) -> Sink:
    if isinstance(raw, str) and raw in Sink:
        return Sink(raw)
    raise UnknownName(field, raw, f"must be one of {', '.join(Sink)}")
