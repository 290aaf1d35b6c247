"""The page of a verdict, and the section of a session that lists them."""

import pytest

from sessions_app.models import Team, Verdict
from sessions_app.services import prices
from tests.support.pins import PINS
from tests.support.replay import Player, moments
from tests.support.world import World, build
from tests.web.pages import client_of


@pytest.fixture
def world(db: None) -> World:
    return build()


def played(team: Team) -> Player:
    prices.seed(prices=PINS, source="test pins")
    player = Player(team)
    for moment in moments():
        player.play(moment)
    return player


def test_verdict_page__red_at_the_stop__what_was_known_why_and_equal_again(world: World) -> None:
    player = played(world.one)
    verdict = Verdict.objects.get(operation="compact", silence="")
    client = client_of(world.users["viewer"])
    markup = client.get(f"/v/{verdict.public_id}", {"rederive": "1"}).content.decode()
    for text in ("RED 76.3%: compact", "152,704", "needs CRITICAL; zone is RED", "not asked: P3 answered", "Equal."):
        assert text in markup
    section = client.get(f"/sessions/{player.row.pk}/").content.decode()
    for text in ("What ECM said", "told the person", "7 of 7 back", "nothing written out before"):
        assert text in section
