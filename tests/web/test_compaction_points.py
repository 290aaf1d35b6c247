"""The page that holds when hosts compact against what their documents say."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.cases.test_codex import corpus
from tests.support import codex
from tests.support.codex import body, count, line, meta, turn, used
from tests.support.deliveries import Delivery, deliver, fold_everything
from tests.support.story import recorded
from tests.support.world import World, build
from tests.web.pages import client_of, page, words

ALL = "/compactions/points/?period=all"
MOST_QUERIES = 10


@pytest.fixture
def world(db: None) -> World:
    """Two organisations with teams and users."""
    return build()


def test_points__none__says_what_to_do(world: World) -> None:
    text = words(page(world.users["viewer"], ALL))
    assert "No compaction that a host may have begun by itself was seen in all time." in text
    assert "Connect a host" in text


def test_points__by_hand_alone__left_out(world: World) -> None:
    recorded(world.one)
    assert "No compaction that a host may have begun by itself" in words(page(world.users["viewer"], ALL))


def test_points__real_rollouts__as_their_totals_tell(world: World) -> None:
    bodies = corpus()
    deliver(world.one, [Delivery(codex.FEED, bodies[f"codex/{number}.jsonl"]) for number in (1, 8)])
    fold_everything()
    client = client_of(world.users["viewer"])
    with CaptureQueriesContext(connection) as queries:
        text = words(client.get(ALL).content.decode())
    assert len(queries) <= MOST_QUERIES
    # The last input before each: 87,590 and 95,727 of 121,600; 229,059, 229,612 and 237,746 of 258,400.
    assert "5 compactions came at 72 to 92% of the window; 1 of 2 rows are not as the host's documents say." in text
    assert "0.142.2 gpt-5.3-codex-spark" in text
    assert "2 87,590 87,590 95,727 72.0% to 78.7%" in text
    assert "earlier than claimed" in text
    assert "3 229,059 229,612 237,746 88.6% to 92.0%" in text
    assert "as claimed" in text


def test_points__trigger_told_by_a_hook__by_the_host(world: World) -> None:
    lines = [meta("one"), turn(1), count(5, used(240_000), used(240_000)), line(30, "compacted", message="")]
    hook = b'{"received_at": 1793610030.2, "payload": {"session_id": "one", "hook_event_name": "PostCompact"'
    deliver(world.one, [body(*lines), Delivery("codex-hook", hook + b', "trigger": "auto"}}')])
    fold_everything()
    text = words(page(world.users["viewer"], ALL))
    assert "1 compaction came at 93 to 93% of the window" in text
    assert "by the host 1 240,000" in text


def test_points__of_another_team__are_not_shown(world: World) -> None:
    deliver(world.foreign, [Delivery(codex.FEED, corpus()["codex/8.jsonl"])])
    fold_everything()
    assert "No compaction" in words(page(world.users["viewer"], ALL))
