"""Entry links sign in once."""

from datetime import timedelta

import pytest
from django.test import Client

from sessions_app.models import EntryLink
from sessions_app.services import entry
from tests.support.world import NOW, build

pytestmark = pytest.mark.django_db


def test_redeem__fresh_link__gives_its_user_once() -> None:
    user = build().users["viewer"]
    token = entry.issue_link(user=user, now=NOW)
    assert token not in EntryLink.objects.get().digest
    assert entry.redeem(token=token, now=NOW + timedelta(minutes=9, seconds=59)) == user
    with pytest.raises(entry.EntryError, match="used"):
        entry.redeem(token=token, now=NOW)


def test_redeem__after_ten_minutes__is_refused() -> None:
    token = entry.issue_link(user=build().users["viewer"], now=NOW)
    with pytest.raises(entry.EntryError, match="expired"):
        entry.redeem(token=token, now=NOW + timedelta(minutes=10))


def test_redeem__unknown_link__is_refused() -> None:
    with pytest.raises(entry.EntryError, match="unknown"):
        entry.redeem(token="no-such-link", now=NOW)


def test_enter__link_looked_at_before__still_signs_in_once(client: Client) -> None:
    from ecm_site.common import clock

    token = entry.issue_link(user=build().users["viewer"], now=clock.now())
    address = f"/enter/{token}"
    assert client.head(address).status_code == 204
    assert client.get(address, headers={"Sec-Purpose": "prefetch;prerender"}).status_code == 204
    answer = client.get(address)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/")
    assert client.session["_auth_user_id"]
    assert "no-store" in answer.headers["Cache-Control"]
    assert client.get(address).headers["Location"] == "/"
    refused = Client().get(address)
    assert refused.status_code == 410
    assert b"make up" in refused.content


def test_login__right_and_wrong_password__sign_in_or_say_so(client: Client) -> None:
    user = build().users["viewer"]
    user.set_password("viewer has a password")
    user.save()
    wrong = client.post("/login", {"username": "viewer", "password": "no"})
    assert b'role="alert"' in wrong.content
    right = client.post("/login", {"username": "viewer", "password": "viewer has a password", "next": "/sessions/"})
    assert right.headers["Location"] == "/sessions/"
    assert client.get("/login").headers["Location"] == "/"
    assert client.post("/logout").headers["Location"] == "/login"
    assert "_auth_user_id" not in client.session
