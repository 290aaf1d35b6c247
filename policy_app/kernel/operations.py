"""The closed set of operations, each with typed parameters (ECM rules, 3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from policy_app.kernel.errors import Duplicate, OutOfRange, UnknownName, WrongType
from policy_app.kernel.names import text_of, twice

#: Whatever else is cleared, the memory tool's results stay.
MEMORY_TOOL = "memory"
MOST_INSTRUCTIONS = 4_000
MOST_TOOLS = 50
MOST_TOKENS = 10_000_000


class Operation(StrEnum):
    """What a rule may name; there is no other."""

    CONTINUE = "continue"
    EXTERNALIZE = "externalize"
    PRUNE_TOOL_RESULTS = "prune_tool_results"
    COMPACT = "compact"
    HANDOFF_FRESH = "handoff_fresh"
    SUBAGENT_ISOLATE = "subagent_isolate"
    WRAP_UP = "wrap_up"
    FINISH_AND_RETURN = "finish_and_return"


#: After one of these, something that was in the context is gone.
LOSSY = frozenset({Operation.PRUNE_TOOL_RESULTS, Operation.COMPACT, Operation.HANDOFF_FRESH})

#: What happens, in order.
STEPS: Mapping[Operation, tuple[str, ...]] = {
    Operation.CONTINUE: (),
    Operation.EXTERNALIZE: ("checkpoint the plan", "commit the identifier manifest", "ingest the envelope if any"),
    Operation.PRUNE_TOOL_RESULTS: ("externalize", "the host clears old tool results"),
    Operation.COMPACT: ("externalize", "the host compacts", "re-inject the pins", "verify them", "repair what is lost"),
    Operation.HANDOFF_FRESH: ("externalize", "compose the brief", "wrap it in an envelope", "persist", "end"),
    Operation.SUBAGENT_ISOLATE: ("explore in a subagent", "return its summary only"),
    Operation.WRAP_UP: ("externalize", "compose the brief", "persist", "stop gracefully"),
    Operation.FINISH_AND_RETURN: ("finish the task at hand", "return the summary to the parent"),
}


class Sink(StrEnum):
    """Where specifics are written out."""

    CRYSTALIUM = "crystalium"
    FILE = "file"
    SERVER = "server"


class Measure(StrEnum):
    """What a clearing's trigger counts."""

    INPUT_TOKENS = "input_tokens"
    TOOL_USES = "tool_uses"


@dataclass(frozen=True, slots=True)
class NoParameters:
    """For operations that take none."""


@dataclass(frozen=True, slots=True)
class Externalize:
    """Sinks in the order in which they are tried."""

    sinks: tuple[Sink, ...] = (Sink.CRYSTALIUM, Sink.FILE)

    def __post_init__(self) -> None:
        if not self.sinks:
            raise OutOfRange("sinks", (), "must name at least one sink")
        if twice(self.sinks) is not None:
            raise Duplicate("sinks", self.sinks, "must name each sink once")


@dataclass(frozen=True, slots=True)
class Trigger:
    """From which size on a clearing acts."""

    measure: Measure = Measure.INPUT_TOKENS
    value: int = 100_000

    def __post_init__(self) -> None:
        _count("trigger", self.value, low=1)


@dataclass(frozen=True, slots=True)
class PruneToolResults:
    """Clearing of old tool results, in the provider's own terms.

    `keep`: newest tool uses that stay; `clear_at_least`: tokens below which nothing is cleared, because clearing
    breaks the cache; `exclude_tools`: tools whose results stay.
    """

    trigger: Trigger = field(default_factory=Trigger)
    keep: int = 3
    clear_at_least: int | None = None
    exclude_tools: tuple[str, ...] = (MEMORY_TOOL,)
    clear_tool_inputs: bool = False

    def __post_init__(self) -> None:
        _count("keep", self.keep, low=0)
        if self.clear_at_least is not None:
            _count("clear_at_least", self.clear_at_least, low=1)
        if not isinstance(self.clear_tool_inputs, bool):
            raise WrongType("clear_tool_inputs", self.clear_tool_inputs, "must be true or false")
        if len(self.exclude_tools) > MOST_TOOLS:
            raise OutOfRange("exclude_tools", len(self.exclude_tools), f"must name at most {MOST_TOOLS} tools")
        tools = tuple(text_of("exclude_tools", tool, most=120) for tool in self.exclude_tools)
        if twice(tools) is not None:
            raise Duplicate("exclude_tools", self.exclude_tools, "must name each tool once")
        object.__setattr__(self, "exclude_tools", tuple(sorted(tools)))


@dataclass(frozen=True, slots=True)
class Compact:
    """Instructions to the summariser; empty leaves the host its own (a provider *replaces* its default by them)."""

    instructions: str = ""

    def __post_init__(self) -> None:
        text = text_of("instructions", self.instructions, most=MOST_INSTRUCTIONS, empty=True)
        object.__setattr__(self, "instructions", text)


@dataclass(frozen=True, slots=True)
class SubagentIsolate:
    """The longest summary that may come back, in tokens."""

    summary_max_tokens: int = 2_000

    def __post_init__(self) -> None:
        _count("summary_max_tokens", self.summary_max_tokens, low=1)


type Parameters = NoParameters | Externalize | PruneToolResults | Compact | SubagentIsolate

_PARAMETERS: Mapping[Operation, type[Parameters]] = {
    Operation.EXTERNALIZE: Externalize,
    Operation.PRUNE_TOOL_RESULTS: PruneToolResults,
    Operation.COMPACT: Compact,
    Operation.SUBAGENT_ISOLATE: SubagentIsolate,
}


def parameters_type(operation: Operation) -> type[Parameters]:
    """The parameters that the operation takes."""
    return _PARAMETERS.get(operation, NoParameters)


def default_parameters(operation: Operation) -> Parameters:
    """The operation's parameters where nobody chose any."""
    return parameters_type(operation)()


def operation_of(field: str, raw: object) -> Operation:
    """The operation of that name, or `UnknownName`."""
    if isinstance(raw, str) and raw in Operation:
        return Operation(raw)
    raise UnknownName(field, raw, f"must be one of {', '.join(Operation)}")


def _count(name: str, value: object, *, low: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise WrongType(name, value, "must be a whole number")
    if not low <= value <= MOST_TOKENS:
        raise OutOfRange(name, value, f"must be from {low} to {MOST_TOKENS}")
