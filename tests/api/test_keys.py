"""`POST /api/v1/keys`, and what keys may do."""

import json
from typing import Any

import pytest
from django.test import Client

from sessions_app.models import ApiKey, Developer, Team
from sessions_app.services import folding, keys
from tests.api.conftest import Caller
from tests.support.world import NOW, World, session_in

KEYS = "/api/v1/keys"


def post(world: World, role: str, body: object, **headers: str) -> Any:
    text = body if isinstance(body, str) else json.dumps(body)
    return Client().post(
        KEYS, text, "application/json", headers={"Authorization": f"Bearer {world.secrets[role]}", **headers}
    )


def test_keys__new_team__is_made_with_a_working_ingest_key(world: World) -> None:
    answer = post(world, "admin_key", {"team": "backend"})
    assert answer.status_code == 201
    holder = keys.authenticate(answer.json()["key"])
    assert holder is not None
    assert (holder.kind, holder.team_id) == ("ingest", Team.objects.get(organisation=world.mine, slug="backend").pk)
    assert not ApiKey.objects.filter(digest=answer.json()["key"]).exists()


def test_keys__known_team__is_taken(world: World) -> None:
    before = Team.objects.count()
    assert post(world, "admin_key", {"team": "one", "kind": "read"}).json()["kind"] == "read"
    assert Team.objects.count() == before


def test_keys__team_of_another_organisation__is_not_touched(world: World) -> None:
    answer = post(world, "foreign_admin_key", {"team": "two"})
    holder = keys.authenticate(answer.json()["key"])
    assert holder is not None
    assert holder.organisation_id == world.theirs.pk
    assert holder.team_id != world.two.pk


def test_keys__personal_key__names_its_developer(world: World) -> None:
    answer = post(world, "admin_key", {"team": "one", "developer": "mira"})
    holder = keys.authenticate(answer.json()["key"])
    assert holder is not None
    assert holder.developer == Developer.objects.get(team=world.one).identity == "mira"


@pytest.mark.parametrize("role", ["ingest_key", "read_key", "other_read_key"])
def test_keys__key_that_is_no_admin__is_refused(world: World, role: str) -> None:
    assert post(world, role, {"team": "one"}).status_code == 403


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("", "bad_body"),
        ("[" * 5_000, "bad_body"),
        ("{", "bad_body"),
        ([], "bad_body"),
        ({}, "bad_body"),
        ({"team": 1}, "bad_body"),
        ({"team": "one", "surprise": 1}, "bad_body"),
        ({"team": "One Team"}, "bad_team"),
        ({"team": ""}, "bad_team"),
        ({"team": "a" * 51}, "bad_team"),
        ({"team": "one\n"}, "bad_team"),
        ({"team": "one", "kind": "admin"}, "bad_kind"),
        ({"team": "one", "developer": "a\0b"}, "bad_developer"),
        ({"team": "one", "label": "x" * 121}, "bad_label"),
    ],
)
def test_keys__body_that_means_nothing__is_refused_by_name(world: World, body: object, code: str) -> None:
    answer = post(world, "admin_key", body)
    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_keys__too_large_body__is_refused(world: World) -> None:
    assert post(world, "admin_key", {"team": "one", "label": "x" * 20_000}).status_code == 413


def test_keys__signed_in_administrator__needs_a_csrf_token(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.users["organisation_admin"])
    assert client.post(KEYS, '{"team": "one"}', "application/json").status_code == 403
    client.get("/login")
    token = client.cookies["ecm_csrf"].value if "ecm_csrf" in client.cookies else ""
    client.cookies["ecm_csrf"] = token or "a" * 32
    answer = client.post(
        KEYS, '{"team": "one"}', "application/json", headers={"X-CSRFToken": client.cookies["ecm_csrf"].value}
    )
    assert answer.status_code == 201


def test_key__revoked__opens_nothing_any_more(world: World, ask: Caller) -> None:
    assert ask("read_key", "/api/v1/sessions").status_code == 200
    keys.revoke(key=world.keys["read_key"], now=NOW)
    answer = ask("read_key", "/api/v1/sessions")
    assert (answer.status_code, answer.json()["code"]) == (401, "bad_key")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_lag__dirty_sessions__are_counted_in_own_teams_only(world: World, ask: Caller) -> None:
    session_in(world.one, "a", revision=2, folded_revision=1)
    session_in(world.one, "parked", revision=2, folded_revision=1, fold_failures=folding.MOST_FAILURES)
    session_in(world.one, "clean", revision=2, folded_revision=2)
    session_in(world.two, "b", revision=2, folded_revision=1)
    session_in(world.foreign, "c", revision=2, folded_revision=1)
    assert ask("ingest_key", "/api/v1/lag").json() == {"dirty_sessions": 1, "parked_sessions": 1}
    assert ask("admin_key", "/api/v1/lag").json()["dirty_sessions"] == 2
    assert ask("viewer", "/api/v1/lag").json()["dirty_sessions"] == 1
    assert ask("nobody", "/api/v1/lag").json()["dirty_sessions"] == 0
