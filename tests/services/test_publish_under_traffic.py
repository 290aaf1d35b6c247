"""A version is published while hooks are judged: each verdict is of one version, whole."""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection

from sessions_app.models import Organisation, Team, Verdict
from sessions_app.services import prices, verdicts
from tests.support.pins import PINS
from tests.support.policies import NOW, ORGANISATION, default_policy, published
from tests.support.replay import Moment, Player, moments

pytestmark = pytest.mark.django_db(transaction=True)


def prompts(session: str) -> Iterator[Moment]:
    """Prompts of a session whose context is at 101,704 of 200,000 tokens."""
    story = list(moments())
    lines = [line for moment in story[:10] for line in moment.lines]
    first = next(moment for moment in story if moment.name == "UserPromptSubmit")
    payload = {**first.payload, "session_id": session}
    lines = [line.replace(b"eb347c87-64e2-4c4e-bfb1-f72eb54605cc", session.encode()) for line in lines]
    yield Moment(story[10].at, payload, lines)
    for number in range(1, 10_000):
        yield Moment(story[10].at + timedelta(milliseconds=number), {**payload, "prompt_id": f"p{number}"}, [])


def seen(number: int) -> None:
    """Wait until a verdict of this version is stored, at most 20 seconds."""
    for _ in range(200):
        if Verdict.objects.filter(number=number, zone__in=("AMBER", "GREEN")).exists():
            return
        time.sleep(0.1)


def test_publish__while_hooks_are_judged__no_verdict_mixes_two_versions() -> None:
    prices.seed(prices=PINS, source="test pins")
    organisation = Organisation.objects.create(pk=ORGANISATION, name="Acme", slug="acme", created_at=NOW)
    team = Team.objects.create(organisation=organisation, slug="a", name="A", created_at=NOW)
    policy = default_policy()
    player = Player(team)
    done = threading.Event()

    def traffic(session: str) -> None:
        mine = replace(player, session=session)
        try:
            for moment in prompts(session):
                mine.play(moment)
                if done.is_set():
                    return
        finally:
            connection.close()

    threads = [threading.Thread(target=traffic, args=(f"busy{number}",)) for number in range(2)]
    for thread in threads:
        thread.start()
    try:
        for number, amber in ((1, "0.6"), (2, "0.4")):
            seen(number)
            published(policy, amber=amber)
        seen(3)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    stored = list(Verdict.objects.select_related("version"))
    # 50.8% is AMBER by the lines of versions 1 and 3, and GREEN where AMBER begins at 60%.
    zones = {1: "AMBER", 2: "GREEN", 3: "AMBER"}
    assert {v.number for v in stored} == {1, 2, 3}
    assert all(v.zone == zones[v.number] and v.version.number == v.number for v in stored)
    assert all(v.digest == v.version.digest and verdicts.rederive(v).is_equal for v in stored)
