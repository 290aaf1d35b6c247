"""`/api/v1/prices` and `/api/v1/markers`."""

from typing import Any

import pytest
from django.test import Client

from sessions_app.models import Marker, PriceRow
from tests.support.world import World

ROW = {
    "model": "acme-coder-9",
    "valid_from": "2026-11-01T00:00:00Z",
    "input": "1.25",
    "output": "10",
    "cache_read": "0.125",
    "source": "their page",
}


def send(world: World, role: str, path: str, body: Any = None) -> Any:
    headers = {"Authorization": f"Bearer {world.secrets[role]}"}
    client = Client()
    if body is None:
        return client.get(path, headers=headers)
    return client.post(path, body, "application/json", headers=headers)


def test_prices__added_by_an_admin_key__read_back_exactly(world: World) -> None:
    answer = send(world, "admin_key", "/api/v1/prices", ROW)
    assert answer.status_code == 201, answer.content
    row = send(world, "read_key", "/api/v1/prices?model=acme-coder-9").json()["results"][0]
    assert (row["input"], row["cache_read"], row["cache_write_5m"], row["revision"]) == ("1.25", "0.125", None, 0)
    again = send(world, "admin_key", "/api/v1/prices", {**ROW, "input": "1.5"})
    assert (again.status_code, again.json()["revision"]) == (201, 1)
    assert PriceRow.objects.filter(model="acme-coder-9").count() == 2


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"input": "-1"}, "bad_input"),
        ({"input": "NaN"}, "bad_input"),
        ({"input": "1e99"}, "bad_input"),
        ({"output": "0.0000001"}, "bad_output"),
        ({"valid_from": "2026-11-01T00:00:00"}, "bad_valid_from"),
        ({"model": "\u0000"}, "bad_model"),
        ({"source": ""}, "bad_source"),
        ({"colour": "red"}, "bad_body"),
        ({"valid_to": "2020-01-01T00:00:00Z"}, "bad_valid_to"),
        ({"valid_to": "2027-01-01T00:00:00"}, "bad_valid_to"),
        ({"valid_to": "9999-12-31T23:00:00-10:00"}, "bad_valid_to"),
        ({"valid_from": "0001-01-01T00:00:00+14:00"}, "bad_valid_from"),
        ({"valid_from": "9999-12-31T23:00:00-10:00"}, "bad_valid_from"),
    ],
)
def test_prices__hostile_row__400_with_the_field(change: dict[str, object], code: str, world: World) -> None:
    answer = send(world, "admin_key", "/api/v1/prices", {**ROW, **change})
    assert (answer.status_code, answer.json()["code"]) == (400, code)


@pytest.mark.parametrize("role", ["read_key", "ingest_key"])
def test_prices__added_by_others__403(role: str, world: World) -> None:
    assert send(world, role, "/api/v1/prices", ROW).status_code == 403


def test_markers__told_twice_by_a_deployment__one(world: World) -> None:
    body = {"title": "gateway 1.9", "kind": "config", "at": "2026-11-01T10:00:00Z"}
    answers = [send(world, "ingest_key", "/api/v1/markers", body).status_code for _ in range(2)]
    assert answers == [201, 200]
    assert Marker.objects.get().team == world.one
    told = send(world, "read_key", "/api/v1/markers").json()["results"]
    assert [(m["title"], m["kind"], m["automatic"]) for m in told] == [("gateway 1.9", "config", False)]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"title": ""}, "bad_title"),
        ({"title": "x", "kind": "party"}, "bad_kind"),
        ({"title": "x", "at": "2999-01-01T00:00:00Z"}, "bad_at"),
        ({"title": "x", "at": "0001-01-01T00:00:00+14:00"}, "bad_at"),
        ({"title": "x", "project": "nowhere"}, "bad_project"),
        ("[" * 9_000, "bad_body"),
    ],
)
def test_markers__hostile__400_with_a_code(body: object, code: str, world: World) -> None:
    answer = send(world, "ingest_key", "/api/v1/markers", body)
    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_markers__set_by_a_read_key__403(world: World) -> None:
    assert send(world, "read_key", "/api/v1/markers", {"title": "x"}).status_code == 403
