"""Pages of the pin sets: what comes back, the editor and its meter, review, history, sets of teams."""

import html
from typing import Any

import pytest
from django.test import Client

from policy_app.console.pins_editor import acted, document_from
from policy_app.kernel.pins import LIMIT_CHARS
from policy_app.kernel.pins_default import DEFAULT_PINS
from policy_app.models import Assignment, Draft, Policy, PolicyKind, Version
from policy_app.services import drafting, inforce, installing, pinning, tables
from policy_app.services.actors import Actor
from policy_app.services.inforce import Scope
from sessions_app.models import Role
from tests.support.world import NOW, World, build, user_of
from tests.web.pages import client_of, words

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(db: None) -> World:
    """Two organisations; `mine` has the default pin set with four eyes, and a second administrator."""
    made = build()
    installing.ensure_pins(organisation_id=made.mine.pk, four_eyes=True, now=NOW)
    made.users["second"] = user_of("second", made.mine, None, Role.ADMIN)
    return made


@pytest.fixture
def draft(world: World) -> Draft:
    """A draft of the editor's, as the version in force reads."""
    policy = Policy.objects.get(organisation_id=world.mine.pk, kind=PolicyKind.PINS)
    user = world.users["editor"]
    by = Actor(user.pk, user.username, world.mine.pk, may_edit=True)
    return drafting.start(policy=policy, title="Units", by=by, now=NOW)


def fields_of(draft: Draft) -> dict[str, str]:
    pins = tables.document_of(draft.content)["pins"]
    fields = {f"p{index}-{name}": value for index, pin in enumerate(pins) for name, value in pin.items()}
    return {**fields, "pins": str(len(pins)), "revision": str(draft.revision)}


def save(world: World, draft: Draft, role: str = "editor", **changed: str) -> Any:
    """The form as it is saved, with some fields changed; with `htmx` as its script sends it."""
    fields = {**fields_of(draft), **{name.replace("__", "-"): value for name, value in changed.items()}}
    headers = {"HX-Request": "true"} if fields.pop("htmx", "") else {}
    return client_of(world.users[role]).post(f"/policy/drafts/{draft.pk}/", fields, follow=True, headers=headers)


def get(world: World, address: str, role: str = "viewer") -> str:
    response = client_of(world.users[role]).get(address)
    assert response.status_code == 200
    return response.content.decode()


def ids(draft: Draft) -> list[str]:
    draft.refresh_from_db()
    return [pin["id"] for pin in tables.document_of(draft.content)["pins"]]


def test_set__in_force__shows_each_pin_and_exactly_what_is_injected(world: World) -> None:
    page = get(world, "/policy/pins/default/")
    told = pinning.live_pins(scope=Scope(world.mine.pk), session_key=None, now=NOW)
    assert told is not None
    for text in (told.restore_text, told.before_text):
        assert f">{html.escape(text)}</pre>" in page
    text = words(page)
    assert "7 pins come back after every compaction: about 320 tokens" in text
    for pin in DEFAULT_PINS.pins:
        assert pin.why in text
    assert "Since version 1, installation" in text
    assert "Start a draft" not in text


def test_list__of_pin_sets__is_not_the_list_of_policies(world: World) -> None:
    installing.ensure_default(organisation_id=world.mine.pk, four_eyes=True, now=NOW)
    text = words(get(world, "/policy/pins/"))
    assert ("Default pins" in text, "Default policy" in text) == (True, False)
    text = words(get(world, "/policy/"))
    assert ("Default pins" in text, "Default policy" in text) == (False, True)


def test_editor__as_saved__comes_back_as_the_same_set(world: World, draft: Draft) -> None:
    assert document_from(fields_of(draft)) == {"pins": tables.document_of(draft.content)["pins"]}
    before = draft.content
    assert "Saved." in save(world, draft).content.decode()
    draft.refresh_from_db()
    assert (draft.content, draft.revision) == (before, 1)


