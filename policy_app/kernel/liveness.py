"""Rules that could answer and do not: because nobody sends a signal, or because what they wait for never came."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from policy_app.kernel.conditions import Condition, InRange, OneOf
from policy_app.kernel.findings import Finding, Severity
from policy_app.kernel.numbers import exact, percent
from policy_app.kernel.sentences import listed
from policy_app.kernel.signals import CATALOGUE, HOSTS, UNKNOWN, Kind
from policy_app.kernel.situation import KNOWN_ZONES
from policy_app.kernel.table import Rule, Table
from policy_app.kernel.zones import Zone

#: What can be derived, and the inputs that it takes.
_DERIVED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "zone": (("utilization",),),
    "utilization": (("context_tokens", "window_tokens"),),
    "budget_spent_ratio": (("budget_spent_tokens", "budget_ceiling_tokens"),),
    "cache_cold": (("cache_expiry_seconds",),),
}

#: What a host would send, where the label in sentences is of something else.
_SPOKEN = {"budget_spent_ratio": "a budget", "tool_result_share": "the share of tool results"}


def spoken(signal: str) -> str:
    """What a host would send, in words."""
    return _SPOKEN.get(signal, CATALOGUE[signal].label)


class Sent(StrEnum):
    """How well a signal of a host is known; silent: it could be told, and nobody does."""

    RECEIVED = "received"
    ESTIMATED = "estimated"
    SILENT = "silent"
    IMPOSSIBLE = "impossible"


#: Signal -> host -> how it is known; what is not there is silent.
type Coverage = Mapping[str, Mapping[str, Sent]]


@dataclass(frozen=True, slots=True)
class Seen:
    """The highest value that was recorded, and how many there were; None where there were none."""

    highest: Fraction | int | None
    count: int


#: A zone -> the highest utilization seen in it; a number signal -> the highest value seen.
type History = Mapping[str, Seen]


@dataclass(frozen=True, slots=True)
class Asleep:
    """A rule that waits for signals which nobody sends, and the hosts that could send one of them."""

    rule: str
    signals: tuple[str, ...]
    could_send: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Idle:
    """A rule that waits for what was never recorded: zones (by name) or a number, and the highest value seen.

    `signal` is what `highest` is of: `utilization` for zones.
    """

    rule: str
    signal: str
    zones: tuple[Zone, ...]
    highest: Fraction | int | None


def asleep(table: Table, coverage: Coverage) -> tuple[Asleep, ...]:
    """Rules that cannot answer while what is not sent reads as the catalogue says."""
    found = []
    for rule in table.live_rules:
        hosts = _hosts_of(rule)
        missing = tuple(condition.signal for condition in rule.when if _waits(condition, coverage, hosts))
        if missing:
            could = tuple(host for host in hosts if any(_could(name, host, coverage) for name in missing))
            found.append(Asleep(rule.id, missing, could))
    return tuple(found)


def idle(table: Table, history: History) -> tuple[Idle, ...]:
    """Rules for zones or numbers that the recorded sessions never reached; nothing where nothing was recorded."""
    reached = _reached(table, history)
    highest = _highest(history)
    found = []
    for rule in table.live_rules:
        zones = _zones_of(rule)
        if zones and reached is not None and not reached.intersection(zones):
            found.append(Idle(rule.id, "utilization", zones, highest.get("utilization")))
            continue
        above = next((each.signal for each in rule.when if _above(each, highest)), None)
        if above is not None:
            found.append(Idle(rule.id, above, (), highest[above]))
    return tuple(found)


def liveness_findings(table: Table, coverage: Coverage | None, history: History | None) -> Iterator[Finding]:
    """Both in words; None for what is not known."""
    for sleeper in asleep(table, coverage) if coverage is not None else ():
        names = listed(map(spoken, sleeper.signals), "and")
        who = f"{listed(sleeper.could_send, 'or')} could" if sleeper.could_send else "no host can"
        text = f"{sleeper.rule} sleeps until somebody sends {names}; {who}."
        yield Finding("asleep", Severity.WARNS, sleeper.rule, text, hosts=sleeper.could_send)
    for idler in idle(table, history) if history is not None else ():
        what = listed(map(str, idler.zones), "or") or CATALOGUE[idler.signal].label
        missed = "was not reached" if idler.zones else "never came that high"
        text = f"{idler.rule} is idle: {what} {missed}, {_seen_words(idler)}."
        yield Finding("idle", Severity.WARNS, idler.rule, text)


def _seen_words(idler: Idle) -> str:
    if idler.highest is None:
        return "nothing was seen"
    is_share = CATALOGUE[idler.signal].kind is Kind.SHARE
    return f"highest seen {percent(Fraction(idler.highest)) if is_share else f'{idler.highest:,}'}"


def _hosts_of(rule: Rule) -> tuple[str, ...]:
    """The hosts for which the rule can answer."""
    condition = rule.on("host")
    if not isinstance(condition, OneOf) or UNKNOWN in condition.accepts:
        return HOSTS
    return condition.members


def _waits(condition: Condition, coverage: Coverage, hosts: tuple[str, ...]) -> bool:
    signal = CATALOGUE[condition.signal]
    # Whoever asks says who asks.
    if not signal.measured or condition.matches(signal.absent):
        return False
    return not any(_sent(signal.name, host, coverage) for host in hosts)


def _sent(name: str, host: str, coverage: Coverage) -> bool:
    if coverage.get(name, {}).get(host) in (Sent.RECEIVED, Sent.ESTIMATED):
        return True
    return any(all(_sent(each, host, coverage) for each in inputs) for inputs in _DERIVED.get(name, ()))


def _could(name: str, host: str, coverage: Coverage) -> bool:
    return host in CATALOGUE[name].senders and coverage.get(name, {}).get(host) != Sent.IMPOSSIBLE


def _highest(history: History) -> dict[str, Fraction | int]:
    """Number signal -> the highest value seen; what was seen in a zone is utilization."""
    found: dict[str, Fraction | int] = {}
    for name, seen in history.items():
        signal = "utilization" if name in Zone else name
        if seen.highest is not None and seen.count and CATALOGUE[signal].is_number:
            found[signal] = max(found.get(signal, 0), seen.highest)
    return found


def _reached(table: Table, history: History) -> frozenset[Zone] | None:
    """The zones that the recorded sessions reached by this table's lines; None where nothing tells.

    Zones that were counted by other lines say only how high it went: every zone that begins below may have been.
    """
    counted = {Zone(name): seen for name, seen in history.items() if name in Zone and name != Zone.UNKNOWN}
    by_these_lines = all(
        seen.highest is None or table.lines.zone_at(Fraction(seen.highest)) is zone for zone, seen in counted.items()
    )
    if by_these_lines and any(seen.count for seen in counted.values()):
        return frozenset(zone for zone, seen in counted.items() if seen.count)
    highest = _highest(history).get("utilization")
    if highest is None:
        return None
    top = KNOWN_ZONES.index(table.lines.zone_at(Fraction(highest)))
    return frozenset(KNOWN_ZONES[: top + 1])


def _zones_of(rule: Rule) -> tuple[Zone, ...]:
    """The zones that the rule waits for; nothing where it takes *unknown* as well or does not look."""
    condition = rule.on("zone")
    if not isinstance(condition, OneOf) or condition.accepts:
        return ()
    return tuple(Zone(member) for member in condition.members)


def _above(condition: Condition, highest: Mapping[str, Fraction | int]) -> bool:
    """Whether the condition begins above everything that was seen of its signal."""
    if not isinstance(condition, InRange) or condition.accepts or condition.low is None:
        return False
    if condition.signal not in highest:
        return False
    low, seen = exact(condition.low.value), highest[condition.signal]
    return low > seen or (low == seen and not condition.low.inclusive)
