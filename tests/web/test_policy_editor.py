"""The editor: a table as form fields and back, its acts, and two people at once."""

from typing import Any

import pytest

from policy_app.console.form_fields import document_from, fields_of
from policy_app.models import Draft, Policy
from policy_app.services import drafting, installing, tables
from policy_app.services.actors import Actor
from tests.support.world import NOW, World, build
from tests.web.pages import client_of, page, words


@pytest.fixture
def world(db: None) -> World:
    """Two organisations; `mine` has the default policy with four eyes."""
    made = build()
    installing.ensure_default(organisation_id=made.mine.pk, four_eyes=True, now=NOW)
    return made


@pytest.fixture
def draft(world: World) -> Draft:
    """A draft of the editor's, as the version in force reads."""
    policy = Policy.objects.get(organisation_id=world.mine.pk)
    user = world.users["editor"]
    by = Actor(user.pk, user.username, world.mine.pk, may_edit=True)
    return drafting.start(policy=policy, title="Earlier", by=by, now=NOW)


def save(world: World, draft: Draft, role: str = "editor", **changed: str) -> Any:
    """The form of the draft as given, with some fields changed; `do` and others by name with `_` for `-`."""
    fields = {**fields_of(tables.document_of(draft.content)), "revision": str(draft.revision)}
    fields.update({name.replace("__", "-"): value for name, value in changed.items()})
    return client_of(world.users[role]).post(f"/policy/drafts/{draft.pk}/", fields, follow=True)


def rules(draft: Draft) -> list[str]:
    """Ids of the saved rules in order."""
    draft.refresh_from_db()
    return [rule["id"] for rule in tables.document_of(draft.content)["rules"]]


def test_fields__the_default_table__come_back_as_the_same_table(draft: Draft) -> None:
    document = tables.document_of(draft.content)
    again = document_from(fields_of(document), document)
    assert tables.canonical_text(again) == draft.content


def test_save__a_moved_line__is_saved_and_its_argument_no_longer_matches(world: World, draft: Draft) -> None:
    text = words(save(world, draft, zone__red="65%").content.decode())
    assert "RED from 75% to 65%." in text
    assert "argument no longer matches" in text
    draft.refresh_from_db()
    assert draft.revision == 2


def test_save__still_holds__confirms_the_argument_for_the_new_number(world: World, draft: Draft) -> None:
    save(world, draft, zone__red="65%")
    draft.refresh_from_db()
    text = words(save(world, draft, do="holds:2").content.decode())
    assert "argument no longer matches" not in text


def test_save__a_wrong_number__is_400_and_keeps_what_was_typed(world: World, draft: Draft) -> None:
    response = save(world, draft, zone__red="much")
    assert response.status_code == 400
    assert 'value="much"' in response.content.decode()
    draft.refresh_from_db()
    assert draft.revision == 1


def test_save__after_somebody_else_saved__is_409_with_the_difference_and_what_was_typed(
    world: World, draft: Draft
) -> None:
    stale = Draft.objects.get(pk=draft.pk)
    save(world, draft, role="organisation_admin", zone__red="70%")
    response = save(world, stale, zone__red="65%")
    assert response.status_code == 409
    markup = response.content.decode()
    assert "organisation_admin saved revision 2 meanwhile. Nothing of yours was saved." in words(markup)
    assert "RED from 70% to 65%." in words(markup)
    assert 'name="zone-red" value="65%"' in " ".join(markup.split())


@pytest.mark.parametrize(
    ("do", "order"),
    [
        ("up:2", "P1 P3 P2 P4 P5 P6 P7"),
        ("down:0", "P2 P1 P3 P4 P5 P6 P7"),
        ("copy:6", "P1 P2 P3 P4 P5 P6 P7 P8"),
        ("delete:4", "P1 P2 P3 P4 P6 P7"),
        ("add", "P1 P2 P3 P4 P5 P6 P8 P7"),
        ("up:0", "P1 P2 P3 P4 P5 P6 P7"),
        ("delete:99", "P1 P2 P3 P4 P5 P6 P7"),
    ],
)
def test_save__an_act_on_a_rule__changes_the_rows(world: World, draft: Draft, do: str, order: str) -> None:
    assert save(world, draft, do=do).status_code == 200
    assert rules(draft) == order.split()


def test_save__a_condition_in_the_blank_row__is_added(world: World, draft: Draft) -> None:
    save(world, draft, r1__c1__signal="idle_seconds", r1__c1__from="300")
    assert "When CRITICAL and idle seconds ≥ 300, hand over" in words(
        page(world.users["editor"], f"/policy/drafts/{draft.pk}/")
    )


def test_save__one_signal_in_two_rows__is_refused(world: World, draft: Draft) -> None:
    response = save(world, draft, r1__c1__signal="zone", r1__c1__names="RED")
    assert response.status_code == 400
    assert "P2: a rule tests each signal once." in words(response.content.decode())


def test_save__another_operation__begins_with_its_own_parameters(world: World, draft: Draft) -> None:
    save(world, draft, r4__operation="subagent_isolate", r4__was="prune_tool_results")
    draft.refresh_from_db()
    rule = tables.document_of(draft.content)["rules"][4]
    assert rule["parameters"] == {"summary_max_tokens": 2000}


def test_save__by_a_viewer__is_403(world: World, draft: Draft) -> None:
    assert save(world, draft, role="viewer").status_code == 403
    assert "You can read this draft, not save it" in words(page(world.users["viewer"], f"/policy/drafts/{draft.pk}/"))


def test_try__a_situation__is_answered_with_its_trace(world: World, draft: Draft) -> None:
    text = words(page(world.users["viewer"], f"/policy/drafts/{draft.pk}/?try-zone=RED&try-depth=1"))
    assert "compact by P3" in text
    assert "P2 needs CRITICAL; zone is RED" in text
    wrong = words(page(world.users["viewer"], f"/policy/drafts/{draft.pk}/?try-depth=much"))
    assert "depth: must be" in wrong
