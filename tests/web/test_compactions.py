"""The page of compactions."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Clearing, Restoration
from tests.support.deliveries import deliver, fold_everything, transcripts
from tests.support.story import priced, recorded
from tests.support.world import NOW, World, build, compaction_in, session_in
from tests.web.pages import client_of, page, words

ALL = "/compactions/?period=all"
MOST_QUERIES = 12


@pytest.fixture
def world(db: None) -> World:
    """Two organisations with teams and users."""
    return build()


def test_compactions__the_recorded_story__what_it_cost_and_gave_back(world: World) -> None:
    recorded(world.one)
    text = words(page(world.users["viewer"], ALL))
    for expected in (
        "1 compaction cost $0.12 and gave back $0.08 so far: none has paid back, and the team is $0.04 behind.",
        "70 to 80% 1 by hand",
        "by hand warm 153,824 ~76% 24,005 $0.12 $0.04 4 2 $0.08 −$0.04 not paid back",
    ):
        assert expected in text


def test_compactions__transcripts_alone__cost_is_a_lower_bound(world: World) -> None:
    priced()
    deliver(world.one, transcripts())
    fold_everything()
    text = words(page(world.users["viewer"], ALL))
    assert "1 compaction wrote $0.03 of new prefixes and made later calls $0.08 cheaper." in text
    assert "at least $0.03" in text


def test_compactions__of_which_few_are_known__finding_speaks_of_those_alone(world: World) -> None:
    session = recorded(world.one)
    compaction_in(session, number=2, at=NOW)
    compaction_in(session, number=3, at=NOW, rewrite_usd=1, saved_usd=9, summary_most_usd=2)
    text = words(page(world.users["viewer"], ALL))
    assert "Of 3 compactions the cost of 1 is known: $0.12, with $0.08 given back so far; none has paid back." in text
    assert "1 other has surely paid back." in text


def test_compactions__none__says_what_to_do(world: World) -> None:
    session_in(world.one, "a")
    text = words(page(world.users["viewer"], ALL))
    assert "No compaction was completed in all time." in text
    assert "Connect a host" in text


def test_compactions__of_another_team__are_not_shown(world: World) -> None:
    recorded(world.foreign)
    assert "No compaction was completed" in words(page(world.users["viewer"], ALL))


@pytest.mark.parametrize(
    "query", ["&sort=net", "&sort=nonsense", "&page=99999999999", "&page=-1", "&page=x", "&page=0"]
)
def test_compactions__any_address__is_a_page(world: World, query: str) -> None:
    recorded(world.one)
    assert "What each was worth" in words(page(world.users["viewer"], ALL + query))


def test_compactions__whatever_the_size__few_queries(world: World) -> None:
    recorded(world.one)
    client = client_of(world.users["viewer"])
    with CaptureQueriesContext(connection) as captured:
        client.get(ALL)
    assert len(captured) <= MOST_QUERIES


def test_compactions__clients_looked_into_summaries__what_they_kept_by_depth(world: World) -> None:
    session = recorded(world.one)
    for at, (kept, state) in enumerate(((6, "present"), (1, "altered"))):
        Restoration.objects.create(
            session=session,
            ended_ms=at,
            survival={"scope": state, "lost": "unknown"},
            specifics={"path": {"before": 8, "kept": kept}, "command": {"before": 0, "kept": 0}},
        )
    text = words(page(world.users["viewer"], ALL))
    assert "in 2 compactions" in text
    assert "paths 43.7%" in text
    assert "7 of 16 75.0% n = 8 12.5% n = 8" in text
    assert "pins, word for word in the summary 50.0%" in text


def test_clearings__in_five_sessions__advice_with_its_range(world: World) -> None:
    """Each took 30,000 tokens out and wrote 10,000 again (3.45 a million above a read); 4 calls followed."""
    for number in range(5):
        session = session_in(world.one, f"s{number}")
        Clearing.objects.create(
            session=session,
            key="edit:a",
            kind="edit",
            at=NOW,
            cleared_tokens=30_000,
            read_tokens=20_000,
            written_tokens=10_000,
            cost_usd=Decimal("0.0255"),
            per_call_usd=Decimal("0.009"),
            saved_usd=Decimal("0.036"),
            later_calls=4,
            is_warm=True,
        )
        text = words(page(world.users["viewer"], ALL))
        if number < 4:
            assert "No advice yet" in text
    # 0.0345 to be paid back by five calls at 0.30 a million.
    assert "clear_at_least about 23,000 tokens (middle half 23,000 to 23,000)" in text
    assert "from 5 warm clearings in 5 sessions" in text
