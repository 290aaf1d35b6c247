"""Instruction files and settings, as hooks tell of them: digests and markers, no text and no path."""

import time
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from sessions_app.models import InstructionFile, Marker, Project, Session
from sessions_app.services import marking
from tests.support.story import recorded
from tests.support.world import NOW, World, build
from tests.web.pages import page, words

OLD, NEW = "0123456789abcdef", "fedcba9876543210"
PAGE = "/context/discipline/?period=all"


@pytest.fixture
def world(db: None) -> World:
    return build()


def session_of(world: World, name: str) -> None:
    project, _ = Project.objects.get_or_create(team=world.one, name="acme-api")
    Session.objects.create(
        team=world.one,
        host="claude-code",
        host_session_id=name,
        created_at=NOW,
        received_at=NOW,
        first_at=NOW,
        last_at=NOW,
        project=project,
    )


def send(client: Client, world: World, session: str, payload: dict[str, Any], *, machine: str = "a" * 12) -> None:
    """A client's bundle with one hook."""
    hook = {"received_at": time.time(), "payload": {"session_id": session, **payload}}
    answer = client.post(
        "/api/v1/bundles/claude-code",
        {"session_id": session, "hooks": [hook]},
        content_type="application/json",
        headers={"Authorization": f"Bearer {world.secrets['ingest_key']}", "X-ECM-Machine": machine},
    )
    assert answer.status_code == 200, answer.content


def loaded(told_digest: str, **more: Any) -> dict[str, Any]:
    told = {"name": "CLAUDE.md", "digest": told_digest, "bytes": 812, "head": "abcdef012345", "committed": True, **more}
    return {"hook_event_name": "InstructionsLoaded", "memory_type": "Project", "instructions": told}


def test_note__same_file_again__one_row_and_it_holds(client: Client, world: World) -> None:
    for name in ("s1", "s2"):
        session_of(world, name)
        send(client, world, name, loaded(OLD))
        send(client, world, name, loaded(OLD))
    assert InstructionFile.objects.count() == 2
    marking.notice(now=timezone.now())
    assert not Marker.objects.exists()


def test_note__changed_without_a_commit__a_marker_and_a_breach(client: Client, world: World) -> None:
    for name, digest, committed in (("s1", OLD, True), ("s2", NEW, False)):
        session_of(world, name)
        send(client, world, name, loaded(digest, committed=committed))
    for _ in range(2):
        marking.notice(now=timezone.now())
    [marker] = Marker.objects.all()
    assert (marker.kind, marker.title) == ("config", "CLAUDE.md of acme-api changed")
    assert marker.project is not None


def test_discipline__unlike_on_two_machines_at_one_commit__breached(client: Client, world: World) -> None:
    recorded(world.one)
    for name, digest, machine in (("s1", OLD, "a" * 12), ("s2", NEW, "b" * 12)):
        session_of(world, name)
        send(client, world, name, loaded(digest), machine=machine)
    marking.notice(now=timezone.now())
    assert not Marker.objects.filter(kind="config").exists(), "two machines are no change in time"
    text = words(page(world.users["viewer"], PAGE))
    assert "CLAUDE.md differs between 2 machines at commit abcdef0" in text


@pytest.mark.parametrize(
    "bad",
    [
        {"digest": "x" * 16},
        {"digest": 7},
        {"bytes": -1},
        {"bytes": "many"},
    ],
)
def test_note__what_no_client_sends__left_out(client: Client, world: World, bad: dict[str, Any]) -> None:
    session_of(world, "s1")
    send(client, world, "s1", loaded(OLD, **bad))
    assert not InstructionFile.objects.exists()


def test_note__names_and_heads_of_others__are_not_kept(client: Client, world: World) -> None:
    session_of(world, "s1")
    send(client, world, "s1", loaded(OLD, name="CANARY secret plan", head="CANARY", committed="CANARY"))
    row = InstructionFile.objects.get()
    assert (row.name, row.head, row.committed) == ("another file", "", None)


def test_config_change__told_by_many__one_marker_an_hour(client: Client, world: World) -> None:
    for name in ("s1", "s2", "s3"):
        session_of(world, name)
        send(client, world, name, {"hook_event_name": "ConfigChange", "source": "project_settings"})
        send(client, world, name, {"hook_event_name": "ConfigChange", "source": "CANARY"})
    told = [(m.kind, m.title, m.project and m.project.name) for m in Marker.objects.all()]
    assert set(told) == {("config", "the project's settings in acme-api changed", "acme-api")}
    assert len(told) <= 2, "an hour may end in the middle"
