"""Records that tell a running total instead of naming the response: Codex's `token_count`.

A total that stands again is the same call told again, so it names the call. Forked and spawned threads replay
the rows of their parent, at times of their own; newer builds name the response in another record beside it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import msgspec

from sessions_app.kernel.readings import CallReading

#: How the names begin that totals make. `#` sorts before every id, so that a provider's name comes first.
BY_TOTAL = "#total:"
#: The first call of a thread: other threads may begin with equal numbers.
BY_FIRST = "#first:"
#: So long the tools of a call may run before its total is written down.
LATE_MS = 3_600_000
#: Clocks of two records of one response stay this close.
NEAR_MS = 5_000

type Group = list[CallReading]
type Vector = Callable[[CallReading], tuple[int, ...]]
type Place = tuple[str, str]


def is_counted(group: Sequence[CallReading]) -> bool:
    """Whether nothing but totals names this call, so that its time is only known to be no later."""
    return all((r.message_id or "").startswith("#") for r in group)


def differences(readings: Iterable[CallReading]) -> list[CallReading]:
    """The readings with the leaves of those that tell totals alone: what each total adds to the one before."""
    told = list(readings)
    totals: dict[Place, list[tuple[int, ...]]] = defaultdict(list)
    for r in told:
        if r.running is not None:
            totals[r.session, r.thread[1]].append(r.running)
    return [_spent(r, totals[r.session, r.thread[1]]) if _is_bare(r) else r for r in told]


def _is_bare(reading: CallReading) -> bool:
    return reading.running is not None and reading.uncached_input is None


def _spent(reading: CallReading, totals: Sequence[tuple[int, ...]]) -> CallReading:
    own = reading.running or ()
    below = [t for t in totals if t != own and len(t) == len(own) and all(a <= b for a, b in zip(t, own, strict=True))]
    before = max(below, default=(0,) * len(own))
    given, read, written, output = (a - b for a, b in zip(own, before, strict=True))
    return msgspec.structs.replace(
        reading, uncached_input=max(0, given - read - written), cache_read=read, write_total=written, output=output
    )


def place_of(reading: CallReading) -> Place:
    """The thread that holds a record."""
    return (reading.session, reading.thread[1])


def _has_input(reading: CallReading) -> bool:
    """Whether a record tells more than what came out."""
    return not (reading.uncached_input is None and reading.cache_read is None and reading.write_total is None)


def shares_of(groups: Iterable[Group]) -> frozenset[frozenset[Place]]:
    """Pairs of threads that hold the same later call: one of them replays the other."""
    pairs: set[frozenset[Place]] = set()
    for group in groups:
        places = sorted({place_of(r) for r in group})
        pairs.update(frozenset((a, b)) for a in places for b in places if a < b)
    return frozenset(pairs)


def paired(groups: Iterable[Group], vector: Vector) -> list[Group]:
    """Groups with each total joined to the record that names its response: same thread, same usage, just before.

    One to one; the total is written when the tools of the response have ended, so only its record may be long before.
    A record that tells the output alone is joined by that, where it is near.
    """
    named: list[Group] = []
    counted: list[Group] = []
    for group in groups:
        (counted if is_counted(group) else named).append(group)
    if not counted:
        return named
    index: dict[tuple[object, ...], list[tuple[int, str, Group]]] = defaultdict(list)
    for group in named:
        for r in group:
            if r.first_ms is not None and any(vector(r)):
                index[(*place_of(r), *(vector(r) if _has_input(r) else (r.output,)))].append((r.first_ms, r.key, group))
    taken: set[int] = set()
    rest: list[Group] = []
    for group in sorted(counted, key=lambda g: (min(r.first_ms or 0 for r in g), g[0].key)):
        found = [
            (abs((r.first_ms or 0) - at_ms), key, into)
            for r in group
            for told in (vector(r), (r.output,))
            for at_ms, key, into in index.get((*place_of(r), *told), ())
            if id(into) not in taken
            and -(LATE_MS if len(told) > 1 else NEAR_MS) <= at_ms - (r.first_ms or 0) <= NEAR_MS
        ]
        if found:
            into = min(found, key=lambda f: f[:2])[2]
            taken.add(id(into))
            into.extend(group)
        else:
            rest.append(group)
    return named + rest
