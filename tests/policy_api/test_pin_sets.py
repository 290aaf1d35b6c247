"""Pin sets over HTTP: the life of tables under their own addresses."""

from typing import Any

import pytest

from policy_app.kernel.pin_documents import set_document
from policy_app.kernel.pins_default import DEFAULT_PINS
from policy_app.services import installing
from sessions_app.models import Role
from tests.policy_api.conftest import Caller
from tests.support.world import NOW, World, user_of

MARA, JO, SET = "organisation_admin", "second_admin", "pin-sets/default"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def installed(world: World) -> None:
    world.users[JO] = user_of(JO, world.mine, None, Role.ADMIN)
    installing.ensure_pins(organisation_id=world.mine.pk, four_eyes=True, now=NOW)


def pin(**fields: str) -> dict[str, str]:
    return {"id": "units", "text": "Sizes are in tokens.", "why": "bytes crept in", **fields}


def with_pins(*pins: dict[str, str]) -> dict[str, Any]:
    document: dict[str, Any] = set_document(DEFAULT_PINS)
    return {**document, "pins": [*document["pins"], *pins]}


def test_life__of_a_pin_set__ends_in_a_version_with_provenance(call: Caller) -> None:
    answer = call("editor", "POST", f"{SET}/drafts", {"title": "Units", "pin_set": with_pins(pin())})
    assert answer.status_code == 201
    draft = answer.json()
    assert [each["sentence"] for each in draft["diff"]] == ["Pin units is new (T0): “Sizes are in tokens.”"]
    assert (draft["findings"], len(draft["pin_set"]["pins"]), "table" in draft) == ([], 8, False)
    where = f"{SET}/drafts/{draft['id']}"
    edited = call("editor", "PUT", where, {"revision": 1, "pin_set": with_pins(pin(text="Sizes are tokens."))})
    assert edited.json()["revision"] == 2
    assert call("editor", "POST", f"{where}/ask-review", {"reason": "lost twice"}).json()["state"] == "in_review"
    assert call(JO, "POST", f"{where}/approve", {"revision": 2, "reason": "so it is"}).json()["state"] == "approved"
    version = call(MARA, "POST", f"{where}/publish", {"revision": 2, "reason": "agreed"}).json()
    assert (version["number"], version["four_eyes"], version["published_by"]) == (2, True, MARA)
    told = call("viewer", "GET", SET).json()
    assert {each["rule"]: (each["since"], each["by"]) for each in told["blame"]}["units"] == (2, MARA)
    live = call("viewer", "GET", f"{SET}/live")
    assert live.json()["pin_set"]["pins"][-1]["text"] == "Sizes are tokens."
    assert call("viewer", "GET", f"{SET}/live", **{"If-None-Match": live.headers["ETag"]}).status_code == 304
    assert call("viewer", "GET", f"{SET}/versions/2").json()["diff"][0]["kind"] == "pin_added"
    assert call(MARA, "POST", f"{SET}/revert", {"version": 1, "reason": "no"}).json()["reverts"] == 1
    assert [each["number"] for each in call("viewer", "GET", f"{SET}/versions").json()["results"]] == [3, 2, 1]
    assert call("viewer", "GET", "audit/chain").json()["versions"] == {
        "default": {"entries": 1, "broken_at": None},
        "pins/default": {"entries": 3, "broken_at": None},
    }
    exported = call("viewer", "GET", f"{SET}/export")
    assert (exported.json(), exported.headers["Content-Disposition"]) == (
        set_document(DEFAULT_PINS),
        'attachment; filename="pins-default-v3.json"',
    )
    assert call("viewer", "GET", f"{SET}/export?as=yaml").json()["code"] == "bad_as"


@pytest.mark.parametrize(
    ("pin_set", "reason", "field"),
    [
        (with_pins(pin(tier="T3")), "foreign_content", "pins[7].tier"),
        (with_pins(pin(tier="T9")), "unknown_name", "pins[7].tier"),
        (with_pins(pin(), pin()), "duplicate", "pins"),
        (with_pins(pin(more="x")), "unknown_name", "pins[7].more"),
        (with_pins(pin(text="")), "bad_text", "pins[7].text"),
        ({"pins": {"a": 1}}, "wrong_type", "pins"),
        ("text", "wrong_type", "table"),
        (5, "wrong_type", "pins"),
    ],
)
def test_pin_set__that_may_not_be__is_a_problem_that_names_the_field(
    call: Caller, pin_set: object, reason: str, field: str
) -> None:
    answer = call("editor", "POST", f"{SET}/drafts", {"title": "x", "pin_set": pin_set})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_pin_set")
    assert (answer.json()["reason"], answer.json()["field"]) == (reason, field)


def test_drafts__of_the_other_kind__are_not_there(call: Caller) -> None:
    draft = call("editor", "POST", f"{SET}/drafts", {"title": "x"}).json()["id"]
    assert call("editor", "GET", f"policies/default/drafts/{draft}").status_code == 404
    assert call("editor", "GET", f"{SET}/drafts/{draft}").status_code == 200
    # A table is no pin set: nothing is saved.
    answer = call("editor", "PUT", f"{SET}/drafts/{draft}", {"revision": 1, "table": with_pins(pin())})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_pin_set")


def test_own_set__of_a_team__is_made_assigned_and_told_apart_from_tables(call: Caller) -> None:
    made = call(MARA, "POST", "pin-sets", {"slug": "backend", "name": "Backend", "reason": "theirs"})
    assert made.status_code == 201
    assert [each["slug"] for each in call("viewer", "GET", "pin-sets").json()["results"]] == ["backend", "default"]
    assert [each["slug"] for each in call("viewer", "GET", "policies").json()["results"]] == ["default"]
    body = {"kind": "pins", "scope_kind": "team", "scope": "one", "policy": "backend", "reason": "pilot"}
    assert call(MARA, "POST", "assignments", body).json()["kind"] == "pins"
    assert call(MARA, "POST", "assignments", {**body, "kind": "table"}).status_code == 404
    assert call(MARA, "POST", "assignments", {**body, "policy": None}).json()["policy"] is None
