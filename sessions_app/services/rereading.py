"""Reread: run today's feeds over the vault. What an earlier feed overlooked is found without asking anyone."""

import zlib
from datetime import datetime

import msgspec

from sessions_app.feeds.base import Context, Item, Parsed, Refusal, Refused
from sessions_app.feeds.registry import FEEDS
from sessions_app.models import VaultRecord
from sessions_app.services import ingest
from sessions_app.services.ingest import Receipt, Sender


def reread(*, record: VaultRecord, now: datetime) -> Receipt:
    """Read one vault record again; readings join what is there, so nothing is counted twice."""
    feed = FEEDS[record.feed]
    context = Context(received_ms=int(record.received_at.timestamp() * 1000), event=record.event)
    parsed = Parsed()
    for position, line in enumerate(zlib.decompress(record.husks).split(b"\n"), 1):
        husk = msgspec.json.decode(line)
        try:
            parsed.items.append(Item(position, husk, feed.read(husk, context)))
        except Refused as refused:
            parsed.refusals.append(Refusal(position, refused.pointer, refused.code, refused.message))
    return ingest.keep(sender=Sender(record.team_id), feed=feed, parsed=parsed, context=context, now=now)
