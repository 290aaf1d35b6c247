"""Whose a call or a compaction is that stands in several sessions: resumes and forks copy history.

Every session that holds a copy must come to the same answer from what it sees of the others; so the
sums over all sessions count each call once, whatever arrived first.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sessions_app.kernel import identity, totals, usage
from sessions_app.kernel.compactions import Sighting, sightings
from sessions_app.kernel.facts import FoldInput, Leaves, capped
from sessions_app.kernel.in_force import ModelsInForce
from sessions_app.kernel.readings import CallReading, CompactionReading, Purpose, Reading, SessionReading

FAR_FUTURE_MS = 1 << 62


@dataclass(slots=True)
class OwnedCall:
    """A call of this session before it is placed."""

    key: str
    group: Sequence[CallReading]
    reading: CallReading
    leaves: Leaves
    at_ms: int
    #: The model that was asked at that time, for records that name none.
    model_in_force: str = ""

    @property
    def thread(self) -> str:
        return self.reading.thread[1]

    @property
    def purpose(self) -> Purpose:
        return Purpose(self.reading.purpose[1])

    @property
    def model(self) -> str:
        return self.reading.model[1] if self.reading.model else self.model_in_force

    @property
    def is_blind(self) -> bool:
        """Whether no record tells what went in; that is unknown, not zero."""
        told = (self.reading.uncached_input, self.reading.cache_read, self.reading.write_total, self.reading.occupancy)
        return all(count is None for count in told)

    @property
    def is_point(self) -> bool:
        return self.thread == "" and self.purpose.is_point and not self.is_blind

    @property
    def occupancy(self) -> int:
        return self.leaves.prompt if self.reading.occupancy is None else capped(self.reading.occupancy)


@dataclass(frozen=True, slots=True)
class Heritage:
    """What a session holds of earlier ones: calls, compactions that replaced its context, and from whom."""

    calls: int = 0
    compactions: tuple[Sighting, ...] = ()
    parent: str | None = None


def first_line_ms(readings: Iterable[Reading]) -> int | None:
    """The earliest clock of a session's own records.

    Facts alone are asked: they are all that another session's fold sees of the calls that it does not share.
    """
    times = [r.first_ms for r in readings if isinstance(r, SessionReading) and r.first_ms is not None]
    return min(times, default=None)


def declared_parent(readings: Iterable[Reading]) -> str | None:
    """The session that this one says it was copied from."""
    told = [r.parent for r in readings if isinstance(r, SessionReading) and r.parent is not None]
    return max(told)[1] if told else None


class Owners:
    """Who owns what several sessions hold: not the one that names another as its parent, then the earliest."""

    def __init__(self, given: FoldInput) -> None:
        self._first = {k.session: k.first_line_ms for k in given.kin}
        self._parents = {k.session: k.parent for k in given.kin}
        self._first[given.session] = first_line_ms(given.readings)
        self._parents[given.session] = declared_parent(given.readings)

    def of(self, holders: Collection[str]) -> str:
        """The owner among these; ties fall to the smaller id."""
        return min(holders, key=lambda s: (self._generation(s, holders), self._started(s), s))

    def parent_of(self, session: str) -> str | None:
        """The parent that it names, where that is among the sessions seen."""
        parent = self._parents[session]
        return parent if parent in self._parents and parent != session else None

    def related(self, a: str, b: str) -> bool:
        """Whether one is copied from the other, or both from a third."""
        return bool(self._line(a) & self._line(b))

    def _line(self, session: str) -> frozenset[str]:
        """A session and the ancestors that it and they name."""
        line: dict[str, None] = {}
        name: str | None = session
        while name is not None and name not in line:
            line[name] = None
            name = self._parents.get(name)
        return frozenset(line)

    def _started(self, session: str) -> int:
        first = self._first[session]
        return FAR_FUTURE_MS if first is None else first

    def _generation(self, session: str, holders: Collection[str]) -> int:
        """How many of the holders are named as ancestors, one through the other."""
        seen = {session}
        parent = self._parents[session]
        while parent is not None and parent in holders and parent not in seen:
            seen.add(parent)
            parent = self._parents[parent]
        return len(seen) - 1


def divide(given: FoldInput, clock: tuple[int, int] | None) -> tuple[list[OwnedCall], list[Sighting], Heritage]:
    """Own calls, own compactions, and what belongs to earlier sessions. `clock`: the span of all timed readings."""
    owners = Owners(given)
    owned, elsewhere = _calls(given, owners)
    own, copied = _compactions(given, owners, clock)
    parent = owners.parent_of(given.session) or max(sorted(set(elsewhere)), key=elsewhere.count, default=None)
    return owned, own, Heritage(len(elsewhere), tuple(copied), parent)


def _calls(given: FoldInput, owners: Owners) -> tuple[list[OwnedCall], list[str]]:
    owned: list[OwnedCall] = []
    elsewhere: list[str] = []
    models = ModelsInForce(given.readings)
    mine = totals.differences(r for r in given.readings if isinstance(r, CallReading))
    for group in identity.unite([*mine, *(c for kin in given.kin for c in kin.calls)], owners.related):
        holders = {r.session for r in group}
        if given.session not in holders:
            continue
        owner = owners.of(holders)
        if owner != given.session:
            elsewhere.append(owner)
            continue
        reading = identity.merged(group)
        start = identity.span(reading)
        at_ms = start[0] if start else min(r.received_ms or given.received_ms for r in group)
        leaves, model = usage.leaves_of(reading), models.at(reading.thread[1], at_ms)
        owned.append(OwnedCall(_key(reading, group), group, reading, leaves, at_ms, model))
    return owned, elsewhere


def _key(reading: CallReading, group: Sequence[CallReading]) -> str:
    if reading.message_id is not None:
        # Threads may begin with equal totals; those are two calls of one name.
        thread = f"@{reading.thread[1]}" if reading.message_id.startswith(totals.BY_FIRST) else ""
        return f"m:{reading.message_id}{thread}"
    if reading.request_id is not None:
        return f"r:{reading.request_id}"
    return min(f"{r.source}:{r.key}" for r in group)


def _compactions(
    given: FoldInput, owners: Owners, clock: tuple[int, int] | None
) -> tuple[list[Sighting], list[Sighting]]:
    """Own compactions, and those that were copied with the history around them.

    Hooks and telemetry of a copied one go with it: they tell of the same moment and are no second compaction.
    """
    holders: dict[tuple[object, ...], set[str]] = {}
    for kin in given.kin:
        for reading in kin.compactions:
            for name in _names(reading):
                holders.setdefault(name, set()).add(kin.session)
    own: list[Sighting] = []
    copied: list[Sighting] = []
    for sighting in sightings((r for r in given.readings if isinstance(r, CompactionReading)), clock):
        others = [holders[name] for r in sighting.all() for name in _names(r) if name in holders]
        is_copy = any(owners.of({given.session, *sessions}) != given.session for sessions in others)
        (copied if is_copy else own).append(sighting)
    return own, copied


def _names(reading: CompactionReading) -> Iterator[tuple[object, ...]]:
    """By what a copy is known: its moment, and the names of its record where the host keeps them."""
    if reading.at_ms is not None:
        yield (reading.signal, reading.at_ms, reading.before_tokens)
    for uuid in reading.uuids:
        yield (reading.signal, uuid)