def test_editor__buttons__move_delete_and_add_rows(world: World, draft: Draft) -> None:
    first, second, *_, last = ids(draft)
    save(world, draft, do="down:0")
    assert ids(draft)[:2] == [second, first]
    save(world, draft, do="up:1")
    assert ids(draft)[:2] == [first, second]
    save(world, draft, do="delete:6")
    assert last not in ids(draft)
    text = words(save(world, draft, do="add").content.decode())
    assert ids(draft)[-1] == "pin_1"
    assert f"Pin {last} is gone" in text
    assert acted({"pins": []}, "delete", "9" * 9) == acted({"pins": []}, "nonsense", "") == {"pins": []}


def test_meter__without_script__counts_what_is_typed_and_saves_nothing(world: World, draft: Draft) -> None:
    page = save(world, draft, do="measure", p0__text="Measured only.").content.decode()
    assert "as typed, not saved" in page
    assert page.count("Measured only.") == 2
    draft.refresh_from_db()
    assert (draft.revision, "Measured" in draft.content) == (1, False)


def test_meter__for_scripts__is_a_part_with_the_preview(world: World, draft: Draft) -> None:
    response = save(world, draft, htmx="1", do="measure", p0__text="Measured only.")
    part = response.content.decode()
    assert ("<html" in part, "<meter" in part, 'hx-swap-oob="true"' in part) == (False, True, True)
    assert "HX-Request" in response.headers["Vary"]
    refused = save(world, draft, htmx="1", do="measure", p0__tier="T3")
    assert (refused.status_code, "content from outside never becomes a pin" in words(refused.content.decode())) == (
        200,
        True,
    )


def test_meter__beyond_the_hosts_limit__says_that_it_cannot_be_published(world: World, draft: Draft) -> None:
    long = {f"p{index}__text": "x" * 2_000 for index in range(7)}
    text = words(save(world, draft, **long).content.decode())
    assert "longer than a host takes in: it cannot be published" in text
    assert f"{LIMIT_CHARS:,} characters" in text
    page = words(get(world, f"/policy/drafts/{draft.pk}/review", "organisation_admin"))
    assert "A finding blocks it" in page


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"p0__tier": "T3"}, "content from outside never becomes a pin"),
        ({"p0__id": "a b"}, "must be letters"),
        ({"p0__text": "x" * 2_001}, "at most 2000 characters"),
        ({"p0__why": ""}, "must not be empty"),
        ({"pins": "41"}, "A set has at most 40 pins."),
        ({"pins": "x"}, "A set has at most 40 pins."),
        ({"revision": ""}, "revision is a whole number"),
    ],
)
def test_editor__something_wrong__is_400_and_keeps_what_was_typed(
    world: World, draft: Draft, changed: dict[str, str], told: str
) -> None:
    response = save(world, draft, **{"p1__why": "typed before", **changed})
    assert response.status_code == 400
    assert told in words(response.content.decode())
    if "pins" not in changed:
        assert "typed before" in response.content.decode()
    draft.refresh_from_db()
    assert draft.revision == 1


def test_editor__after_somebody_else_saved__is_409_with_the_difference(world: World, draft: Draft) -> None:
    stale = Draft.objects.get(pk=draft.pk)
    save(world, draft, role="organisation_admin", p0__text="Theirs.")
    response = save(world, stale, p0__text="Mine.")
    assert response.status_code == 409
    assert "“Theirs.” becomes “Mine.”" in words(response.content.decode())


