"""Import of transcript files of this machine: in pieces, restartable, numbers only."""

import hashlib
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
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


@dataclass(slots=True)
class Progress:
    """One piece of one file: bytes read, records stored, refusals with their line in the piece."""

    path: Path
    read_bytes: int = 0
    accepted: int = 0
    refused: list[Refusal] = field(default_factory=list)
    unfinished: bool = False
    session_ids: list[int] = field(default_factory=list)


def find(roots: list[Path]) -> list[Path]:
    """Transcript files under these files and folders, largest last, so that progress is seen early."""
    found: set[Path] = set()
    for root in roots:
        found.update([root] if root.is_file() else root.rglob("*.jsonl"))
    return sorted(found, key=lambda path: (path.stat().st_size, str(path)))


def home_roots(environ: dict[str, str]) -> list[Path]:
    """Where Claude Code keeps its transcripts on this machine."""
    home = Path(environ.get("CLAUDE_CONFIG_DIR") or Path(environ.get("HOME", "~")).expanduser() / ".claude")
    return [home / "projects"] if (home / "projects").is_dir() else []


def this_machine() -> str:
    """The short hash by which the client, too, tells this machine from others."""
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:12]


def read_file(*, path: Path, feed: Feed, sender: Sender, now: datetime) -> Iterator[Progress]:
    """Read what is new in one file, piece by piece; an unfinished last line is left for the next time."""
    with path.open("rb") as handle:
        mark = _mark(path, sender, handle.read(HEAD))
        size = os.fstat(handle.fileno()).st_size
        line = 0
        while mark.offset < size:
            piece, length = _next_piece(handle, mark.offset, size)
            progress = _store(path, piece, length, feed, sender, mark, now)
            progress.refused = [Refusal(r.position + line, r.pointer, r.code, r.message) for r in progress.refused]
            line += piece.count(b"\n") or 1
            yield progress
            if progress.unfinished:
                return


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


def _mark(path: Path, sender: Sender, head: bytes) -> ImportedFile:
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()
    # A file that still grows may be shorter than the head; its first line names it well enough.
    start = hashlib.sha256(head.split(b"\n", 1)[0]).hexdigest()
    mark, _ = ImportedFile.objects.get_or_create(
        team_id=sender.team_id, path_digest=digest, defaults={"head_digest": start}
    )
    if mark.head_digest != start:
        mark.head_digest, mark.offset = start, 0
    return mark


def _store(
    path: Path, piece: bytes, length: int, feed: Feed, sender: Sender, mark: ImportedFile, now: datetime
) -> Progress:
    """Store a piece and how far the file was read, in one transaction."""
    context = Context(received_ms=int(now.timestamp() * 1000))
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
