"""One truth: every page, file, answer and view gives the figures that the provider's own usage comes to."""

import csv
import io
import json
import re
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from sessions_app.models import Session
from tests.support.story import recorded
from tests.support.world import World, build
from tests.web.pages import client_of

#: From served-usage.json at 3/15/0.30/3.75/6 USD per million; the parts are worked out by hand in docs/economics.md.
BILL, UNCACHED, SAVED = "1.428819", "2.457009", "1.02819"
PARTS = {"needed_usd": "0.783462", "expected_usd": "0.118542", "avoidable_usd": "0", "unexplained_usd": "0.526815"}
CALLS, OF_THE_HOST = 9, 1
TOKENS = {
    "uncached_input": 53,
    "cache_read": 472_200,
    "cache_write_5m": 323_000,
    "cache_write_1h": 1_500,
    "output": 4_450,
}
PROMPT = TOKENS["uncached_input"] + TOKENS["cache_read"] + TOKENS["cache_write_5m"] + TOKENS["cache_write_1h"]
ZONES = {"GREEN": 4, "AMBER": 2, "RED": 2, "CRITICAL": 0, "UNKNOWN": 0}


@pytest.fixture
def world(db: None) -> World:
    """Two organisations with teams and users."""
    return build()


@pytest.fixture
def session(world: World) -> Session:
    """The recorded story, of team one."""
    return recorded(world.one)


@pytest.fixture
def client(world: World, session: Session) -> Client:
    """A browser of a viewer of team one, where the story is."""
    return client_of(world.users["viewer"])


def figures_of(client: Client, address: str) -> set[str]:
    """Exact values of all figures of a page."""
    answer = client.get(address)
    assert answer.status_code == 200
    return set(re.findall(r'<data value="([^"]*)"', answer.content.decode()))


def told(client: Client, address: str) -> Any:
    """An answer in JSON."""
    answer = client.get(address)
    assert answer.status_code == 200
    return json.loads(answer.content)


def test_pages__money_and_its_parts__are_the_bill(client: Client, session: Session) -> None:
    parts = {value for value in PARTS.values() if value != "0"}
    for address in ("/?period=all", f"/sessions/{session.pk}/", "/cache/?period=all"):
        assert figures_of(client, address) >= {BILL, *parts}, address
    assert figures_of(client, "/?period=all") >= {UNCACHED, SAVED, str(CALLS), *map(str, ZONES.values())}
    assert figures_of(client, "/sessions/?period=all") >= {BILL, str(CALLS)}
    assert figures_of(client, "/compactions/?period=all") >= {PARTS["expected_usd"]}


@pytest.mark.parametrize("by", ["project", "model", "host", "team"])
def test_tables__page_csv_and_json__are_the_bill(client: Client, by: str) -> None:
    (line,) = told(client, f"/tables/{by}.json?period=all")["lines"]
    expected = {
        **PARTS,
        "cost_usd": BILL,
        "no_cache_cost_usd": UNCACHED,
        "calls": CALLS + OF_THE_HOST,
        "prompt_tokens": PROMPT,
        "output": TOKENS["output"],
    }
    assert {name: line[name] for name in expected} == expected
    (row,) = csv.DictReader(io.StringIO(client.get(f"/tables/{by}.csv?period=all").content.decode()))
    assert {name: row[name] for name in expected} == {name: str(value) for name, value in expected.items()}
    assert figures_of(client, f"/tables/?period=all&by={by}") >= {BILL, UNCACHED, str(PROMPT), str(TOKENS["output"])}


def test_answers__totals_and_session__are_the_bill(client: Client, session: Session) -> None:
    expected = {**TOKENS, "calls": CALLS, "aux_calls": OF_THE_HOST, "cost_usd": BILL, "no_cache_cost_usd": UNCACHED}
    (totals,) = told(client, "/api/v1/totals")["results"]
    assert {name: totals[name] for name in expected} == expected
    assert totals["zone_calls"] == ZONES
    for group in ("project", "model", "host", "day"):
        (line,) = told(client, f"/api/v1/totals?group_by={group}")["results"]
        assert {name: line[name] for name in expected} == expected, group
    one = told(client, f"/api/v1/sessions/{session.pk}")
    assert {name: one[name] for name in expected} == expected
    assert one["saved_usd"] == SAVED
    (listed,) = told(client, "/api/v1/sessions")["results"]
    assert {name: listed[name] for name in expected} == expected


def test_view_for_sql_tools__sums__are_the_bill(session: Session) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(cost_usd), sum(cache_read), count(*) FROM ecm_calls")
        cost, read, calls = cursor.fetchone()
    assert (cost, read, calls) == (Decimal(BILL), TOKENS["cache_read"], CALLS + OF_THE_HOST)


def test_bill__parts__sum_to_it_and_the_host_says_the_same(session: Session) -> None:
    assert sum(map(Decimal, PARTS.values())) == Decimal(BILL) == session.host_cost_usd
    assert Decimal(UNCACHED) - Decimal(BILL) == Decimal(SAVED)
