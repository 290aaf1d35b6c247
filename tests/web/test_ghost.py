"""What a draft would have said, as a page, as a part, and for whom."""

from datetime import timedelta

import pytest

from policy_app.models import Draft, Policy
from policy_app.services import drafting, installing, tables
from policy_app.services.actors import Actor
from tests.support.world import NOW, World, build, call_in, session_in
from tests.web.pages import client_of, page, words

ADDRESS = "/policy/drafts/{}/ghost"


@pytest.fixture
def world(db: None, monkeypatch: pytest.MonkeyPatch) -> World:
    """`mine` has the default policy, and two sessions of team one and one of team two."""
    monkeypatch.setattr("ecm_site.common.clock.now", lambda: NOW + timedelta(days=1))
    made = build()
    installing.ensure_default(organisation_id=made.mine.pk, four_eyes=True, now=NOW)
    for team, name, tokens in ((made.one, "a", 140_000), (made.one, "b", 160_000), (made.two, "c", 140_000)):
        session = session_in(team, name)
        call_in(session, number=2, at=NOW, occupancy=tokens, known_window=200_000, window=200_000)
    return made


@pytest.fixture
def draft(world: World) -> Draft:
    """RED at 65%."""
    policy = Policy.objects.get(organisation_id=world.mine.pk)
    by = Actor(world.users["editor"].pk, "editor", world.mine.pk, may_edit=True)
    made = drafting.start(policy=policy, title="Earlier", by=by, now=NOW)
    content = tables.document_of(made.content)
    content["zones"]["red"] = "0.65"
    return drafting.edit(draft=made, revision=1, content=content, by=by, now=NOW)


def test_page__a_member_of_one_team__sees_that_team_alone(world: World, draft: Draft) -> None:
    text = words(page(world.users["viewer"], ADDRESS.format(draft.pk)))
    assert "It would have said “compact” in 2 of 2 sessions, now 1; first on 30 Nov." in text
    assert "What would have followed is not claimed." in text
    assert "also reaches 1 session it did not before" in text


def test_page__an_administrator__sees_all_teams_and_may_choose_one(world: World, draft: Draft) -> None:
    boss = world.users["organisation_admin"]
    assert "in 3 of 3 sessions, now 1" in words(page(boss, ADDRESS.format(draft.pk)))
    assert "in 1 of 1 session, now 0" in words(page(boss, f"{ADDRESS.format(draft.pk)}?team=two"))


def test_part__for_htmx__has_each_rules_count(world: World, draft: Draft) -> None:
    markup = page(world.users["viewer"], f"{ADDRESS.format(draft.pk)}?hits=1", HX_Request="true")
    assert "<html" not in markup
    assert "[data-hits='P3']" in markup
    assert "data-hits" not in page(world.users["viewer"], ADDRESS.format(draft.pk), HX_Request="true")


def test_page__of_another_organisation__is_not_there(world: World, draft: Draft) -> None:
    assert client_of(world.users["foreign_admin"]).get(ADDRESS.format(draft.pk)).status_code == 404
    assert client_of(world.users["nobody"]).get(ADDRESS.format(draft.pk)).status_code == 403


def test_page__nothing_changed__says_that_it_would_have_said_the_same(world: World) -> None:
    policy = Policy.objects.get(organisation_id=world.mine.pk)
    by = Actor(world.users["editor"].pk, "editor", world.mine.pk, may_edit=True)
    same = drafting.start(policy=policy, title="Same", by=by, now=NOW)
    text = words(page(world.users["viewer"], ADDRESS.format(same.pk)))
    assert "It would have said the same as version 1 in all 2 sessions." in text


def test_page__nothing_recorded__says_so(world: World, draft: Draft) -> None:
    text = words(page(world.users["organisation_admin"], f"{ADDRESS.format(draft.pk)}?team=demo"))
    assert "No session with a known context was recorded in 30 days" in text


def test_editor_and_review__without_script__link_to_it(world: World, draft: Draft) -> None:
    for place in ("", "review"):
        markup = page(world.users["viewer"], f"/policy/drafts/{draft.pk}/{place}")
        assert f'href="{ADDRESS.format(draft.pk)}"' in markup
