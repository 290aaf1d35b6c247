"""Other sessions of the team that hold some of the same calls: resumes, forks, the same call seen by another host."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from sessions_app.kernel.facts import Kin
from sessions_app.kernel.ownership import declared_parent, first_line_ms
from sessions_app.kernel.readings import CallReading, CompactionReading, Reading, SessionReading, decode
from sessions_app.models import Host, ReadingRow, Session
from sessions_app.services.store import cursor

#: Rounds of asking who else has an id: a request id leads to a message id, and that to a copy without request id.
MOST_ROUNDS = 5


def label(host: str, name: str) -> str:
    """A session's name in a fold: two hosts may give the same. No id holds a slash."""
    return name if host == Host.CLAUDE_CODE else f"{host}/{name}"


def named_by(text: str) -> tuple[str, str]:
    """Host and name of a label."""
    host, slash, name = text.partition("/")
    return (host, name) if slash else (Host.CLAUDE_CODE, text)


def labelled(host: str, readings: Iterable[Reading]) -> Iterator[Reading]:
    """The readings under the labels of their sessions."""
    if host == Host.CLAUDE_CODE:
        yield from readings
        return
    for reading in readings:
        named = msgspec.structs.replace(reading, session=label(host, reading.session))
        if isinstance(named, SessionReading) and named.parent is not None:
            named = msgspec.structs.replace(named, parent=(named.parent[0], label(host, named.parent[1])))
        yield named


def kin_of(session: Session, calls: Sequence[CallReading]) -> dict[int, Kin]:
    """The kin by session row, each with the calls that are shared."""
    shared = _shared_calls(session, calls)
    if not shared:
        return {}
    names = {s.pk: s for s in Session.objects.filter(pk__in=shared).only("pk", "host", "host_session_id")}
    facts: dict[int, list[Reading]] = {pk: [] for pk in shared}
    rows = ReadingRow.objects.filter(session__in=shared, kind__in=(SessionReading.kind, CompactionReading.kind))
    for session_id, kind, body in rows.values_list("session_id", "kind", "body"):
        facts[session_id].append(decode(kind, body))
    return {pk: _kin(names[pk], facts[pk], shared[pk]) for pk in shared}


def _kin(session: Session, facts: list[Reading], calls: list[CallReading]) -> Kin:
    told = list(labelled(session.host, facts))
    return Kin(
        session=label(session.host, session.host_session_id),
        first_line_ms=first_line_ms(told),
        parent=declared_parent(told),
        calls=tuple(r for r in labelled(session.host, calls) if isinstance(r, CallReading)),
        compactions=tuple(r for r in told if isinstance(r, CompactionReading)),
    )


_SHARED = " UNION ALL ".join(
    "SELECT id, session_id, body FROM sessions_app_readingrow WHERE team_id = %(team)b AND session_id <> %(session)b"  # noqa: S608 - names of columns
    f" AND kind = '{CallReading.kind}' AND {column} = ANY(%({column})b::text[])"
    for column in ("message_id", "request_id")
)


def _shared_calls(session: Session, calls: Sequence[CallReading]) -> dict[int, list[CallReading]]:
    """Readings of the same calls in other sessions, by session row; through as many ids as it takes."""
    found: dict[int, dict[int, CallReading]] = {}
    asked: set[tuple[str, str]] = set()
    news = _ids(calls)
    for _ in range(MOST_ROUNDS):
        asked |= news
        rows: list[CallReading] = []
        for pk, session_id, body in _holding(session, news):
            reading = msgspec.json.decode(body, type=CallReading)
            found.setdefault(session_id, {})[pk] = reading
            rows.append(reading)
        news = _ids(rows) - asked
        if not news:
            break
    return {session_id: list(rows.values()) for session_id, rows in found.items()}


def _holding(session: Session, names: set[tuple[str, str]]) -> Iterator[tuple[int, int, str]]:
    """(row, session row, body) of readings of other sessions of the team that hold one of these names."""
    if not names:
        return
    ids = {column: [name for kind, name in names if kind == column] for column in ("message_id", "request_id")}
    with cursor() as cur:
        for pk, session_id, body in cur.execute(_SHARED, {"team": session.team_id, "session": session.pk, **ids}):
            yield int(str(pk)), int(str(session_id)), str(body)


def _ids(calls: Iterable[CallReading]) -> set[tuple[str, str]]:
    """Names by which other sessions may know these calls, with the column that holds them."""
    messages = {("message_id", c.message_id) for c in calls if c.message_id}
    return messages | {("request_id", name) for c in calls for name in c.requests}


def digest(readings: Sequence[Reading], kin: Iterable[Kin]) -> str:
    """What the folds of the kin depend on: when the session began, whence it came, and what it shares."""
    aliases = {name for k in kin for _, name in _ids(k.calls)}
    mine = sorted(
        msgspec.json.encode(r, order="sorted")
        for r in readings
        if isinstance(r, CompactionReading)
        or (isinstance(r, CallReading) and any(name in aliases for _, name in _ids([r])))
    )
    head = f"{first_line_ms(readings)}|{declared_parent(readings)}|".encode()
    return hashlib.sha256(head + b"\n".join(mine)).hexdigest()
