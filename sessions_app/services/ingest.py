"""Ingest: one delivery becomes merged readings, in one transaction, with the dirty mark in it."""

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import msgspec
from django.db import transaction

from ecm_site.common.enqueue import enqueue_on_commit
from sessions_app.feeds import unknown
from sessions_app.feeds.base import Context, Feed, Item, Parsed, Refusal, Refused
from sessions_app.feeds.lines import pieces
from sessions_app.feeds.shapes import shape_of
from sessions_app.kernel.readings import Reading, SessionReading
from sessions_app.models import Host
from sessions_app.services import living, looking, sources, store
from sessions_app.services.sources import Seen
from sessions_app.services.store import Husks, Name

UNKNOWN_SHAPE = "unknown_shape"
#: The rank of a personal key among the ways to know a developer.
KEY_RANK = 1 << 50
#: A busy session is folded no more often: hooks come several a second, and a fold reads all of it. Up to twice that,
#: each session at its own pace: those that began together would else be folded together, and hooks wait behind them.
REST = timedelta(seconds=4)
#: Remarks and refusals told in one answer; the rest is counted.
MOST_TOLD = 1_000
#: Bytes of lines read at a time: a record takes up to thirty times its size while it is read.
PIECE = 2 << 20


@dataclass(slots=True)
class Receipt:
    """What became of a delivery: `accepted` changed something, `duplicate` changed nothing."""

    accepted: int = 0
    duplicate: int = 0
    ignored: int = 0
    refused: list[Refusal] = field(default_factory=list)
    #: How many were refused; `refused` tells of the first of them.
    refused_total: int = 0
    warnings: list[Refusal] = field(default_factory=list)
    pending_bytes: int = 0
    session_ids: list[int] = field(default_factory=list)

    def add(self, other: "Receipt") -> None:
        """Count what became of the next piece of the delivery."""
        self.accepted += other.accepted
        self.duplicate += other.duplicate
        self.ignored += other.ignored
        self.refused_total += other.refused_total
        self.refused = (self.refused + other.refused)[:MOST_TOLD]
        self.warnings = (self.warnings + other.warnings)[:MOST_TOLD]
        self.pending_bytes = other.pending_bytes
        self.session_ids = sorted({*self.session_ids, *other.session_ids})


@dataclass(frozen=True, slots=True)
class Sender:
    """On whose behalf a delivery came, and what a client says of itself: its machine, and hooks that it lost."""

    team_id: int
    developer: str | None = None
    machine: str = ""
    lost_hook_events: int | None = None


@dataclass(slots=True)
class _Part:
    """What one feed read of a delivery, and what becomes of it."""

    feed: Feed
    parsed: Parsed
    context: Context
    telling: list[Item] = field(default_factory=list)
    receipt: Receipt = field(default_factory=Receipt)
    changed: set[int] = field(default_factory=set)


def receive(*, sender: Sender, feed: Feed, body: bytes, context: Context, now: datetime) -> Receipt:
    """Read one body and store what it says. Item by item refusals; never half a batch."""
    return receive_together(sender=sender, bodies=((feed, body),), context=context, now=now)[0]


def receive_together(
    *, sender: Sender, bodies: Sequence[tuple[Feed, bytes]], context: Context, now: datetime
) -> list[Receipt]:
    """The bodies of one delivery, in one transaction; a receipt for each.

    Raises Refused, with nothing stored, where no record of a body can be told apart.
    """
    if any(feed.by_line and len(body) > PIECE for feed, body in bodies):
        return [_receive_in_pieces(sender=sender, feed=f, body=b, context=context, now=now) for f, b in bodies]
    parts = [_read(sender, feed, body, feed.prepare(body, context), now) for feed, body in bodies]
    unread = [_unread(part, body) for part, (_, body) in zip(parts, bodies, strict=True) if _is_unknown(part)]
    with transaction.atomic():
        _keep(sender, [*parts, *unread], now)
    sources.note(sender=sender, seen=_sightings(parts), now=now)
    return [part.receipt for part in parts]


def _read(sender: Sender, feed: Feed, body: bytes, context: Context, now: datetime) -> _Part:
    try:
        return _Part(feed, feed.parse(body, context), context)
    except Refused as refused:
        # A source whose bodies cannot be read at all is no silent one: it is counted before it is sent away.
        unread = Parsed(refusals=[Refusal(1, refused.pointer, refused.code, refused.message)])
        sources.note(sender=sender, seen=_sightings([_Part(feed, unread, context)]), now=now)
        raise


def _sightings(parts: Sequence[_Part]) -> list[Seen]:
    return [seen for part in parts for seen in sources.sightings(part.feed, part.parsed, part.context)]


def _receive_in_pieces(*, sender: Sender, feed: Feed, body: bytes, context: Context, now: datetime) -> Receipt:
    """The same for a large body of lines: still all or nothing, but one piece in memory at a time."""
    whole, context, seen = Receipt(), feed.prepare(body, context), list[list[Seen]]()
    with transaction.atomic():
        for piece, before, is_last in pieces(body, PIECE):
            parsed = feed.parse(piece, context if is_last else replace(context, final=True))
            parsed.refusals = [replace(r, position=r.position + before) for r in parsed.refusals]
            parsed.warnings = [replace(r, position=r.position + before) for r in parsed.warnings]
            whole.add(keep(sender=sender, feed=feed, parsed=parsed, context=context, now=now))
            seen.append(sources.sightings(feed, parsed, context))
    for sightings in seen:
        sources.note(sender=sender, seen=sightings, now=now)
    return whole


