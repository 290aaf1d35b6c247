"""Bodies larger than a piece are stored as one delivery."""

import json

import pytest

from sessions_app.models import Call, Session, Team
from sessions_app.services import folding, ingest
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


def test_large_session__left_to_the_worker_by_an_import__by_its_readings(teams: dict[str, Team]) -> None:
    lines = [told.call("large", f"m{n}", n, told.usage(1)) for n in range(40)]
    given.deliver(teams["A"], [told.transcript(*lines), told.transcript(told.call("small", "x", 0, told.usage(1)))])
    rows = {s.host_session_id: s.pk for s in Session.objects.all()}
    assert folding.large_ids(rows.values()) == frozenset()
    assert folding.large_ids(rows.values(), most=40) == {rows["large"]}


def test_projections__more_rows_than_a_batch__all_written_and_stale_ones_gone(teams: dict[str, Team]) -> None:
    """One record ties two others together, so one of 2,501 calls goes away again."""
    calls = [told.call("s", f"m{n}", 60 * n, told.usage(n, 1)) for n in range(2_500)]
    record = told.request("s", 0, told.usage(0, 1), request_id="req_lost")
    given.deliver(teams["A"], [told.transcript(*calls), told.logs(record)])
    given.fold_everything()
    assert Call.objects.count() == 2_501
    given.deliver(teams["A"], [told.transcript({**calls[0], "requestId": "req_lost"})])
    given.fold_everything()
    assert sorted(Call.objects.values_list("uncached_input", flat=True)) == list(range(2_500))
