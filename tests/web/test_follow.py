"""Following a session: what a look costs that finds nothing new, who may look, and when the page rests."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext

from sessions_app.dashboard.follow import followed, signs_of, with_signs
from sessions_app.models import LiveThread, Session
from tests.support.live import live_in
from tests.support.world import World, build
from tests.web.pages import client_of

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def world() -> World:
    return build()


def look(world: World, session: Session, known: str = "", user: str = "viewer") -> HttpResponse:
    """What htmx asks for; `known` is the ETag of what it shows."""
    headers = {"HX-Request": "true", "HX-Target": "follow", **({"If-None-Match": known} if known else {})}
    answer = client_of(world.users[user]).get(f"/sessions/{session.pk}/", headers=headers)
    assert isinstance(answer, HttpResponse)
    return answer


def test_follow__nothing_new__is_304_after_one_query_beside_those_of_the_login(world: World) -> None:
    session = live_in(world.one, "live", datetime.now(UTC), ago=timedelta(seconds=20))
    first = look(world, session)
    client = client_of(world.users["viewer"])
    headers = {"HX-Target": "follow", "If-None-Match": first.headers["ETag"]}
    with CaptureQueriesContext(connection) as queries:
        again = client.get(f"/sessions/{session.pk}/", headers=headers)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    assert len(queries) == 3


@pytest.mark.parametrize("changed", ["folded_at", "revision", "ended_at", "muted_at", "live"])
def test_follow__whatever_changed__is_given(world: World, changed: str) -> None:
    now = datetime.now(UTC)
    session = live_in(world.one, "live", now, ago=timedelta(seconds=20))
    known = look(world, session).headers["ETag"]
    if changed == "live":
        LiveThread.objects.update(updated_at=now + timedelta(seconds=1))
    else:
        Session.objects.update(**{changed: 7 if changed == "revision" else now})
    answer = look(world, session, known)
    assert answer.status_code == 200
    assert answer.headers["ETag"] != known
    markup = answer.content.decode()
    assert 'id="follow"' in markup
    assert "<html" not in markup
    # A screen reader hears of a verdict only when there is another one.
    assert 'id="asked"' not in markup


@pytest.mark.parametrize("user", ["nobody", "other_admin", "foreign_admin"])
def test_follow__a_session_of_others__is_not_there(world: World, user: str) -> None:
    session = live_in(world.one, "live", datetime.now(UTC), ago=timedelta(seconds=20))
    known = look(world, session).headers["ETag"]
    assert look(world, session, known, user).status_code == 404


@pytest.mark.parametrize(
    ("minutes", "every"), [(0, 10), (1, 10), (3, 30), (29, 30), (31, 60), (119, 60), (121, 0), (9_999, 0)]
)
def test_follow__the_longer_it_is_silent__asks_the_less_often(world: World, minutes: int, every: int) -> None:
    now = datetime.now(UTC)
    live_in(world.one, "live", now - timedelta(minutes=minutes), ago=timedelta(seconds=1))
    signs = signs_of(with_signs(Session.objects.all()).get())
    assert followed(signs, now).every == every
    assert followed(signs._replace(ended_at=now), now).every == 0
