"""Ingest: one delivery becomes merged readings, in one transaction, with the dirty mark in it."""

import hashlib
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

import msgspec
from django.db import transaction

from ecm_site.common.enqueue import enqueue_on_commit
from sessions_app.feeds import unknown
from sessions_app.feeds.base import Context, Feed, Item, Parsed, Refusal, Refused
from sessions_app.feeds.lines import pieces
from sessions_app.feeds.shapes import shape_of
from sessions_app.kernel.readings import Reading, SessionReading
from sessions_app.models import Host
from sessions_app.services import living, sources, store
from sessions_app.services.store import Name

#: Longest key that the table takes; a longer one is replaced by its hash.
LONGEST_KEY = 240
UNKNOWN_SHAPE = "unknown_shape"
#: The rank of a personal key among the ways to know a developer.
KEY_RANK = 1 << 50
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


def receive(*, sender: Sender, feed: Feed, body: bytes, context: Context, now: datetime) -> Receipt:
    """Read one body and store what it says. Item by item refusals; never half a batch."""
    context = feed.prepare(body, context)
    if feed.by_line and len(body) > PIECE:
        return _receive_in_pieces(sender=sender, feed=feed, body=body, context=context, now=now)
    try:
        parsed = feed.parse(body, context)
    except Refused as refused:
        # A source whose bodies cannot be read at all is no silent one: it is counted before it is sent away.
        unread = Parsed(refusals=[Refusal(1, refused.pointer, refused.code, refused.message)])
        sources.note(sender=sender, feed=feed, parsed=unread, context=context, now=now)
        raise
    with transaction.atomic():
        if _is_unknown(feed, parsed.items):
            unread = unknown.FEED.parse(body, context)
            keep(sender=sender, feed=unknown.FEED, parsed=unread, context=context, now=now)
            parsed.warnings.append(Refusal(1, "", UNKNOWN_SHAPE, "no feed knows these records; they are kept, reduced"))
        receipt = keep(sender=sender, feed=feed, parsed=parsed, context=context, now=now)
        sources.note(sender=sender, feed=feed, parsed=parsed, context=context, now=now)
    return receipt


def _receive_in_pieces(*, sender: Sender, feed: Feed, body: bytes, context: Context, now: datetime) -> Receipt:
    """The same for a large body of lines: still all or nothing, but one piece in memory at a time."""
    whole = Receipt()
    with transaction.atomic():
        for piece, before, is_last in pieces(body, PIECE):
            parsed = feed.parse(piece, context if is_last else replace(context, final=True))
            parsed.refusals = [replace(r, position=r.position + before) for r in parsed.refusals]
            parsed.warnings = [replace(r, position=r.position + before) for r in parsed.warnings]
            whole.add(keep(sender=sender, feed=feed, parsed=parsed, context=context, now=now))
            sources.note(sender=sender, feed=feed, parsed=parsed, context=context, now=now)
    return whole


def keep(*, sender: Sender, feed: Feed, parsed: Parsed, context: Context, now: datetime) -> Receipt:
    """Store what was parsed."""
    receipt = Receipt(
        refused=parsed.refusals[:MOST_TOLD],
        refused_total=len(parsed.refusals),
        warnings=parsed.warnings[:MOST_TOLD],
        pending_bytes=parsed.pending_bytes,
    )
    telling = [item for item in parsed.items if item.readings]
    receipt.ignored = len(parsed.items) - len(telling)
    if not telling:
        if feed is unknown.FEED and parsed.items:
            _keep_husks(sender, feed, context, parsed.items, now)
        return receipt
    waiting: list[int] = []
    with transaction.atomic(savepoint=False):
        telling = [_signed(item, sender) for item in telling] if sender.developer else telling
        changed = _merge(sender, feed, telling, receipt, context, now)
        if changed:
            waiting = store.mark_dirty(changed, now)
            _keep_husks(sender, feed, context, telling, now)
    receipt.session_ids = changed
    # A session that was dirty already has its message on the way, or the sweep finds it: one fold for many deliveries.
    for session_id in waiting:
        enqueue_on_commit("sessions_app.fold_session", session_id)
    return receipt


def _is_unknown(feed: Feed, items: list[Item]) -> bool:
    """Whether a transcript says nothing because nobody knows its shape."""
    if not items or not feed.name.endswith("-transcript") or any(item.readings for item in items):
        return False
    return not any(shape_of(item.husk) for item in items)


def _signed(item: Item, sender: Sender) -> Item:
    """A key of a person says who worked; that is surer than what telemetry says."""
    sessions = {(r.session, r.source) for r in item.readings}
    facts = [
        SessionReading(session=session, source=source, key="sender", developer=(KEY_RANK, f"key:{sender.developer}"))
        for session, source in sorted(sessions)
    ]
    return replace(item, readings=(*item.readings, *facts))


def _merge(
    sender: Sender, feed: Feed, items: list[Item], receipt: Receipt, context: Context, now: datetime
) -> list[int]:
    """Join the readings to what is stored, item by item, so that each item's effect is known."""
    sessions = store.lock_sessions(
        sender.team_id, ((_host(feed, item), r.session) for item in items for r in item.readings), now
    )
    named = [(item, [(_name(sessions, feed, item, r), r) for r in item.readings]) for item in items]
    state = store.held({name for _, pairs in named for name, _ in pairs})
    changed: dict[Name, Reading] = {}
    for _, pairs in named:
        news = False
        for name, reading in pairs:
            before = state.get(name)
            after = reading if before is None else before.merge(reading)
            if after != before:
                state[name] = changed[name] = after
                news = True
        receipt.accepted += news
        receipt.duplicate += not news
    store.keep(sender.team_id, changed, now)
    living.advance(changed, context.received_ms, now)
    return sorted({name.session_id for name in changed})


def _host(feed: Feed, item: Item) -> str:
    return feed.host or str(item.husk.get("host") or Host.CANONICAL)


def _name(sessions: dict[tuple[str, str], int], feed: Feed, item: Item, reading: Reading) -> Name:
    key = reading.key
    if len(key) > LONGEST_KEY:
        key = "sha256:" + hashlib.sha256(key.encode()).hexdigest()
    return Name(sessions[_host(feed, item), reading.session], reading.kind, str(reading.source), key)


def _keep_husks(sender: Sender, feed: Feed, context: Context, items: Iterable[Item], now: datetime) -> None:
    husks = [item.husk for item in items]
    lines = b"\n".join(msgspec.json.encode(husk, order="sorted") for husk in husks)
    digest = hashlib.sha256(lines).hexdigest()
    packed = zlib.compress(lines, 6)
    store.keep_husks(sender.team_id, feed.name, context.event, digest, packed, len(husks), now)
