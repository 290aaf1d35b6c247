"""Bodies larger than a piece are stored as one delivery."""

import json

import pytest

from sessions_app.models import Session, Team
from sessions_app.services import ingest
from tests.support import deliveries as given
from tests.support import told
from tests.support.deliveries import Delivery


@pytest.fixture
def large() -> bytes:
    """Six lines of about a third of a piece, each a call, with a bad line in the middle and a torn one last."""
    text = "x" * (ingest.PIECE // 3)
    lines = []
    for number in range(6):
        line = told.call("s", f"m{number}", number, told.usage(100, out=10))
        line["message"]["content"] = [{"type": "text", "text": text}]
        lines.append(json.dumps(line).encode())
    return b"\n".join([*lines[:4], b"{bad", *lines[4:], b'{"torn'])


def test_large_body__positions_and_sums__as_in_one_piece(large: bytes, teams: dict[str, Team]) -> None:
    (receipt,) = given.deliver(teams["A"], [Delivery("claude-code-transcript", large)])
    assert (receipt.accepted, receipt.pending_bytes) == (6, len(b'{"torn'))
    assert [(refusal.position, refusal.code) for refusal in receipt.refused] == [(5, "not_json")]
    given.fold_everything()
    session = Session.objects.get()
    assert (session.calls, session.uncached_input, session.output) == (6, 600, 60)
    (again,) = given.deliver(teams["A"], [Delivery("claude-code-transcript", large)])
    assert (again.accepted, again.duplicate) == (0, 6)
