"""The five tables: what is shown is what the files give, and nothing that a client sent acts."""

import csv
import io
import json
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Project
from tests.support.story import recorded
from tests.support.world import World, build
from tests.web.pages import client_of, page, words

ALL = "?period=all"
MOST_QUERIES = 12
GROUPS = ("project", "model", "host", "team", "cause")


@pytest.fixture
def world(db: None) -> World:
    """Two organisations with teams and users."""
    return build()


def told(world: World, by: str, form: str) -> str:
    response = client_of(world.users["viewer"]).get(f"/tables/{by}.{form}{ALL}")
    assert response.status_code == 200
    return response.content.decode()


def test_tables__the_recorded_story__its_bill_in_parts(world: World) -> None:
    recorded(world.one)
    (line,) = json.loads(told(world, "project", "json"))["lines"]
    assert line == {
        "project": "acme-api",
        "sessions": 1,
        "calls": 10,
        # 53 + 472,200 + 323,000 + 1,500
        "prompt_tokens": 796_753,
        "read_permille": 592,
        "output": 4_450,
        "cost_usd": "1.428819",
        "no_cache_cost_usd": "2.457009",
        "needed_usd": "0.783462",
        "expected_usd": "0.118542",
        "avoidable_usd": "0",
        "unexplained_usd": "0.526815",
        "unpriced_calls": 0,
    }


@pytest.mark.parametrize("by", GROUPS)
def test_tables__page_csv_and_json__say_the_same(world: World, by: str) -> None:
    recorded(world.one)
    lines = json.loads(told(world, by, "json"))["lines"]
    rows = list(csv.DictReader(io.StringIO(told(world, by, "csv"))))
    assert [{k: "" if v is None else str(v) for k, v in line.items()} for line in lines] == rows
    text = page(world.users["viewer"], f"/tables/{ALL}&by={by}")
    for line in lines:
        assert line[by] in text
        assert f'<data value="{line["cost_usd"]}"' in text


def test_tables__causes__their_costs_are_the_parts_of_the_bill(world: World) -> None:
    recorded(world.one)
    lines = json.loads(told(world, "cause", "json"))["lines"]
    parts: dict[str, Decimal] = {}
    for line in lines:
        parts[line["part"]] = parts.get(line["part"], Decimal()) + Decimal(line["cost_usd"])
    assert parts == {"rebuilds": Decimal("0.118542"), "not explained": Decimal("0.526815")}


@pytest.mark.parametrize("name", ["=cmd|'/c calc'!A1", "+1", "-1+2", "@SUM(A1)", "<script>alert(1)</script>"])
def test_tables__names_that_a_client_made_up__are_inert(world: World, name: str) -> None:
    session = recorded(world.one)
    Project.objects.filter(sessions=session).update(name=name)
    cell = next(csv.reader(io.StringIO(told(world, "project", "csv").split("\r\n", 1)[1])))[0]
    assert cell[0] not in "=+-@"
    assert "<script>alert" not in page(world.users["viewer"], f"/tables/{ALL}")


def test_tables__of_another_team__are_not_shown(world: World) -> None:
    recorded(world.foreign)
    assert json.loads(told(world, "project", "json"))["lines"] == []
    assert "Connect a host" in words(page(world.users["viewer"], f"/tables/{ALL}"))


def test_tables__whatever_the_size__few_queries(world: World) -> None:
    recorded(world.one)
    client = client_of(world.users["viewer"])
    for by in GROUPS:
        with CaptureQueriesContext(connection) as captured:
            client.get(f"/tables/{ALL}&by={by}")
        assert len(captured) <= MOST_QUERIES
