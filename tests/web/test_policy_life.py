"""From a draft to a version and back, by plain forms."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User

from policy_app.models import AuditEntry, Draft, DraftState, Policy, Version
from policy_app.services import drafting, installing, tables
from policy_app.services.actors import Actor
from sessions_app.models import Role
from tests.support.world import NOW, World, build, user_of
from tests.web.pages import client_of, page, words


@pytest.fixture
def world(db: None) -> World:
    """Two organisations; `mine` has the default policy with four eyes."""
    made = build()
    installing.ensure_default(organisation_id=made.mine.pk, four_eyes=True, now=NOW)
    return made


def post(user: User, address: str, **fields: object) -> Any:
    """The answer to a form, after any redirect."""
    return client_of(user).post(address, fields, follow=True)


def told(response: Any) -> str:
    """The words of an answer."""
    return words(response.content.decode())


def draft_of(user: User, world: World) -> Draft:
    """A draft that moves the RED line to 65%, edited by this user."""
    policy = Policy.objects.get(organisation_id=world.mine.pk)
    by = Actor(user.pk, user.username, world.mine.pk, may_edit=True)
    draft = drafting.start(policy=policy, title="RED earlier", by=by, now=NOW)
    content = tables.document_of(draft.content)
    content["zones"]["red"] = "0.65"
    return drafting.edit(draft=draft, revision=1, content=content, by=by, now=NOW)


def test_start__a_title__makes_a_draft(world: World) -> None:
    response = post(world.users["editor"], "/policy/default/drafts", title="RED earlier")
    assert "RED earlier" in told(response)
    assert Draft.objects.get().updated_by_name == "editor"


def test_start__no_title__shows_the_page_again(world: World) -> None:
    response = post(world.users["editor"], "/policy/default/drafts", title=" ")
    assert response.status_code == 400
    assert "title has 1 to 200 characters" in told(response)


def test_life__one_writes_another_approves_and_publishes__is_in_force(world: World) -> None:
    draft = draft_of(world.users["editor"], world)
    where, boss = f"/policy/drafts/{draft.pk}", world.users["organisation_admin"]
    asked = post(world.users["editor"], f"{where}/ask", reason="Nine of 41 came too late.")
    assert "RED from 75% to 65%." in told(asked)
    assert "it is in review" in told(asked)
    approved = post(boss, f"{where}/approve", revision=2, reason="The numbers hold.")
    assert "organisation_admin approved revision 2" in told(approved)
    published = post(boss, f"{where}/publish", revision=2, reason="From today on.")
    assert "it is published" in told(published)
    live = Version.objects.get(number=2)
    assert (live.four_eyes, live.reason) == (True, "From today on.")
    assert "begins at" in words(page(boss, "/policy/default/"))
    assert "65%" in words(page(boss, "/policy/default/"))


def test_approve__by_a_third_who_edited__is_off_and_says_why(world: World) -> None:
    third = user_of("third", world.mine, None, Role.ADMIN)
    draft = draft_of(third, world)
    post(third, f"/policy/drafts/{draft.pk}/ask", reason="Because.")
    markup = page(third, f"/policy/drafts/{draft.pk}/review")
    assert re.search(r"<button[^>]*disabled[^>]*>Approve</button>", markup)
    assert "You edited this draft (revision 2): you may comment or send it back, not approve it." in words(markup)
    refused = post(third, f"/policy/drafts/{draft.pk}/approve", revision=2, reason="Mine.")
    assert refused.status_code == 403
    assert "You edited this draft" in told(refused)
    assert Draft.objects.get().state == DraftState.IN_REVIEW


def test_approve__an_older_revision__is_409_and_keeps_what_was_typed(world: World) -> None:
    draft = draft_of(world.users["editor"], world)
    post(world.users["editor"], f"/policy/drafts/{draft.pk}/ask", reason="Because.")
    boss = world.users["organisation_admin"]
    refused = post(boss, f"/policy/drafts/{draft.pk}/approve", revision=1, reason="I read the first.")
    assert refused.status_code == 409
    assert "I read the first." in refused.content.decode()


def test_send_back__with_a_reason__is_told_to_the_author(world: World) -> None:
    draft = draft_of(world.users["editor"], world)
    post(world.users["editor"], f"/policy/drafts/{draft.pk}/ask", reason="Because.")
    boss = world.users["organisation_admin"]
    post(boss, f"/policy/drafts/{draft.pk}/send-back", revision=2, reason="Which sessions?")
    assert "Which sessions?" in words(page(world.users["editor"], f"/policy/drafts/{draft.pk}/review"))


def test_publish__without_approval__says_why_not(world: World) -> None:
    draft = draft_of(world.users["editor"], world)
    boss = world.users["organisation_admin"]
    assert "Nobody who did not edit it has approved" in words(page(boss, f"/policy/drafts/{draft.pk}/review"))
    assert post(boss, f"/policy/drafts/{draft.pk}/publish", revision=2, reason="Now.").status_code == 409


def test_revert__with_a_reason__is_a_new_version_in_the_log(world: World) -> None:
    draft, boss = draft_of(world.users["editor"], world), world.users["organisation_admin"]
    post(world.users["editor"], f"/policy/drafts/{draft.pk}/ask", reason="Because.")
    post(boss, f"/policy/drafts/{draft.pk}/approve", revision=2, reason="Yes.")
    post(boss, f"/policy/drafts/{draft.pk}/publish", revision=2, reason="Now.")
    response = post(boss, "/policy/default/revert", version=1, reason="It was too early.")
    assert "Version 3 is in force with the content of version 1." in response.content.decode()
    assert "brings back version 1" in told(response)
    assert AuditEntry.objects.order_by("-number")[0].action == "version.reverted"


def test_rebase__after_another_version__puts_the_draft_on_top(world: World) -> None:
    first, boss = draft_of(world.users["editor"], world), world.users["organisation_admin"]
    second = draft_of(world.users["admin"], world)
    post(world.users["editor"], f"/policy/drafts/{first.pk}/ask", reason="Because.")
    post(boss, f"/policy/drafts/{first.pk}/approve", revision=2, reason="Yes.")
    post(boss, f"/policy/drafts/{first.pk}/publish", revision=2, reason="Now.")
    where = f"/policy/drafts/{second.pk}"
    assert "Version 2 was published meanwhile" in words(page(world.users["admin"], f"{where}/review"))
    response = post(world.users["admin"], f"{where}/rebase", revision=2, onto=2)
    assert "on top of version 2, which is still in force" in told(response)
