"""Nobody reads a figure of a team that is not theirs, whatever the address says."""

import pytest

from tests.api.conftest import Caller
from tests.support.world import World, session_in

#: Whose sessions each caller sees: a of team one, b of team two, c of the other organisation's team one.
SEES = {
    "read_key": {"a"},
    "other_read_key": {"b"},
    "admin_key": {"a", "b"},
    "foreign_admin_key": {"c"},
    "viewer": {"a"},
    "editor": {"a"},
    "admin": {"a"},
    "organisation_admin": {"a", "b"},
    "other_admin": {"b"},
    "foreign_admin": {"c"},
    "nobody": set(),
}


@pytest.mark.parametrize(("role", "expected"), SEES.items())
def test_read_api__every_caller__sees_own_teams_only(world: World, ask: Caller, role: str, expected: set[str]) -> None:
    ids = {
        name: session_in(team, name).pk for name, team in zip("abc", (world.one, world.two, world.foreign), strict=True)
    }
    listed = ask(role, "/api/v1/sessions").json()["results"]
    assert {row["host_session_id"] for row in listed} == expected
    summed = ask(role, "/api/v1/totals", group_by="session").json()["results"]
    assert {row["host_session_id"] for row in summed} == expected
    total = ask(role, "/api/v1/totals").json()["results"][0]
    assert total["calls"] == len(expected)
    opened = {name for name, pk in ids.items() if ask(role, f"/api/v1/sessions/{pk}").status_code == 200}
    assert opened == expected


def test_read_api__equal_host_ids_of_two_teams__stay_two_sessions(world: World, ask: Caller) -> None:
    session_in(world.one, "same", output=1)
    session_in(world.two, "same", output=2)
    answer = ask("admin_key", "/api/v1/sessions", host_session_id="same", team="two").json()
    assert [row["output"] for row in answer["results"]] == [2]


@pytest.mark.parametrize("address", ["/api/v1/sessions", "/api/v1/totals"])
def test_read_api__name_of_a_foreign_team__is_refused_like_an_unknown_one(
    world: World, ask: Caller, address: str
) -> None:
    foreign, unknown = (ask("read_key", address, team=team) for team in ("two", "no-such-team"))
    assert (foreign.status_code, foreign.json()) == (unknown.status_code, unknown.json())


@pytest.mark.parametrize("address", ["/api/v1/sessions", "/api/v1/sessions/1", "/api/v1/totals"])
def test_read_api__ingest_key__only_writes(world: World, ask: Caller, address: str) -> None:
    answer = ask("ingest_key", address)
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")


@pytest.mark.parametrize("address", ["/api/v1/lag", "/api/v1/sessions", "/api/v1/totals"])
def test_read_api__stranger__is_asked_for_a_key(world: World, ask: Caller, address: str) -> None:
    answer = ask("stranger", address)
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="ecm"')
