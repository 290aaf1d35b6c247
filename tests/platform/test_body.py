"""Bounded reading of raw bodies, inside one process."""

import gzip
import zlib
from collections.abc import Callable
from io import BytesIO

import pytest
from django.http import HttpRequest
from django.test import RequestFactory
from hypothesis import given
from hypothesis import strategies as st

from ecm_site.common.http import BadEncoding, BodyIncomplete, BodyTooLarge, InflatedTooLarge, read_body

KIB = 1024


class Trickle(BytesIO):
    """Gives at most `step` bytes per read, as a network does."""

    def __init__(self, body: bytes, step: int) -> None:
        super().__init__(body)
        self.step = step

    def read(self, size: int | None = -1) -> bytes:
        return super().read(min(self.step, size) if size and size > 0 else self.step)


def chunked(body: bytes, step: int = 7, **extra: str) -> HttpRequest:
    """A request whose body ends by itself, as the server hands on a chunked one."""
    request = RequestFactory().post("/x", content_type="application/json", **extra)  # type: ignore[arg-type]
    request.META |= {"wsgi.input": Trickle(body, step), "wsgi.input_terminated": True, "CONTENT_LENGTH": ""}
    return request


def announced(body: bytes, **extra: str) -> HttpRequest:
    """A request with CONTENT_LENGTH."""
    return RequestFactory().post("/x", body, content_type="application/json", **extra)  # type: ignore[arg-type]


def bare(body: bytes) -> bytes:
    """Deflate without a header, as some senders do."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gzip": gzip.compress,
    "zlib": zlib.compress,
    "bare": bare,
}


@given(body=st.binary(max_size=300), step=st.integers(1, 50), packing=st.sampled_from(["", "gzip", "zlib", "bare"]))
def test_read_body__any_split_and_encoding__same_bytes(body: bytes, step: int, packing: str) -> None:
    sent = PACKINGS[packing](body)
    if packing == "bare" and sent[0] & 15 == 8 and int.from_bytes(sent[:2]) % 31 == 0:
        return
    encoding = {"": "", "gzip": "gzip", "zlib": "deflate", "bare": "deflate"}[packing]
    extra = {"HTTP_CONTENT_ENCODING": encoding}
    assert read_body(chunked(sent, step, **extra), KIB, KIB) == body
    assert read_body(announced(sent, **extra), KIB, KIB) == body


def test_read_body__several_gzip_members__joined() -> None:
    sent = gzip.compress(b"one ") + gzip.compress(b"two")
    assert read_body(chunked(sent, 5, HTTP_CONTENT_ENCODING="gzip"), KIB, KIB) == b"one two"


@pytest.mark.parametrize("size", [KIB, KIB + 1])
def test_read_body__at_the_limit__one_more_is_refused(size: int) -> None:
    for request in (announced(b"x" * size), chunked(b"x" * size)):
        if size <= KIB:
            assert len(read_body(request, KIB, 10 * KIB)) == size
        else:
            with pytest.raises(BodyTooLarge) as caught:
                read_body(request, KIB, 10 * KIB)
            assert caught.value.code == "body_too_large"
            assert caught.value.data == {"limit": "body", "limit_bytes": KIB}


def test_read_body__inflates_beyond_the_limit__refused_by_that_limit() -> None:
    sent = gzip.compress(b"x" * (100 * KIB))
    with pytest.raises(InflatedTooLarge) as caught:
        read_body(chunked(sent, HTTP_CONTENT_ENCODING="gzip"), KIB, 64 * KIB)
    assert (caught.value.status, caught.value.data["limit_bytes"]) == (413, 64 * KIB)


@pytest.mark.parametrize(
    "sent", [b"no gzip at all", gzip.compress(b"x" * 500)[:-9], gzip.compress(b"a") + b"trailing rubbish"]
)
def test_read_body__broken_stream__bad_encoding(sent: bytes) -> None:
    with pytest.raises(BadEncoding) as caught:
        read_body(chunked(sent, HTTP_CONTENT_ENCODING="gzip"), KIB, KIB)
    assert caught.value.status == 400


@pytest.mark.parametrize("encoding", ["br", "gzip, gzip", "zstd"])
def test_read_body__encoding_not_offered__415(encoding: str) -> None:
    with pytest.raises(BadEncoding) as caught:
        read_body(announced(b"x", HTTP_CONTENT_ENCODING=encoding), KIB, KIB)
    assert caught.value.status == 415


def test_read_body__connection_ends_early__incomplete() -> None:
    request = announced(b"12345")
    request.META |= {"wsgi.input": BytesIO(b"123"), "CONTENT_LENGTH": "5"}
    with pytest.raises(BodyIncomplete):
        read_body(request, KIB, KIB)


def test_read_body__no_length_and_no_end__nothing_is_waited_for() -> None:
    request = chunked(b"never read")
    del request.META["wsgi.input_terminated"]
    assert read_body(request, KIB, KIB) == b""
