"""What this server calls by itself: one POST to a checked address, and nothing else."""

from collections.abc import Iterator

import pytest

from sessions_app.services.outgoing import post_json
from tests.support.receivers import WebReceiver, listening


@pytest.fixture
def receiver() -> Iterator[WebReceiver]:
    with listening(WebReceiver()) as server:
        yield server


def test_post__private_address_that_is_allowed__arrives_once(receiver: WebReceiver) -> None:
    url = f"{receiver.url}/hook?a=1"
    assert post_json(url, {"text": "hello"}, may_be_private=True).is_taken
    assert receiver.got == [("/hook?a=1", {"text": "hello"})]


def test_post__redirect__is_not_followed(receiver: WebReceiver) -> None:
    answer = post_json(f"{receiver.url}/moved", {}, may_be_private=True)
    assert not answer.is_taken
    assert [path for path, _ in receiver.got] == ["/moved"]


def test_post__private_address__is_not_called_unless_allowed(receiver: WebReceiver) -> None:
    for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]"):
        assert not post_json(f"http://{host}:{receiver.server_port}/", {}, may_be_private=False).is_taken
    assert receiver.got == []


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://[fe80::1]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://0.0.0.0/",
        "ftp://example.com/",
        "http://user:pw@example.com/",
        "http://a b/",
        "https://",
        "http://example.com:99999/",
    ],
)
def test_post__never_called__even_where_private_ones_are_allowed(url: str) -> None:
    assert not post_json(url, {}, may_be_private=True).is_taken
