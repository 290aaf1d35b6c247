"""The session page says what is known now only of a session that still speaks."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from sessions_app.models import Session, Team
from tests.support import deliveries as story
from tests.support.world import World, build


@pytest.fixture
def world(db: None) -> World:
    """Two organisations with users of every role."""
    return build()


def page(client: Client, world: World, deliveries: list[story.Delivery], *, heard_now: bool = True) -> str:
    team = Team.objects.get(pk=world.one.pk)
    story.deliver(team, deliveries)
    story.fold_everything()
    session = Session.objects.get(team=team, host_session_id__in=SESSIONS)
    if heard_now:
        Session.objects.filter(pk=session.pk).update(last_at=datetime.now(tz=UTC), ended_at=None)
    client.force_login(world.users["viewer"])
    return client.get(f"/sessions/{session.pk}/").content.decode()


SESSIONS = ("eb347c87-64e2-4c4e-bfb1-f72eb54605cc", "8679025a-679b-4f8e-9216-2a42feee75a2")


def samples() -> list[story.Delivery]:
    path = story.INPUTS / "hosts" / "claude-code-2.1.197-statusline" / "statusline.jsonl"
    return [story.Delivery("claude-code-statusline", line) for line in path.read_bytes().splitlines()]


def test_session_page__live__occupancy_with_origin(client: Client, world: World) -> None:
    text = page(client, world, story.transcripts())
    assert 'id="now"' in text
    assert "the transcript" in text
    assert "28,505" in text


def test_session_page__zero_of_the_gauge_after_compact__unknown(client: Client, world: World) -> None:
    text = page(client, world, samples()[:3])
    now = text[text.index('id="now"') :][:900]
    assert "unknown until the next call" in now
    assert "GREEN" not in now


def test_session_page__old_session_that_arrived_today__no_now(client: Client, world: World) -> None:
    team = Team.objects.get(pk=world.one.pk)
    story.deliver(team, story.transcripts())
    story.fold_everything()
    session = Session.objects.get(team=team, host_session_id=SESSIONS[0])
    client.force_login(world.users["viewer"])
    assert 'id="now"' not in client.get(f"/sessions/{session.pk}/").content.decode()
