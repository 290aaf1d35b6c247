"""Agreement of our causes with the provider's word: over transcript files, and over what is in the database."""

import tarfile
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from django.db.models import Max, QuerySet

from sessions_app.feeds.base import Context
from sessions_app.feeds.registry import FEEDS
from sessions_app.kernel.agreement import Agreement, agreement
from sessions_app.kernel.calls_sent import sent
from sessions_app.kernel.facts import FoldInput
from sessions_app.kernel.fold import fold
from sessions_app.kernel.pricing import PriceBook
from sessions_app.kernel.readings import Reading
from sessions_app.models import Call, Session
from sessions_app.services import explaining
from sessions_app.services.prices import load_price_book

FEED = "claude-code-transcript"
#: The newest sessions with a reason that the page compares.
MOST_SESSIONS = 200


def of_files(paths: Iterable[Path], book: PriceBook, now: datetime) -> Agreement:
    """Transcripts of Claude Code: files, folders, or an archive of them. Responses in several files count once."""
    found, seen = Agreement(), set[str]()
    received_ms = int(now.timestamp() * 1000)
    for body in _bodies(paths):
        for session, readings in _read(body, received_ms).items():
            outcome = fold(FoldInput(session=session, readings=tuple(readings), received_ms=received_ms), book)
            calls = [sent(call, book.price(call.model, call.started_at)) for call in outcome.calls]
            told = {call.key for call in calls if call.told}
            if told - seen:
                found += agreement(calls)
            seen |= told
    return found


def _bodies(paths: Iterable[Path]) -> Iterator[bytes]:
    for path in paths:
        if path.is_dir():
            yield from _bodies(sorted(path.rglob("*.jsonl")))
        elif tarfile.is_tarfile(path):
            with tarfile.open(path) as archive:
                for member in archive:
                    handle = archive.extractfile(member) if member.isfile() else None
                    if handle is not None:
                        yield handle.read()
        else:
            yield path.read_bytes()


def _read(body: bytes, received_ms: int) -> dict[str, list[Reading]]:
    """Readings by session, joined."""
    held: dict[str, dict[tuple[str, str, str], Reading]] = {}
    for item in FEEDS[FEED].parse(body, Context(received_ms=received_ms)).items:
        for reading in item.readings:
            name = (reading.kind, str(reading.source), reading.key)
            stored = held.setdefault(reading.session, {})
            stored[name] = stored[name].merge(reading) if name in stored else reading
    return {session: list(readings.values()) for session, readings in held.items()}


def of_sessions(sessions: QuerySet[Session]) -> Agreement:
    """The newest sessions in which the provider named a reason."""
    told = Call.objects.filter(session__in=sessions, evidence__has_key="told")
    ids = told.values("session_id").annotate(last=Max("started_at")).order_by("-last")[:MOST_SESSIONS]
    book = load_price_book()
    found = Agreement()
    for row in ids:
        found += agreement(explaining.sent_calls(row["session_id"], book))
    return found
