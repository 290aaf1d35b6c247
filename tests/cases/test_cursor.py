"""Cursor: what its hooks tell is the context before a compaction and the sums of a turn; its logs hold no numbers."""

import json
from typing import Any

from sessions_app.feeds.shapes import shape_of_text
from sessions_app.models import Session, Team
from tests.support import deliveries as given
from tests.support.deliveries import Delivery
from tests.support.inputs import corpus_of_others
from tests.support.pins import BOOK

BASE = {"conversation_id": "c-1", "generation_id": "g-4", "model": "claude-sonnet-5", "cursor_version": "2.9.0"}
COMPACTING = {
    "hook_event_name": "preCompact",
    "trigger": "auto",
    "context_usage_percent": 86,
    "context_tokens": 172_000,
    "context_window_size": 200_000,
}
STOPPED = {
    "hook_event_name": "stop",
    "status": "completed",
    "loop_count": 0,
    "input_tokens": 22_725,
    "output_tokens": 812,
    "cache_read_tokens": 8_704,
    "cache_write_tokens": 0,
}


def hook(**fields: Any) -> Delivery:
    return Delivery("cursor-hook", json.dumps({**BASE, "workspace_roots": ["/srv/app"], **fields}).encode())


def test_before_a_compaction__context_and_window__and_no_more_than_an_intention() -> None:
    (fold,) = given.folded([hook(**COMPACTING)], BOOK).values()
    fields = fold.summary.fields
    assert (fields["last_occupancy"], fields["window"], fields["zone"]) == (172_000, 200_000, "RED")
    assert [(c.state, c.trigger) for c in fold.compactions] == [("attempt", "auto")]
    assert fields["compactions"] == 0


def test_turn__its_sums__tokens_without_calls_and_price(teams: dict[str, Team]) -> None:
    given.deliver(teams["A"], [hook(**STOPPED), hook(**STOPPED), hook(**{**STOPPED, "generation_id": "g-5"})])
    given.fold_everything()
    session = Session.objects.get()
    assert (session.uncached_input, session.cache_read, session.output) == (28_042, 17_408, 1_624)
    assert (session.calls, session.cost_usd, session.last_occupancy) == (0, None, None)
    assert session.project is not None
    assert (session.project.name, session.version) == ("app", "2.9.0")


def test_corpus_hooks__each_read__no_number_made_up(teams: dict[str, Team]) -> None:
    lines = corpus_of_others()["cursor-hooks/1.jsonl"].splitlines()
    receipts = given.deliver(teams["A"], [Delivery("cursor-hook", line) for line in lines])
    given.fold_everything()
    assert not any(receipt.refused for receipt in receipts)
    assert Session.objects.count() == 5
    assert not Session.objects.exclude(output=0, calls=0, compactions=0).exists()


def test_transcripts__of_cursor__no_shape_that_counts() -> None:
    assert {shape_of_text(corpus_of_others()[f"cursor/{n}.jsonl"]) for n in (1, 2, 3)} == {""}
