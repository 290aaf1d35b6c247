"""Discipline of the cache, the tier of what is known, and the certificate of a session."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Restoration
from tests.support.deliveries import deliver, fold_everything, transcripts
from tests.support.story import priced, recorded
from tests.support.world import NOW, World, build, missed_in
from tests.web.pages import client_of, page, words

ALL = "/context/discipline/?period=all"


@pytest.fixture
def world(db: None) -> World:
    """Two organisations with teams and users."""
    return build()


def test_discipline__the_recorded_story__too_little_evidence_to_say(world: World) -> None:
    recorded(world.one)
    text = words(page(world.users["viewer"], ALL))
    assert "No rule of the cache is known to be broken" in text
    assert "You are on tier 3 of 4" in text
    # Its full miss is not explained, so it does not pass.
    assert "0 1 0%" in text


def test_discipline__transcripts_alone__telemetry_is_the_next_step(world: World) -> None:
    priced()
    deliver(world.one, transcripts())
    fold_everything()
    text = words(page(world.users["viewer"], ALL))
    assert "You are on tier 1 of 4" in text
    assert "switch telemetry on" in text


def test_discipline__provider_says_that_tools_changed__breached_with_its_cost(world: World) -> None:
    session = recorded(world.one)
    missed_in(session, NOW, cause="tools_changed", misses=2, tokens=90_000, cost_usd="0.31")
    text = words(page(world.users["viewer"], ALL))
    assert "1 rule of the cache is broken in all time." in text
    assert "breached 2 calls where the provider or a record says so" in text
    assert "$0.31" in text


def test_discipline__whatever_the_size__few_queries(world: World) -> None:
    recorded(world.one)
    client = client_of(world.users["viewer"])
    with CaptureQueriesContext(connection) as captured:
        client.get(ALL)
    assert len(captured) <= 12


def test_certificate__the_recorded_story__eight_of_nine_and_the_call_that_lost(world: World) -> None:
    session = recorded(world.one)
    Restoration.objects.create(session=session, survival={"a": "present", "b": "altered"}, delivered_at=NOW)
    text = words(page(world.users["viewer"], f"/sessions/{session.pk}/"))
    assert "Certificate: not passed. Reads sustained 8 of 9 (not: call 7). Pins whole 2 of 2." in text
    assert "Causes open: 1." in text
