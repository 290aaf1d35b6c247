"""What is said while somebody types, and new arguments for changed numbers."""

from typing import Any

import pytest
from django.test import Client

from policy_app.console.form_fields import fields_of
from policy_app.models import Draft, Evidence, Policy
from policy_app.services import drafting, installing, tables
from policy_app.services.actors import Actor
from tests.support.world import NOW, World, build
from tests.web.pages import client_of, page, words


@pytest.fixture
def world(db: None) -> World:
    made = build()
    installing.ensure_default(organisation_id=made.mine.pk, four_eyes=True, now=NOW)
    return made


@pytest.fixture
def draft(world: World) -> Draft:
    policy = Policy.objects.get(organisation_id=world.mine.pk)
    by = Actor(world.users["editor"].pk, "editor", world.mine.pk, may_edit=True)
    return drafting.start(policy=policy, title="Earlier", by=by, now=NOW)


def form(draft: Draft, **changed: str) -> dict[str, str]:
    """The form of the draft with some fields changed; `__` stands for `-`."""
    fields = {**fields_of(tables.document_of(draft.content)), "revision": str(draft.revision)}
    fields.update({name.replace("__", "-"): value for name, value in changed.items()})
    return fields


def check(world: World, draft: Draft, role: str = "editor", **changed: str) -> Any:
    client: Client = client_of(world.users[role])
    return client.post(f"/policy/drafts/{draft.pk}/check", form(draft, **changed), headers={"HX-Request": "true"})


def save(world: World, draft: Draft, **changed: str) -> Any:
    answer = client_of(world.users["editor"]).post(f"/policy/drafts/{draft.pk}/", form(draft, **changed), follow=True)
    draft.refresh_from_db()
    return answer


def test_check__a_line_being_typed__says_what_it_would_change_and_saves_nothing(world: World, draft: Draft) -> None:
    text = words(check(world, draft, zone__red="65%").content.decode())
    assert "of what you typed, not saved" in text
    assert "RED from 75% to 65%." in text
    assert "argument no longer matches RED is 65%, its argument speaks of 75%" in text
    draft.refresh_from_db()
    assert draft.revision == 1


def test_check__a_gap_being_typed__is_told_with_its_witness(world: World, draft: Draft) -> None:
    text = words(check(world, draft, r6__c0__names="GREEN", r6__c0__unknown="").content.decode())
    assert "blocks" not in text  # unknown is still taken: the box is in the form
    fields = form(draft, r5__c0__names="RED")
    text = words(client_of(world.users["editor"]).post(f"/policy/drafts/{draft.pk}/check", fields).content.decode())
    assert "No rule answers for" in text


def test_check__half_a_number__is_told_in_words_and_is_no_error_of_the_page(world: World, draft: Draft) -> None:
    answer = check(world, draft, zone__red="7x")
    assert answer.status_code == 200
    assert "zones.red" in words(answer.content.decode())


def test_check__by_a_viewer__is_403(world: World, draft: Draft) -> None:
    assert check(world, draft, role="viewer").status_code == 403


def test_argue__with_a_record_of_the_library__takes_the_place_of_the_old_argument(world: World, draft: Draft) -> None:
    save(world, draft, zone__red="65%")
    place = next(
        i for i, each in enumerate(tables.document_of(draft.content)["arguments"]) if each["subject"] == "zones.red"
    )
    answer = save(world, draft, do=f"argue:{place}", **{f"argue__{place}__evidence": "ecm-depth-cap"})
    assert "argument no longer matches" not in words(answer.content.decode())
    told = [each for each in tables.document_of(draft.content)["arguments"] if each["subject"] == "zones.red"]
    assert {"subject": "zones.red", "evidence": "ecm-depth-cap", "number": "0.65"} in told


def test_argue__with_a_claim_of_ones_own__puts_it_into_the_library_unestablished(world: World, draft: Draft) -> None:
    save(world, draft, zone__red="65%")
    place = next(
        i for i, each in enumerate(tables.document_of(draft.content)["arguments"]) if each["subject"] == "zones.red"
    )
    claim = {f"argue__{place}__claim": "Nine of 41 came too late."}
    save(world, draft, do=f"argue:{place}", **claim)
    made = Evidence.objects.get(slug="own-zones-red-1")
    assert (made.claim, made.number, made.status, made.source) == (
        "Nine of 41 came too late.",
        "0.65",
        "unestablished",
        "editor",
    )
    assert any(each["evidence"] == made.slug for each in tables.document_of(draft.content)["arguments"])


def test_argue__without_a_claim__is_400_and_leaves_nothing_in_the_library(world: World, draft: Draft) -> None:
    before = Evidence.objects.count()
    assert save(world, draft, do="argue:0").status_code == 400
    assert save(world, draft, do="argue:99", argue__99__claim="x").status_code == 404
    assert (Evidence.objects.count(), draft.revision) == (before, 1)


def test_save__switched_off_and_back__changes_the_rule_and_comes_back_to_it(world: World, draft: Draft) -> None:
    answer = save(world, draft, do="off:4")
    assert answer.redirect_chain == [(f"/policy/drafts/{draft.pk}/#rule-P5", 302)]
    assert not tables.document_of(draft.content)["rules"][4]["enabled"]
    save(world, draft, do="off:4")
    assert tables.document_of(draft.content)["rules"][4]["enabled"]


def test_page__an_argument_that_is_no_number__is_shown_as_it_is(world: World, draft: Draft) -> None:
    content = tables.document_of(draft.content)
    content["arguments"].append({"subject": "zones.red", "evidence": "odd", "number": "about half"})
    by = Actor(world.users["editor"].pk, "editor", world.mine.pk, may_edit=True)
    drafting.edit(draft=draft, revision=1, content=content, by=by, now=NOW)
    assert "speaks of about half" in words(page(world.users["editor"], f"/policy/drafts/{draft.pk}/"))
