"""What follows from the signals before any rule is read, and what therefore can never be together.

`situate` derives and `impossible` forbids: a law that stands in one stands in the other, so that a witness of the
analysis is always a situation that can be evaluated.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from policy_app.kernel.conditions import Condition, InRange, Is, OneOf, Only, at_least, below
from policy_app.kernel.numbers import plain
from policy_app.kernel.signals import UNKNOWN, UNSET, Signals, Value
from policy_app.kernel.table import Table
from policy_app.kernel.zones import Zone, working_window

KNOWN_ZONES = (Zone.GREEN, Zone.AMBER, Zone.RED, Zone.CRITICAL)


@dataclass(frozen=True, slots=True)
class Situation:
    """Signals with everything derived, and the window that was used: its tokens, and whose it is.

    `window_by` is `host` (stated, assumed or bounded there), `policy` (the working window), or empty.
    """

    signals: Signals
    window_tokens: int | None
    window_by: str

    @property
    def zone(self) -> Zone:
        """The zone, UNKNOWN included."""
        zone = self.signals["zone"]
        return Zone(zone) if isinstance(zone, str) else Zone.UNKNOWN

    @property
    def is_subagent(self) -> bool:
        """Whether a subagent asks."""
        return self.signals["thread_kind"] == "subagent"


def situate(table: Table, signals: Signals, *, subagent: bool = False) -> Situation:
    """The situation that `table` sees; a subagent's budget reads *unset*, for it is judged in the main session."""
    known = signals.having(thread_kind="subagent") if subagent else signals
    if known["thread_kind"] == "subagent":
        unset = {"budget_spent_tokens": UNSET, "budget_ceiling_tokens": UNSET, "budget_spent_ratio": UNSET}
        known = known.having(**unset)
    # A window of nothing is one that nobody knows.
    host_window = _count(known["window_tokens"]) or None
    tokens, by = _window(table, known, host_window)
    utilization = _utilization(known, host_window, tokens)
    return Situation(
        known.having(
            utilization=utilization,
            zone=_zone(table, known, utilization),
            budget_spent_ratio=_budget(known),
            cache_cold=_cold(known),
            calls_since_compaction=_since_compaction(known),
        ),
        tokens,
        by,
    )


def _window(table: Table, known: Signals, host_window: int | None) -> tuple[int | None, str]:
    model = known["model"]
    working = working_window(table.working_windows, model if isinstance(model, str) else None)
    if working is not None and (host_window is None or working < host_window):
        return working, "policy"
    return host_window, "host" if host_window is not None else ""


def _utilization(known: Signals, host_window: int | None, window: int | None) -> Value:
    if known.values.get("zone") is UNKNOWN:
        return UNKNOWN
    tokens = _count(known["context_tokens"])
    if tokens is not None and window:
        return Fraction(tokens, window)
    sent = known["utilization"]
    if isinstance(sent, Fraction) and host_window and window:
        return sent * host_window / window
    return sent


def _zone(table: Table, known: Signals, utilization: Value) -> Value:
    if not isinstance(utilization, Fraction):
        return known["zone"]
    return str(table.lines.zone_at(utilization))


def _budget(known: Signals) -> Value:
    if "budget_spent_ratio" in known.values:
        return known["budget_spent_ratio"]
    spent, ceiling = known["budget_spent_tokens"], known["budget_ceiling_tokens"]
    if ceiling is UNSET:
        return UNSET
    if not isinstance(spent, int) or not isinstance(ceiling, int):
        return UNKNOWN
    # A budget of nothing is reached by spending nothing.
    return Fraction(spent, ceiling) if ceiling else Fraction(1)


def _cold(known: Signals) -> Value:
    expiry = known["cache_expiry_seconds"]
    return expiry == 0 if isinstance(expiry, int) else known["cache_cold"]


def _since_compaction(known: Signals) -> Value:
    if known["depth"] == 0:
        return UNSET
    calls = known["calls_since_compaction"]
    return UNKNOWN if calls is UNSET else calls


def _count(value: Value) -> int | None:
    return value if isinstance(value, int) else None


def impossible(table: Table) -> Iterator[tuple[Condition, ...]]:
    """Conditions that no situation meets together, by `table`'s own lines."""
    for zone in KNOWN_ZONES:
        in_zone, span = OneOf("zone", (zone,)), table.lines.span(zone)
        if span.low is not None:
            yield in_zone, below("utilization", plain(span.low.value))
        if span.high is not None:
            yield in_zone, at_least("utilization", plain(span.high.value))
    yield Only("zone", frozenset({UNKNOWN})), InRange("utilization")
    yield OneOf("thread_kind", ("subagent",)), InRange("budget_spent_ratio", accepts=frozenset({UNKNOWN}))
    yield Is("cache_cold", True), at_least("cache_expiry_seconds", 1)
    yield Is("cache_cold", False), below("cache_expiry_seconds", 1)
    yield Only("cache_cold", frozenset({UNKNOWN})), InRange("cache_expiry_seconds")
    yield below("depth", 1), InRange("calls_since_compaction", accepts=frozenset({UNKNOWN}))
    yield at_least("depth", 1), Only("calls_since_compaction", frozenset({UNSET}))