def test_life__on_pages__ends_in_a_version_and_back(world: World, draft: Draft) -> None:
    save(world, draft, p0__text="Ours.")
    where = f"/policy/drafts/{draft.pk}/"
    review = words(get(world, f"{where}review", "editor"))
    assert "Pin crystalium_trust_tier_map" in review
    assert "If this had been in force" not in review
    assert "[crystalium_trust_tier_map] Ours." in review
    assert client_of(world.users["editor"]).get(f"{where}ghost").status_code == 404
    client_of(world.users["editor"]).post(f"{where}ask", {"reason": "shorter"})
    said = {"revision": "2", "reason": "yes"}
    assert client_of(world.users["second"]).post(f"{where}approve", said).status_code == 302
    assert client_of(world.users["organisation_admin"]).post(f"{where}publish", said).status_code == 302
    history = words(get(world, "/policy/pins/default/history?from=1&to=2"))
    assert "From version 1 to version 2" in history
    assert "approved by somebody who did not edit it" in history
    answer = client_of(world.users["second"]).post("/policy/pins/default/revert", {"version": "1", "reason": "no"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/policy/pins/default/history")
    policy = Policy.objects.get(organisation_id=world.mine.pk, kind=PolicyKind.PINS)
    assert Version.objects.filter(policy=policy).count() == 3


def test_own_set__of_a_team__is_made_filled_assigned_and_withdrawn(world: World) -> None:
    boss, editor = client_of(world.users["organisation_admin"]), client_of(world.users["editor"])
    given = {"slug": "backend", "name": "Backend", "reason": "theirs"}
    assert boss.post("/policy/pins/new", given).headers["Location"] == "/policy/pins/backend/"
    again = boss.post("/policy/pins/new", given)
    assert (again.status_code, "There is such a pin set already." in words(again.content.decode())) == (409, True)
    assert boss.post("/policy/pins/new", {**given, "slug": "a b"}).status_code == 400
    assert boss.post("/policy/pins/new", {**given, "slug": "pins"}).status_code in (400, 409)
    started = editor.post("/policy/pins/backend/drafts", {"title": "First"})
    draft = Draft.objects.get(policy__slug="backend")
    assert (started.status_code, ids(draft)) == (302, [])
    row = {"p0-id": "units", "p0-text": "Tokens.", "p0-why": "x", "p0-tier": "T0", "p0-source": "admin"}
    row["revision"], row["pins"] = "1", "1"
    assert editor.post(f"/policy/drafts/{draft.pk}/", row).status_code == 302
    where = f"/policy/drafts/{draft.pk}/"
    editor.post(f"{where}ask", {"reason": "x"})
    client_of(world.users["second"]).post(f"{where}approve", {"revision": "2", "reason": "x"})
    boss.post(f"{where}publish", {"revision": "2", "reason": "x"})
    for scope, status in (("nowhere", 400), ("one/nothing", 400), ("\0", 400), ("one", 302)):
        answer = boss.post("/policy/pins/backend/assign", {"scope": scope, "reason": "pilot"})
        assert answer.status_code == status, scope
    assert "team one" in words(get(world, "/policy/pins/backend/"))
    inforce.forget(world.mine.pk)
    found = pinning.live_pins(
        scope=Scope(world.mine.pk, world.one.pk), session_key=None, now=Assignment.objects.get().at
    )
    assert found is not None
    assert found.pins[-1].id == "units"
    boss.post("/policy/pins/backend/assign", {"scope": "one", "reason": "over", "do": "withdraw"})
    assert "it is assigned to no scope" in words(get(world, "/policy/pins/backend/"))
    inforce.forget(world.mine.pk)


def test_own_set__that_rewords_the_default__says_that_it_is_not_heard(world: World) -> None:
    boss = client_of(world.users["organisation_admin"])
    boss.post("/policy/pins/new", {"slug": "backend", "name": "Backend", "reason": "theirs"})
    boss.post("/policy/pins/backend/drafts", {"title": "First"})
    draft = Draft.objects.get(policy__slug="backend")
    row = {"p0-id": "exact_specifics", "p0-text": "No.", "p0-why": "x", "p0-tier": "T0", "p0-source": "admin"}
    page = boss.post(f"/policy/drafts/{draft.pk}/", {**row, "revision": "1", "pins": "1"}, follow=True)
    assert "not heard beside the default set" in words(page.content.decode())


def test_pages__of_pins__for_strangers__are_closed(world: World, draft: Draft) -> None:
    for address in ("/policy/pins/", "/policy/pins/default/", f"/policy/drafts/{draft.pk}/"):
        assert Client().get(address).status_code == 302
    assert client_of(world.users["foreign_admin"]).get("/policy/pins/default/").status_code == 404
    assert client_of(world.users["viewer"]).post("/policy/pins/new", {}).status_code == 403
