"""What is recorded bears on the pages of policies and on the findings over REST."""

from collections.abc import Iterator

import pytest
from django.test import Client

from policy_app.models import Policy
from policy_app.services import drafting, installing
from policy_app.services.actors import Actor
from sessions_app.dashboard import recorded as known
from tests.support.story import recorded
from tests.support.world import NOW, World, build, session_in
from tests.web.pages import page, words


@pytest.fixture
def world(db: None) -> Iterator[World]:
    made = build()
    installing.ensure_default(organisation_id=made.mine.pk, four_eyes=True, now=NOW)
    known.forget()
    yield made
    known.forget()


def test_pages__the_recorded_story__say_who_sleeps_and_what_was_never_reached(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = recorded(world.one)
    assert session.last_at is not None
    monkeypatch.setattr("ecm_site.common.clock.now", lambda: session.last_at)
    by = Actor(world.users["editor"].pk, "editor", world.mine.pk, may_edit=True)
    draft = drafting.start(policy=Policy.objects.get(organisation_id=world.mine.pk), title="Mine", by=by, now=NOW)
    for address in ("/policy/default/", f"/policy/drafts/{draft.pk}/", f"/policy/drafts/{draft.pk}/review"):
        text = words(page(world.users["viewer"], address))
        assert "P1 sleeps until somebody sends a budget;" in text, address
        # 153,604 of 200,000 at the fullest call of the story.
        assert "P2 is idle: CRITICAL was not reached, highest seen 76.8%." in text, address
        assert "P3 is idle" not in text, address


def test_rest__the_same_findings__for_the_policy_and_its_drafts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    session = recorded(world.one)
    monkeypatch.setattr("ecm_site.common.clock.now", lambda: session.last_at)
    bearer = {"Authorization": f"Bearer {world.secrets['admin_key']}"}
    asked = Client().get("/api/v1/policies/default", headers=bearer).json()
    assert {"asleep", "idle"} <= {each["code"] for each in asked["findings"]}
    made = Client().post(
        "/api/v1/policies/default/drafts", {"title": "Mine"}, content_type="application/json", headers=bearer
    )
    assert {"asleep", "idle"} <= {each["code"] for each in made.json()["findings"]}


def test_pages__nobody_has_reported__claim_nothing(world: World) -> None:
    session_in(world.foreign, "theirs")
    text = words(page(world.users["viewer"], "/policy/default/"))
    assert "sleeps until" not in text
    assert "is idle" not in text
