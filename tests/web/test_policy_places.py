"""The evidence library, assignments, imports and provisional versions as pages."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.interchange_export import export_policy
from policy_app.models import Assignment, Draft, Evidence, Policy, Version
from policy_app.services import drafting, installing, policies, tables
from policy_app.services.actors import Actor
from tests.support.world import NOW, World, build
from tests.web.pages import client_of, page, words


@pytest.fixture
def world(db: None) -> World:
    made = build()
    installing.ensure_default(organisation_id=made.mine.pk, four_eyes=False, now=NOW)
    return made


CLAIM = {
    "slug": "own-numbers",
    "claim": "Nine of 41 compactions came too late.",
    "source": "our sessions of November",
    "status": "confirmed",
    "reason": "counted",
    "dated": "2026-11",
    "tier": "practitioner",
}


def post(world: World, role: str, address: str, fields: dict[str, str]) -> tuple[int, str]:
    answer = client_of(world.users[role]).post(address, fields, follow=True)
    return answer.status_code, words(answer.content.decode())


def test_evidence__the_shipped_library__says_where_each_claim_is_used(world: World) -> None:
    text = words(page(world.users["viewer"], "/policy/evidence/"))
    assert "ecm-depth-cap" in text
    assert "default P4" in text
    assert "default RED" in text
    assert "Add a claim" not in text
    refuted = words(page(world.users["viewer"], "/policy/evidence/?status=refuted"))
    assert len(refuted) < len(text)


def test_evidence__a_cited_record_that_is_gone__is_named(world: World) -> None:
    Evidence.objects.filter(slug="ecm-depth-cap").delete()
    assert "ecm-depth-cap is cited and not in the library: default P4" in words(
        page(world.users["viewer"], "/policy/evidence/")
    )


def test_evidence__added_and_changed__tells_who_said_it_when_and_why(world: World) -> None:
    status, text = post(world, "editor", "/policy/evidence/", CLAIM)
    assert (status, "own-numbers is in the library." in text or "counted" in text) == (200, True)
    again = {**CLAIM, "status": "disputed", "reason": "three were counted twice"}
    _, text = post(world, "editor", "/policy/evidence/own-numbers/", again)
    assert "editor: three were counted twice" in text
    assert Evidence.objects.get(slug="own-numbers").status == "disputed"


@pytest.mark.parametrize(
    "wrong",
    [{"slug": "a b"}, {"status": "sure"}, {"claim": ""}, {"scope": "\0"}, {"reason": ""}, {"slug": "ecm-depth-cap"}],
)
def test_evidence__wrongly_filled_in__is_refused_and_keeps_what_was_typed(world: World, wrong: dict[str, str]) -> None:
    answer = client_of(world.users["editor"]).post("/policy/evidence/", {**CLAIM, **wrong})
    assert answer.status_code in (400, 409)
    assert 'value="our sessions of November"' in answer.content.decode()
    assert not Evidence.objects.filter(slug="own-numbers").exists()


def test_evidence__by_a_viewer__is_403(world: World) -> None:
    assert client_of(world.users["viewer"]).post("/policy/evidence/", CLAIM).status_code == 403


def test_places__a_team__is_assigned_a_version_and_given_back(world: World) -> None:
    boss = "organisation_admin"
    fields = {"scope": f"team:{world.one.pk}", "policy": "table:default", "version": "1", "reason": "they asked"}
    _, text = post(world, boss, "/policy/assignments/", fields)
    assert "team one default, version 1 alone" in text
    assert "organisation_admin they asked" in text
    _, text = post(world, boss, "/policy/assignments/", {**fields, "policy": "table:", "reason": "enough"})
    assert "what the wider scope says" in text
    assert "team one not any more" in text


def test_places__from_a_time_to_come__is_not_yet(world: World) -> None:
    fields = {"scope": f"organisation:{world.mine.pk}", "policy": "table:default", "from_at": "2099-01-01T08:00"}
    _, text = post(world, "organisation_admin", "/policy/assignments/", {**fields, "reason": "then"})
    assert "organisation mine not yet" in text


@pytest.mark.parametrize(
    "wrong",
    [{"scope": "team:999999"}, {"policy": "rule:x"}, {"version": "x"}, {"from_at": "soon"}, {"reason": ""}],
)
def test_places__wrongly_filled_in__is_400(world: World, wrong: dict[str, str]) -> None:
    fields = {"scope": f"team:{world.one.pk}", "policy": "table:default", "reason": "why", **wrong}
    assert post(world, "organisation_admin", "/policy/assignments/", fields)[0] == 400
    assert not Assignment.objects.exists()


def test_places__another_organisations_team__is_no_scope(world: World) -> None:
    fields = {"scope": f"team:{world.foreign.pk}", "policy": "table:default", "reason": "why"}
    assert post(world, "organisation_admin", "/policy/assignments/", fields)[0] == 400
    assert client_of(world.users["admin"]).post("/policy/assignments/", fields).status_code == 403


def yaml_text() -> str:
    text = export_policy(DEFAULT_TABLE).text
    assert text is not None
    return text


def test_import__a_yaml_file__is_checked_and_becomes_a_draft(world: World) -> None:
    file = SimpleUploadedFile("policy.yaml", yaml_text().encode())
    client = client_of(world.users["editor"])
    told = client.post("/policy/default/import", {"kind": "yaml", "do": "check", "file": file})
    assert told.status_code == 200
    assert not Draft.objects.exists()
    text = yaml_text()
    client.post("/policy/default/import", {"kind": "yaml", "do": "start", "title": "From a file", "text": text})
    assert Draft.objects.get().title == "From a file"


def test_import__json__says_what_it_changes(world: World) -> None:
    content = tables.document_of(tables.canonical_text(DEFAULT_TABLE))
    content["zones"]["red"] = "0.65"
    fields = {"kind": "json", "do": "check", "text": tables.canonical_text(content)}
    assert "RED from 75% to 65%." in post(world, "editor", "/policy/default/import", fields)[1]


@pytest.mark.parametrize(
    ("text", "kind"),
    [("", "yaml"), ("a: 1\na: 2\n", "yaml"), ("x: .nan", "yaml"), ("{", "json"), ("[" * 5_000, "json"), ("\0", "yaml")],
)
def test_import__what_is_no_policy__is_told_in_words(world: World, text: str, kind: str) -> None:
    status, said = post(world, "editor", "/policy/default/import", {"kind": kind, "do": "start", "text": text})
    assert status == 400
    assert "alert" not in said
    assert not Draft.objects.exists()


def test_import__more_than_two_megabytes__is_413(world: World) -> None:
    file = SimpleUploadedFile("policy.yaml", b"#" * 2_000_001)
    answer = client_of(world.users["editor"]).post("/policy/default/import", {"kind": "yaml", "file": file})
    assert answer.status_code == 413


def changed_draft(world: World) -> Draft:
    policy = Policy.objects.get(organisation_id=world.mine.pk)
    by = Actor(world.users["editor"].pk, "editor", world.mine.pk, may_edit=True)
    content = tables.document_of(policies.numbered(policy=policy, number=None).content)
    content["zones"]["red"] = "0.65"
    return drafting.start(policy=policy, title="For a time", content=content, by=by, now=NOW)


def test_publish__for_a_time__is_shown_until_it_is_over_and_settled(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ecm_site.common.clock.now", lambda: NOW)
    draft = changed_draft(world)
    terms = {"authority": "Mara", "undo": "revert to 1", "expires_at": "2026-12-14T00:00"}
    fields = {"revision": "1", "reason": "a trial", **terms}
    assert post(world, "organisation_admin", f"/policy/drafts/{draft.pk}/publish", fields)[0] == 200
    assert "until 14 Dec" in words(page(world.users["viewer"], "/policy/default/"))
    monkeypatch.setattr("ecm_site.common.clock.now", lambda: NOW + timedelta(days=20))
    assert "its time is over, and nobody has settled it" in words(page(world.users["viewer"], "/policy/default/"))
    settled = {"version": "2", "reason": "it stays"}
    _, text = post(world, "organisation_admin", "/policy/default/settle", settled)
    assert "Settled by organisation_admin: it stays" in text


@pytest.mark.parametrize(
    "terms",
    [
        {"authority": "Mara"},
        {"authority": "Mara", "undo": "revert", "expires_at": "2026-11-01T00:00"},
        {"expires_at": "2099-01-01T00:00"},
        {"authority": "Mara", "undo": "revert", "expires_at": "never"},
    ],
)
def test_publish__with_half_terms_or_in_the_past__is_400_and_publishes_nothing(
    world: World, terms: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ecm_site.common.clock.now", lambda: NOW)
    draft = changed_draft(world)
    fields = {"revision": "1", "reason": "a trial", **terms}
    assert post(world, "organisation_admin", f"/policy/drafts/{draft.pk}/publish", fields)[0] == 400
    assert Version.objects.filter(policy=draft.policy).count() == 1


def test_comment__by_who_may_not_approve__is_shown_with_the_draft(world: World) -> None:
    draft = changed_draft(world)
    _, text = post(world, "viewer", f"/policy/drafts/{draft.pk}/comment", {"reason": "Why 65?"})
    assert "viewer says of revision 1" in text
    assert "Why 65?" in text
