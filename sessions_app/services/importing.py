"""Import of files of this machine: in pieces, restartable, numbers only. Which files: see `stores`."""

import hashlib
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from django.db import transaction

from sessions_app.feeds.base import Context, Feed, Refusal
from sessions_app.models import ImportedFile
from sessions_app.services import ingest
from sessions_app.services.ingest import Sender

#: Bytes read at a time; the offset is stored with each piece.
PIECE = 8 << 20
HEAD = 4_096
#: The longest first line that is looked at for what it says of the others.
FIRST_LINE = 1 << 20
#: A document is held in memory as a whole.
LARGEST = 64 << 20


@dataclass(slots=True)
class Progress:
    """One piece of one file: bytes read, records stored, refusals with their line in the piece."""

    path: Path
    read_bytes: int = 0
    accepted: int = 0
    refused: list[Refusal] = field(default_factory=list)
    unfinished: bool = False
    session_ids: list[int] = field(default_factory=list)


def this_machine() -> str:
    """The short hash by which the client, too, tells this machine from others."""
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:12]


def read_file(*, path: Path, feed: Feed, sender: Sender, now: datetime) -> Iterator[Progress]:
    """Read what is new in one file, piece by piece; an unfinished last line is left for the next time."""
    with path.open("rb") as handle:
        # A file that still grows may be shorter than the head; its first line names it well enough.
        first = handle.read(HEAD).split(b"\n", 1)[0]
        mark = mark_of(path, sender, hashlib.sha256(first).hexdigest())
        context = _context(handle, path, feed, now)
        size = os.fstat(handle.fileno()).st_size
        line = 0
        while mark.offset < size:
            piece, length = _next_piece(handle, mark.offset, size)
            progress = _store(path, piece, length, feed, sender, mark, context, now)
            progress.refused = [Refusal(r.position + line, r.pointer, r.code, r.message) for r in progress.refused]
            line += piece.count(b"\n") or 1
            yield progress
            if progress.unfinished:
                return


def read_whole(*, path: Path, feed: Feed, sender: Sender, now: datetime) -> Iterator[Progress]:
    """Read a file that is one document, which its host writes anew each time; not where it is as it was."""
    size = path.stat().st_size
    if size > LARGEST:
        too_large = Refusal(1, "", "file_too_large", f"{size:,} bytes; the limit is {LARGEST:,}")
        yield Progress(path=path, read_bytes=size, refused=[too_large])
        return
    body = path.read_bytes()
    mark = mark_of(path, sender, hashlib.sha256(body).hexdigest())
    if mark.offset != size:
        yield store(path=path, body=body, feed=feed, sender=sender, mark=mark, offset=size, now=now)


def store(
    *, path: Path, body: bytes, feed: Feed, sender: Sender, mark: ImportedFile, offset: int, now: datetime
) -> Progress:
    """Store a body and that the file was read up to `offset`, in one transaction."""
    context = Context(received_ms=int(now.timestamp() * 1000))
    with transaction.atomic():
        receipt = ingest.receive(sender=sender, feed=feed, body=body, context=context, now=now)
        mark.offset = offset
        mark.save()
    return Progress(
        path=path,
        read_bytes=len(body),
        accepted=receipt.accepted,
        refused=receipt.refused,
        session_ids=receipt.session_ids,
    )


def _context(handle: BinaryIO, path: Path, feed: Feed, now: datetime) -> Context:
    """What the first line says of all lines, else the file's place; a piece further down does not hold it."""
    handle.seek(0)
    context = feed.prepare(handle.readline(FIRST_LINE), Context(received_ms=int(now.timestamp() * 1000)))
    return context if context.session else replace(context, session=feed.session_at(path))


def _next_piece(handle: BinaryIO, offset: int, size: int) -> tuple[bytes, int]:
    """Whole lines from `offset` and how many bytes they are; no lines where one line is larger than a piece."""
    handle.seek(offset)
    piece = handle.read(PIECE)
    if offset + len(piece) >= size:
        return piece, len(piece)
    end = piece.rfind(b"\n") + 1
    if end:
        return piece[:end], end
    skipped = len(piece)
    while more := handle.read(PIECE):
        end = more.find(b"\n") + 1
        skipped += end or len(more)
        if end:
            break
    return b"", skipped


def mark_of(path: Path, sender: Sender, start: str) -> ImportedFile:
    """How far a file was read; from the beginning where `start`, a digest of how it begins, is another one."""
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()
    mark, _ = ImportedFile.objects.get_or_create(
        team_id=sender.team_id, path_digest=digest, defaults={"head_digest": start}
    )
    if mark.head_digest != start:
        mark.head_digest, mark.offset = start, 0
    return mark


def _store(
    path: Path,
    piece: bytes,
    length: int,
    feed: Feed,
    sender: Sender,
    mark: ImportedFile,
    context: Context,
    now: datetime,
) -> Progress:
    """Store a piece and how far the file was read, in one transaction."""
    with transaction.atomic():
        receipt = ingest.receive(sender=sender, feed=feed, body=piece, context=context, now=now)
        mark.offset += length - receipt.pending_bytes
        mark.save()
    too_large = Refusal(1, "", "line_too_large", f"a line of {length:,} bytes is larger than {PIECE:,}")
    return Progress(
        path=path,
        read_bytes=length,
        accepted=receipt.accepted,
        refused=receipt.refused if piece else [too_large],
        unfinished=receipt.pending_bytes > 0,
        session_ids=receipt.session_ids,
    )
