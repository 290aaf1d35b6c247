"""The page of what fills the context."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.support import told
from tests.support.deliveries import deliver, fold_everything
from tests.support.story import priced, recorded
from tests.support.world import World, build, session_in
from tests.web.pages import client_of, page, words

ALL = "/context/?period=all"
MOST_QUERIES = 12
DAY = 86_400


@pytest.fixture
def world(db: None) -> World:
    """Two organisations with teams and users."""
    return build()


def test_context__the_recorded_story__its_first_prompt_and_its_agent(world: World) -> None:
    recorded(world.one)
    text = words(page(world.users["viewer"], ALL))
    # 28,406 tokens written for 5 minutes, then read by the seven later calls of the main thread.
    assert "acme-api spends most before anyone speaks: 28,406 tokens a session, $0.17 on a day with sessions." in text
    # The agent's only call: 8 + 9,000 + 3,200 in, 480 out.
    assert "1 12,208 480 11,728 0" in text


def test_context__prefix_grows_from_one_day_to_the_next__day_and_what_was_new(world: World) -> None:
    priced()
    for day, size, version in ((0, 20_000, "2.1.1"), (1, 20_400, "2.1.1"), (2, 34_700, "2.1.2")):
        line = told.call(f"s{day}", f"m{day}", day * DAY, told.usage(0, 0, size), version=version)
        deliver(world.one, [told.transcript(line)])
    fold_everything()
    text = words(page(world.users["viewer"], ALL))
    assert "4 Nov: + 14,300 new that day: version 2.1.2" in text


def test_context__nothing__says_what_to_do(world: World) -> None:
    session_in(world.one, "a", first_prompt_tokens=None)
    text = words(page(world.users["viewer"], ALL))
    assert "No fresh session with a first call was seen in all time." in text
    assert "Connect a host" in text


def test_context__of_another_team__is_not_shown(world: World) -> None:
    recorded(world.foreign)
    assert "acme-api" not in page(world.users["viewer"], ALL)


def test_context__whatever_the_size__few_queries(world: World) -> None:
    recorded(world.one)
    client = client_of(world.users["viewer"])
    with CaptureQueriesContext(connection) as captured:
        client.get(ALL)
    assert len(captured) <= MOST_QUERIES
