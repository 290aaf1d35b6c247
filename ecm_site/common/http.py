"""Raw request bodies, bounded.

Django's WSGI request reads CONTENT_LENGTH bytes and so drops a chunked body; hosts send OTLP chunked.
The server marks a stream that ends by itself with `wsgi.input_terminated`; this module reads that.
"""

import zlib
from collections.abc import Iterator
from typing import BinaryIO

from django.http import HttpRequest

from ecm_site.common.problems import DomainError

CHUNK = 65_536
#: zlib's window argument that detects gzip and zlib headers, and the one for a bare deflate stream.
DETECT, BARE = 47, -15
ENCODINGS = {"gzip", "x-gzip", "deflate"}
NOT_WHOLE = "The body is not a whole stream of its Content-Encoding."


class BodyTooLarge(DomainError):
    """413: the body as sent has more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        text = f"The body is larger than {limit} bytes as sent."
        super().__init__("body_too_large", text, 413, limit="body", limit_bytes=limit)


class InflatedTooLarge(DomainError):
    """413: the body has more than `limit` bytes once inflated."""

    def __init__(self, limit: int) -> None:
        text = f"The body is larger than {limit} bytes once inflated."
        super().__init__("inflated_too_large", text, 413, limit="inflated", limit_bytes=limit)


class BadEncoding(DomainError):
    """415 for an encoding that is not offered, 400 for a stream that is not what it says."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__("bad_encoding", message, status)


class BodyIncomplete(DomainError):
    """400: the connection ended before CONTENT_LENGTH bytes."""

    def __init__(self) -> None:
        super().__init__("body_incomplete", "The body ended before its announced length.")


def read_body(request: HttpRequest, limit: int, inflated_limit: int) -> bytes:
    """The whole body, inflated. `limit` bounds the bytes as sent, `inflated_limit` those returned.

    Reads at most one chunk beyond either limit. Raises BodyTooLarge, InflatedTooLarge, BadEncoding, BodyIncomplete.
    """
    chunks = _chunks(request, limit)
    encoding = request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower()
    if encoding in {"", "identity"}:
        return _joined(chunks, inflated_limit)
    if encoding not in ENCODINGS:
        raise BadEncoding("Content-Encoding must be gzip, deflate or identity.", 415)
    return _joined(_inflated(chunks, encoding), inflated_limit)


def _chunks(request: HttpRequest, limit: int) -> Iterator[bytes]:
    """The body as sent, piece by piece."""
    stream: BinaryIO = request.META["wsgi.input"]
    announced = _announced(request)
    if announced is None and not request.META.get("wsgi.input_terminated"):
        return
    if announced is not None and announced > limit:
        raise BodyTooLarge(limit)
    seen = 0
    while announced is None or seen < announced:
        piece = stream.read(CHUNK if announced is None else min(CHUNK, announced - seen))
        if not piece:
            break
        seen += len(piece)
        if seen > limit:
            raise BodyTooLarge(limit)
        yield piece
    if announced is not None and seen < announced:
        raise BodyIncomplete


def _announced(request: HttpRequest) -> int | None:
    """CONTENT_LENGTH, or None for a chunked body."""
    text = request.META.get("CONTENT_LENGTH") or ""
    if "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
        return None
    return int(text) if text.isascii() and text.isdigit() else None


def _joined(pieces: Iterator[bytes], limit: int) -> bytes:
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > limit:
            raise InflatedTooLarge(limit)
    return bytes(body)


def _inflated(chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """Inflate member by member, at most one CHUNK at a time, whatever the ratio."""
    inflate, start = None, b""
    for chunk in chunks:
        rest, more = start + chunk, True
        if inflate is None:
            if len(rest) < 2:
                start = rest
                continue
            bare = encoding == "deflate" and not _has_zlib_header(rest)
            inflate, start = zlib.decompressobj(BARE if bare else DETECT), b""
        while rest or more:
            if inflate.eof:
                inflate = zlib.decompressobj(DETECT)
            try:
                piece = inflate.decompress(rest, CHUNK)
            except zlib.error as error:
                raise BadEncoding(NOT_WHOLE) from error
            yield piece
            # A full piece may leave output inside zlib although all input is consumed.
            more = len(piece) == CHUNK and not inflate.eof
            rest = inflate.unused_data if inflate.eof else inflate.unconsumed_tail
    if start or (inflate is not None and not inflate.eof):
        raise BadEncoding(NOT_WHOLE)


def _has_zlib_header(start: bytes) -> bool:
    """RFC 1950: the first two bytes are a multiple of 31; some senders of "deflate" leave them out."""
    return start[0] & 15 == 8 and int.from_bytes(start[:2]) % 31 == 0
