"""Many senders at once: each session once, each call once, and nobody is sent away."""

import random
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from sessions_app.models import Organisation, Session, Team
from sessions_app.services import folding
from tests.support import deliveries as given
from tests.support import told
from tests.support.deliveries import Delivery

pytestmark = pytest.mark.django_db(transaction=True)

SENDERS = 8


@pytest.fixture
def team() -> Team:
    organisation = Organisation.objects.create(name="Acme", slug="acme", created_at=given.NOW)
    return Team.objects.create(organisation=organisation, slug="a", name="A", created_at=given.NOW)


def together(team: Team, piles: Sequence[Sequence[Delivery]]) -> None:
    """Each pile by a sender of its own, all beginning at the same moment. What fails in one fails here."""
    ready = threading.Barrier(len(piles))

    def one(pile: Sequence[Delivery]) -> None:
        try:
            ready.wait(timeout=20)
            for delivery in pile:
                given.deliver(team, [delivery])
                for session_id in folding.dirty_ids(limit=3):
                    folding.fold_session(session_id=session_id, now=given.NOW)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(piles)) as pool:
        list(pool.map(one, piles))
    given.fold_everything()


@pytest.mark.parametrize("seed", range(3))
def test_senders__overlapping_pieces_of_many_new_sessions__each_call_once(seed: int, team: Team) -> None:
    lines = [
        told.call(f"s{number % 30}", f"m{number}", number, told.usage(number, 1), version=f"2.1.{number % 7}")
        for number in range(300)
    ]
    rng = random.Random(seed)
    piles = [[told.transcript(*rng.sample(lines, 50)) for _ in range(6)] for _ in range(SENDERS - 1)]
    together(team, [*piles, [told.transcript(*lines[start::6]) for start in range(6)]])
    rows = list(Session.objects.all())
    assert len(rows) == 30
    assert (sum(row.calls for row in rows), sum(row.uncached_input for row in rows)) == (300, sum(range(300)))


def test_senders__some_of_the_same_new_sessions_at_the_same_moment__none_waits_for_ever(team: Team) -> None:
    """Some of the sessions of a delivery are there, others are made by somebody else just now."""
    ready = threading.Barrier(SENDERS)

    def one(seed: int) -> None:
        rng = random.Random(seed)
        try:
            for group in range(15):
                ready.wait(timeout=20)
                for _ in range(2):
                    numbers = rng.sample(range(40), 20)
                    lines = [told.call(f"s{group}-{n}", f"m{group}-{n}", n, told.usage(1)) for n in numbers]
                    given.deliver(team, [told.transcript(*lines)])
        finally:
            connection.close()

    with ThreadPoolExecutor(SENDERS) as pool:
        list(pool.map(one, range(SENDERS)))
    given.fold_everything()
    assert set(Session.objects.values_list("calls", flat=True)) == {1}


def test_senders__first_records_of_one_session__one_session(team: Team) -> None:
    piles = [[told.transcript(told.call("s", f"m{number}", number, told.usage(1)))] for number in range(20)]
    together(team, piles)
    assert [row.calls for row in Session.objects.all()] == [20]


def test_senders__the_recorded_story_each_in_an_order_of_its_own__the_served_usage(team: Team) -> None:
    together(team, [given.shuffled(given.whole_story(), seed) for seed in range(SENDERS)])
    session = Session.objects.get()
    assert (session.calls, session.aux_calls, session.compactions) == (9, 1, 1)
    assert (session.uncached_input, session.cache_read, session.output) == (53, 472_200, 4_450)
