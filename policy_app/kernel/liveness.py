"""Rules that could answer and do not: because nobody sends a signal, or because a zone is never reached."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from policy_app.kernel.conditions import Condition, InRange, OneOf
from policy_app.kernel.findings import Finding, Severity
from policy_app.kernel.numbers import exact, percent
from policy_app.kernel.sentences import listed
from policy_app.kernel.signals import CATALOGUE
from policy_app.kernel.table import Rule, Table
from policy_app.kernel.zones import Zone

#: What can be derived, and the inputs that it takes.
_DERIVED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "zone": (("utilization",), ("context_tokens", "window_tokens")),
    "utilization": (("context_tokens", "window_tokens"),),
    "budget_spent_ratio": (("budget_spent_tokens", "budget_ceiling_tokens"),),
    "cache_cold": (("cache_expiry_seconds",),),
}
#: Whoever asks says who asks.
_ALWAYS = frozenset({"host", "thread_kind"})

#: Which hosts send a signal; a signal that is not there is sent by none.
type Coverage = Mapping[str, Collection[str]]
#: The highest utilization seen in each zone that was reached.
type History = Mapping[Zone, Decimal | Fraction]


@dataclass(frozen=True, slots=True)
class Asleep:
    """A rule that waits for signals which nobody sends, and the hosts that could."""

    rule: str
    signals: tuple[str, ...]
    could_send: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Idle:
    """A rule for zones that were never reached; `highest` is the highest utilization seen, None for none."""

    rule: str
    zones: tuple[Zone, ...]
    highest: Fraction | None


def asleep(table: Table, coverage: Coverage) -> tuple[Asleep, ...]:
    """Rules that cannot answer while what is not sent reads as the catalogue says."""
    found = []
    for rule in table.live_rules:
        missing = tuple(condition.signal for condition in rule.when if _waits(condition, coverage))
        if missing:
            could = {host for name in missing for host in CATALOGUE[name].senders}
            found.append(Asleep(rule.id, missing, tuple(sorted(could))))
    return tuple(found)


def idle(table: Table, history: History) -> tuple[Idle, ...]:
    """Rules for zones or shares that the recorded sessions never reached."""
    highest = max((Fraction(value) for value in history.values()), default=None)
    reached = {zone for zone in history if zone is not Zone.UNKNOWN}
    found = []
    for rule in table.live_rules:
        zones = _zones_of(rule)
        if (zones and not reached.intersection(zones)) or _above(rule, highest):
            found.append(Idle(rule.id, zones, highest))
    return tuple(found)


def liveness_findings(table: Table, coverage: Coverage | None, history: History | None) -> Iterator[Finding]:
    """Both in words; None for what is not known."""
    for sleeper in asleep(table, coverage) if coverage is not None else ():
        names = listed((CATALOGUE[name].label for name in sleeper.signals), "and")
        text = f"{sleeper.rule} sleeps until somebody sends {names}; {listed(sleeper.could_send, 'or')} could."
        yield Finding("asleep", Severity.WARNS, sleeper.rule, text, hosts=sleeper.could_send)
    for idler in idle(table, history) if history is not None else ():
        zones = listed(map(str, idler.zones), "or") or "what it asks for"
        seen = "nothing was seen" if idler.highest is None else f"highest seen {percent(idler.highest)}"
        text = f"{idler.rule} is idle: {zones} was not reached, {seen}."
        yield Finding("idle", Severity.WARNS, idler.rule, text)


def _waits(condition: Condition, coverage: Coverage) -> bool:
    name = condition.signal
    return not _sent(name, coverage) and not condition.matches(CATALOGUE[name].absent)


def _sent(name: str, coverage: Coverage) -> bool:
    if name in _ALWAYS or coverage.get(name):
        return True
    return any(all(_sent(each, coverage) for each in inputs) for inputs in _DERIVED.get(name, ()))


def _zones_of(rule: Rule) -> tuple[Zone, ...]:
    """The zones that the rule waits for; nothing where it takes *unknown* as well or does not look."""
    condition = rule.on("zone")
    if not isinstance(condition, OneOf) or condition.accepts:
        return ()
    return tuple(Zone(member) for member in condition.members)


def _above(rule: Rule, highest: Fraction | None) -> bool:
    condition = rule.on("utilization")
    if not isinstance(condition, InRange) or condition.accepts or condition.low is None:
        return False
    low = exact(condition.low.value)
    return highest is None or low > highest or (low == highest and not condition.low.inclusive)
