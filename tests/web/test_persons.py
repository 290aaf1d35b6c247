"""What is told of persons: to oneself all, to others nothing that a filter or a difference could bring out."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from policy_app.models import AuditEntry
from sessions_app.models import Developer, Organisation, Session
from sessions_app.services.own_keys import identity_of
from sessions_app.services.persons import FLOOR
from tests.support.world import World, build, session_in
from tests.web.pages import client_of, page, words

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


@pytest.fixture
def world() -> World:
    return build()


def of(world: World, name: str, *, days_ago: int = 0, project: str = "") -> Session:
    """A session of a developer in team one."""
    developer, _ = Developer.objects.get_or_create(team=world.one, identity=name, defaults={"name": name})
    number = Session.objects.count()
    return session_in(world.one, f"s{number}", at=datetime.now(UTC) - days_ago * DAY, developer=developer)


def named(world: World, **asked: str) -> list[str | None]:
    """Developers that the API names to a viewer."""
    found = client_of(world.users["viewer"]).get("/api/v1/sessions", asked).json()["results"]
    one = client_of(world.users["viewer"]).get(f"/api/v1/sessions/{found[0]['id']}").json() if found else None
    assert one is None or one["developer"] == found[0]["developer"]
    return [row["developer"] for row in found]


def turn_on(world: World) -> None:
    Organisation.objects.filter(pk=world.mine.pk).update(names_persons=True)


def test_sessions__usually__name_nobody(world: World) -> None:
    for n in range(FLOOR):
        of(world, f"dev{n}")
    assert named(world) == [None] * FLOOR


def test_sessions__turned_on_below_the_floor__name_nobody_whatever_is_asked(world: World) -> None:
    turn_on(world)
    for n in range(FLOOR - 1):
        of(world, f"dev{n}", days_ago=n)
    # A developer without a session, and one of another team, make no cohort.
    Developer.objects.create(team=world.one, identity="padding", name="padding")
    for n in range(FLOOR):
        developer = Developer.objects.create(team=world.two, identity=f"two{n}")
        session_in(world.two, f"two{n}", at=datetime.now(UTC), developer=developer)
    assert named(world) == [None] * (FLOOR - 1)
    assert named(world, host_session_id="s0") == [None]
    assert (
        client_of(world.users["organisation_admin"]).get("/api/v1/sessions?team=one").json()["results"][0]["developer"]
        is None
    )


def test_sessions__turned_on_with_enough_developers__name_them_in_every_slice_alike(world: World) -> None:
    turn_on(world)
    for n in range(FLOOR):
        of(world, f"dev{n}", days_ago=n)
    assert sorted(filter(None, named(world))) == [f"dev{n}" for n in range(FLOOR)]
    assert named(world, host_session_id="s4") == ["dev4"]


#: Addresses with figures of many sessions, and what somebody might add to single out a person.
FIGURES = (
    "/api/v1/totals?since=2020-01-01",
    "/api/v1/totals?group_by=project",
    "/api/v1/totals?group_by=day",
    "/tables/project.json?period=all",
    "/tables/model.csv?period=all",
    "/tables/team.json?period=all",
    "/sessions/?period=all",
    "/?period=all",
)


@pytest.mark.parametrize("address", FIGURES)
def test_figures__asked_for_a_person__are_those_of_all(world: World, address: str) -> None:
    turn_on(world)
    target = of(world, "target", days_ago=3)
    for n in range(FLOOR):
        of(world, f"dev{n}", days_ago=n)
    client = client_of(world.users["viewer"])
    joint = "&" if "?" in address else "?"
    whole = told(client, address)
    for name in ("developer", "person", "user", "who", "developer_id", "identity", "developer__identity"):
        for value in ("target", str(target.developer_id), "!target", ""):
            asked = told(client, f"{address}{joint}{name}={value}")
            # Not understood is either ignored or refused; it never narrows.
            assert asked in (whole, "400"), (name, value)


def told(client: Client, address: str) -> str:
    """The figures of an answer: JSON and CSV as they are, of a page its words."""
    answer = client.get(address)
    if answer.status_code != 200:
        return str(answer.status_code)
    text = answer.content.decode()
    return words(text) if text.lstrip().startswith("<!DOCTYPE") else text.split('"since"')[0]


@pytest.mark.parametrize("address", ["/tables/developer.json", "/tables/person.csv"])
def test_tables__by_person__are_not_there(world: World, address: str) -> None:
    assert client_of(world.users["viewer"]).get(address).status_code == 404


def test_totals__by_person__are_refused(world: World) -> None:
    assert client_of(world.users["viewer"]).get("/api/v1/totals?group_by=developer").status_code == 400


def test_sql_view__has_no_column_of_a_person() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT column_name FROM information_schema.columns WHERE table_name = 'ecm_calls'")
        names = {name for (name,) in cursor.fetchall()}
    assert names
    assert not {name for name in names for part in ("develop", "person", "user", "identity", "machine") if part in name}


def test_pages__of_sessions__name_nobody_even_where_it_is_on(world: World) -> None:
    turn_on(world)
    for n in range(FLOOR):
        session = of(world, f"secret-name-{n}")
    for address in ("/", "/sessions/", f"/sessions/{session.pk}/", "/tables/", "/cache/", "/context/", "/me/"):
        assert "secret-name" not in page(world.users["viewer"], address), address


def test_me__sessions_of_own_keys__are_shown_to_oneself_alone(world: World) -> None:
    viewer: User = world.users["viewer"]
    mine, other = of(world, identity_of(viewer)), of(world, "someone")
    shown = page(viewer, "/me/")
    assert f"/sessions/{mine.pk}/" in shown
    assert f"/sessions/{other.pk}/" not in shown
    assert words(shown).lstrip().startswith("1 session of yours cost $0.01.")
    assert "No session of yours was seen." in words(page(world.users["editor"], "/me/"))


def test_me__person_of_the_same_name_in_another_team__is_not_shown(world: World) -> None:
    developer = Developer.objects.create(team=world.two, identity="viewer", name="viewer")
    session_in(world.two, "theirs", at=datetime.now(UTC), developer=developer)
    assert "No session of yours was seen." in words(page(world.users["viewer"], "/me/"))


def test_naming__by_an_administrator__is_audited_with_its_reason(world: World) -> None:
    admin = client_of(world.users["organisation_admin"])
    assert admin.post("/me/naming", {"is_on": "1", "reason": "agreed with the works council"}).status_code == 302
    world.mine.refresh_from_db()
    entry = AuditEntry.objects.get(organisation_id=world.mine.pk)
    assert world.mine.names_persons
    assert (entry.action, entry.actor_name, entry.reason) == (
        "persons.named",
        "organisation_admin",
        "agreed with the works council",
    )
    assert not Organisation.objects.get(pk=world.theirs.pk).names_persons
