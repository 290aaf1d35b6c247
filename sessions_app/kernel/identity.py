"""Which readings are one call.

A message id names a call; a request id joins a record that has no message id to it; records without
comparable ids (gateways drop the header) are matched one to one by session, token vector and time.
Two records with different ids of one kind are never one call because their values agree.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import reduce

import msgspec

from sessions_app.kernel import totals
from sessions_app.kernel.readings import CONVENTION_SUSPECT, CallReading, Source

#: Clocks of a transcript line and of telemetry about the same call stay this close.
NEAR_MS = 5_000
#: How names begin that a feed made because the provider gave none: of the line, and of the client's own count.
BY_LINE, BY_CLIENT = "uuid:", "client:"

type Group = list[CallReading]
#: Whether two sessions are known to be copied from one another.
type Related = Callable[[str, str], bool]


def strangers(_a: str, _b: str) -> bool:
    """No session is known to be copied."""
    return False


def unite(readings: Iterable[CallReading], related: Related = strangers) -> list[Group]:
    """Groups of readings, each of one call; the order of the input does not matter."""
    ordered = sorted(readings, key=lambda r: (r.session, r.source, r.key))
    by_message: dict[str, Group] = defaultdict(list)
    by_request: dict[str, Group] = defaultdict(list)
    nameless: list[Group] = []
    for reading in ordered:
        if reading.message_id is not None:
            by_message[reading.message_id].append(reading)
        elif reading.request_id is not None:
            by_request[reading.request_id].append(reading)
        else:
            nameless.append([reading])
    named = _named(by_message, related)
    rest = _join_by_request(named, [group for readings in by_request.values() for group in _apart(readings, related)])
    return _join_by_vector(named, [*rest, *nameless])


def _named(by_message: dict[str, Group], related: Related) -> list[Group]:
    """Groups by message id; totals stand for the id where the host does not tell it."""
    firsts = [readings for name, readings in by_message.items() if name.startswith(totals.BY_FIRST)]
    others = [readings for name, readings in by_message.items() if not name.startswith(totals.BY_FIRST)]
    named = [group for readings in others for group in _apart(readings, related)]
    if firsts:
        shares = totals.shares_of(group for group in named if totals.is_counted(group))
        named += [group for readings in firsts for group in _firsts_apart(readings, related, shares)]
    return totals.paired(named, vector)


def _firsts_apart(readings: Group, related: Related, shares: frozenset[frozenset[totals.Place]]) -> list[Group]:
    """First totals of threads: equal ones are one call only where one thread is known to replay the other."""
    by_thread: dict[totals.Place, Group] = defaultdict(list)
    for reading in readings:
        by_thread[totals.place_of(reading)].append(reading)

    def is_copy(a: Group, b: Group) -> bool:
        places = {(x, y) for x in map(totals.place_of, a) for y in map(totals.place_of, b)}
        return any((x[0] != y[0] and related(x[0], y[0])) or frozenset((x, y)) in shares for x, y in places)

    return _grouped(by_thread.values(), is_copy)


def merged(group: Sequence[CallReading]) -> CallReading:
    """One reading that says all that the group says; counts that contradict themselves give way to others."""
    return reduce(lambda a, b: a.merge(b), _believed(group))


def _believed(group: Sequence[CallReading]) -> Sequence[CallReading]:
    sure = [r for r in group if CONVENTION_SUSPECT not in r.flags and any(vector(r))]
    if not sure or len(sure) == len(group):
        return group
    return [r if CONVENTION_SUSPECT not in r.flags else _without_counts(r) for r in group]


def _without_counts(reading: CallReading) -> CallReading:
    counts = ("uncached_input", "cache_read", "write_total", "write_5m", "write_1h", "output", "occupancy")
    flags = tuple(flag for flag in reading.flags if flag != CONVENTION_SUSPECT)
    return msgspec.structs.replace(reading, flags=flags, **dict.fromkeys(counts))


def vector(reading: CallReading) -> tuple[int, ...]:
    """What a call consumed, as far as every source tells it."""
    split = (reading.write_5m or 0) + (reading.write_1h or 0)
    written = max(reading.write_total or 0, split)
    return (reading.uncached_input or 0, reading.cache_read or 0, written, reading.output or 0)


def span(reading: CallReading) -> tuple[int, int] | None:
    """Start and end in ms, where the source has a clock."""
    first, last = reading.first_ms, reading.ended_ms
    if first is None and last is None:
        return None
    return (first if first is not None else last or 0, last if last is not None else first or 0)


def _apart(readings: Group, related: Related) -> list[Group]:
    """Readings of one id, parted where sessions tell of different moments.

    A copied line keeps the moment of its original. A test server that counts its ids from one again gives
    the ids of an old session to a new one; those are other calls. A fork may write its copies at times of its own.
    """
    by_session: dict[str, Group] = defaultdict(list)
    for reading in readings:
        by_session[reading.session].append(reading)

    def is_copy(a: Group, b: Group) -> bool:
        return any(related(x, y) for x in _sessions(a) for y in _sessions(b))

    return _grouped(by_session.values(), is_copy)


def _grouped(parts: Iterable[Group], is_copy: Callable[[Group, Group], bool]) -> list[Group]:
    """Parts of one name put together where they are of one moment or copies."""
    groups: list[Group] = []
    for part in sorted(parts, key=_when):
        near = next((group for group in groups if _same_moment(group, part) or is_copy(group, part)), None)
        if near is None:
            groups.append(list(part))
        else:
            near.extend(part)
    return groups


def _same_moment(a: Group, b: Group) -> bool:
    """Near in time; a record without a clock of its own goes by its id alone."""
    return span(merged(a)) is None or span(merged(b)) is None or _distance(a, b) <= NEAR_MS


def _join_by_request(named: list[Group], others: list[Group]) -> list[Group]:
    """Add message-less groups to the named group with their request id; give back those without one."""
    holders: dict[str, list[Group]] = defaultdict(list)
    for group in named:
        for request_id in {request for r in group for request in r.requests}:
            holders[request_id].append(group)
    rest: list[Group] = []
    for group in others:
        near = [g for g in holders.get(group[0].request_id or "", ()) if _sessions(g) & _sessions(group)]
        candidates = near or [g for g in holders.get(group[0].request_id or "", ()) if _same_moment(g, group)]
        if not candidates:
            rest.append(group)
            continue
        wanted = vector(merged(group))
        # A gateway may hand out one request id twice; then the equal vector decides.
        best = min(candidates, key=lambda g: (vector(merged(g)) != wanted, g[0].key))
        best.extend(group)
    return rest


def _join_by_vector(named: list[Group], others: list[Group]) -> list[Group]:
    """Match groups whose ids cannot be compared, one to one, by vector and time; nearest first."""
    slots: dict[tuple[object, ...], list[Group]] = defaultdict(list)
    united: list[Group] = []

    def settle(group: Group) -> None:
        united.append(group)
        for place in _places(group, _sources(group)):
            slots[place].append(group)

    for group in named:
        settle(group)
    for group in sorted(others, key=_when):
        # A source tells each call once, so only what other sources told is looked at.
        # Spans alone tell a call twice: a wrapper's span and, inside it, the client's.
        others_sources = (frozenset(Source) - _sources(group)) | (_sources(group) & {Source.OTLP_SPAN})
        places = _places(group, others_sources) if any(vector(merged(group))) else []
        near = {id(g): g for place in places for g in slots[place] if _may_be_one(g, group)}
        if near:
            min(near.values(), key=lambda g: (not _same_output(g, group), _distance(g, group), g[0].key)).extend(group)
        else:
            settle(group)
    return united


def _places(group: Group, sources: frozenset[str]) -> list[tuple[object, ...]]:
    """Where to look for the same call: by session, source and what went in. What came out may still be partial."""
    given = vector(merged(group))[:3]
    return [(session, source, *given) for session in sorted(_sessions(group)) for source in sorted(sources)]


def _when(group: Group) -> tuple[int, str]:
    times = span(merged(group))
    return (times[0] if times else 0, group[0].key)


def _sessions(group: Group) -> frozenset[str]:
    return frozenset(r.session for r in group)


def _is_nested(a: Group, b: Group) -> bool:
    """Whether all that both were told by are spans, one of them the parent of the other."""
    own, parents = ([{u for r in g for u in getattr(r, n)} for g in (a, b)] for n in ("uuids", "parents"))
    is_span = _sources(a) & _sources(b) == {Source.OTLP_SPAN}
    return is_span and bool(own[0] & parents[1] or own[1] & parents[0])


def _sources(group: Group) -> frozenset[str]:
    return frozenset(r.source for r in group)


def _may_be_one(a: Group, b: Group) -> bool:
    if (_sources(a) & _sources(b) and not _is_nested(a, b)) or not _is_near(a, b):
        return False
    messages = ({r.message_id for r in g if r.message_id and not r.message_id.startswith(BY_LINE)} for g in (a, b))
    requests = ({name for r in g for name in r.requests if not name.startswith(BY_CLIENT)} for g in (a, b))
    return not all(messages) and not all(requests) and (_same_output(a, b) or _partial(a, b) or _partial(b, a))


def _is_near(a: Group, b: Group) -> bool:
    """Near in time; a total is written when the tools of its call have ended, so the call may be long before."""
    if _distance(a, b) <= NEAR_MS:
        return True
    early, late = (b, a) if totals.is_counted(a) else (a, b)
    if not totals.is_counted(late) or span(merged(early)) is None or span(merged(late)) is None:
        return False
    return _when(early)[0] <= _when(late)[0] and _distance(a, b) <= totals.LATE_MS


def _same_output(a: Group, b: Group) -> bool:
    return merged(a).output == merged(b).output


def _partial(a: Group, b: Group) -> bool:
    """Whether the first was written before its response had ended, so that its output is a placeholder."""
    return is_partial(a) and (merged(a).output or 0) < (merged(b).output or 0)


def is_partial(group: Sequence[CallReading]) -> bool:
    """True when only unfinished transcript lines tell the output of a call."""
    return all(r.source is Source.TRANSCRIPT and r.stop_reason is None for r in group)


def _distance(a: Group, b: Group) -> int:
    """Milliseconds between two spans; 0 where they touch."""
    left, right = span(merged(a)), span(merged(b))
    if left is None or right is None:
        return NEAR_MS + 1
    return max(0, left[0] - right[1], right[0] - left[1])