def keep(*, sender: Sender, feed: Feed, parsed: Parsed, context: Context, now: datetime) -> Receipt:
    """Store what was parsed."""
    part = _Part(feed, parsed, context)
    _keep(sender, [part], now)
    return part.receipt


def _keep(sender: Sender, parts: Sequence[_Part], now: datetime) -> None:
    for part in parts:
        _begin(part, sender)
    with transaction.atomic(savepoint=False), store.pipeline():
        if any(part.telling for part in parts):
            _merge(sender, parts, now)
        changed = sorted({session_id for part in parts for session_id in part.changed})
        were_clean = store.mark_dirty(changed, now) if changed else dict
        kept = [part for part in parts if part.changed or (part.feed is unknown.FEED and part.parsed.items)]
        store.keep_husks(sender.team_id, [_packed(part) for part in kept], now)
    # A session that was dirty already has its message on the way, or the sweep finds it: one fold for many deliveries.
    for session_id, folded_at in were_clean().items():
        wait = wait_of(session_id, now - folded_at) if folded_at else timedelta()
        enqueue_on_commit("sessions_app.fold_session", session_id, seconds=wait.total_seconds())


def wait_of(session_id: int, rested: timedelta) -> timedelta:
    """How long the next fold of a session waits that has rested so long since its last one.

    Neighbours by number differ most (steps of the golden section), also where all of them wake up together.
    """
    own = session_id * 0.618_034 % 1
    return max(min(REST * (1 + own) - rested, REST * (1 + own)), timedelta(seconds=own))


def _begin(part: _Part, sender: Sender) -> None:
    parsed = part.parsed
    telling = [item for item in parsed.items if item.readings]
    part.telling = [_signed(item, sender) for item in telling] if sender.developer else telling
    part.receipt = Receipt(
        ignored=len(parsed.items) - len(telling),
        refused=parsed.refusals[:MOST_TOLD],
        refused_total=len(parsed.refusals),
        warnings=parsed.warnings[:MOST_TOLD],
        pending_bytes=parsed.pending_bytes,
    )


def _is_unknown(part: _Part) -> bool:
    """Whether a transcript says nothing because nobody knows its shape."""
    items = part.parsed.items
    if not items or not part.feed.name.endswith("-transcript") or any(item.readings for item in items):
        return False
    return not any(shape_of(item.husk) for item in items)


def _unread(part: _Part, body: bytes) -> _Part:
    """The same records as those of nobody; the receipt of `part` says so."""
    part.parsed.warnings.append(Refusal(1, "", UNKNOWN_SHAPE, "no feed knows these records; they are kept, reduced"))
    return _Part(unknown.FEED, unknown.FEED.parse(body, part.context), part.context)


def _signed(item: Item, sender: Sender) -> Item:
    """A key of a person says who worked; that is surer than what telemetry says."""
    sessions = {(r.session, r.source) for r in item.readings}
    facts = [
        SessionReading(session=session, source=source, key="sender", developer=(KEY_RANK, f"key:{sender.developer}"))
        for session, source in sorted(sessions)
    ]
    return replace(item, readings=(*item.readings, *facts))


def _merge(sender: Sender, parts: Sequence[_Part], now: datetime) -> None:
    """Join the readings to what is stored, item by item, so that each item's effect is known."""
    received_ms = parts[0].context.received_ms
    items = [(part, item, _host(part.feed, item)) for part in parts for item in part.telling]
    told = [(host, reading) for _, item, host in items for reading in item.readings]
    stored = looking.look(team_id=sender.team_id, told=told, received_ms=received_ms, now=now)
    changed: dict[Name, Reading] = {}
    for part, item, host in items:
        news = False
        for reading in item.readings:
            name = looking.name_of(stored.sessions, host, reading)
            before = stored.readings.get(name)
            after = reading if before is None else before.merge(reading)
            if after != before:
                stored.readings[name] = changed[name] = after
                part.changed.add(name.session_id)
                news = True
        part.receipt.accepted += news
        part.receipt.duplicate += not news
    for part in parts:
        part.receipt.session_ids = sorted(part.changed)
    store.keep(sender.team_id, changed, now)
    living.advance(changed, stored.states, received_ms, now)


def _host(feed: Feed, item: Item) -> str:
    return feed.host or str(item.husk.get("host") or Host.CANONICAL)


def _packed(part: _Part) -> Husks:
    husks = [item.husk for item in (part.telling or part.parsed.items)]
    lines = b"\n".join(msgspec.json.encode(husk, order="sorted") for husk in husks)
    digest = hashlib.sha256(lines).hexdigest()
    return Husks(part.feed.name, part.context.event, digest, zlib.compress(lines, 6), len(husks))
