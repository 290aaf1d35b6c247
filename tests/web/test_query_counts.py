"""How many statements each page takes, held by a file: exact, so that one more is seen, and never above twelve."""

import json
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sessions_app.models import Session
from tests.support.every_page import ROLE, furnished
from tests.support.world import World, build
from tests.web.pages import client_of

BASELINE = Path(__file__).with_name("query_counts.json")
MOST_QUERIES = 12

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def world() -> World:
    return build()


def test_pages__each_with_something_on_it__ask_as_often_as_the_file_says(world: World) -> None:
    places = furnished(world)
    live = Session.objects.get(host_session_id="live").pk
    # Another scope, and a session that speaks, show more than the address alone.
    narrow = {f"{where} of one team": f"/{where}?team=one&period=90d" for where in ("", "cache/", "compactions/")}
    places |= {**narrow, "a session that speaks": f"/sessions/{live}/"}
    client = client_of(world.users[ROLE])
    counts: dict[str, int] = {}
    for route, where in places.items():
        # Once before: what a process reads once and keeps is no cost of a page.
        assert client.get(where).status_code == 200, where
        with CaptureQueriesContext(connection) as queries:
            client.get(where)
        counts[route] = len(queries)
    assert {route: count for route, count in counts.items() if count > MOST_QUERIES} == {}
    assert counts == json.loads(BASELINE.read_text()), "write tests/web/query_counts.json anew if that is meant"
