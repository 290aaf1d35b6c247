"""The page of alerts: what it says, who may change it, and what it keeps to itself."""

import pytest

from sessions_app.models import AlertRule, AlertTarget, Notice
from sessions_app.services import alerting
from tests.support.world import NOW, World, build, session_in
from tests.web.pages import client_of, page, words

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return build()


def test_page__nothing_is_set__says_what_to_do(world: World) -> None:
    assert "Nothing is watched yet: turn on an alert below." in words(page(world.users["viewer"], "/alerts/"))


def test_page__several_teams_together__asks_for_one(world: World) -> None:
    assert "choose it above" in words(page(world.users["organisation_admin"], "/alerts/"))


def test_forms__of_an_editor__set_add_test_and_remove(world: World) -> None:
    client, base = client_of(world.users["editor"]), f"/alerts/teams/{world.one.pk}"
    url = "https://hooks.slack.com/services/T0/B0/secret-token"
    given = {"kind": "budget", "fires_at": "80", "ceiling": "0.01", "is_on": "1"}
    assert client.post(f"{base}/rule", given).status_code == 302
    assert client.post(f"{base}/targets", {"kind": "slack", "address": url}).status_code == 302
    target = AlertTarget.objects.get()
    assert client.post(f"{base}/targets/{target.pk}/test").status_code == 302
    session_in(world.one, "a", at=NOW)
    alerting.judge_all(now=NOW)
    shown = page(world.users["viewer"], "/alerts/")
    assert "Budget: $0.01 of this month's $0.01 at list price: 100.0%." in words(shown)
    assert "https://hooks.slack.com/…" in shown
    assert "secret-token" not in shown
    assert client.post(f"{base}/targets/{target.pk}/remove").status_code == 302
    assert list(Notice.objects.values_list("shown", flat=True).distinct()) == ["slack https://hooks.slack.com/…"]


def test_page__of_a_viewer__has_no_form(world: World) -> None:
    shown = page(world.users["viewer"], "/alerts/")
    assert f"/alerts/teams/{world.one.pk}/" not in shown
    assert f"/alerts/teams/{world.one.pk}/rule" in page(world.users["editor"], "/alerts/")


@pytest.mark.parametrize("field", ["kind", "fires_at", "ceiling"])
@pytest.mark.parametrize("value", ["", "\0", "<script>", "1e999999", "9" * 5_000, "1_0 USD"])
def test_rule__hostile_field__is_refused(world: World, field: str, value: str) -> None:
    given = {"kind": "budget", "fires_at": "80", "ceiling": "5", "is_on": "1", field: value}
    answer = client_of(world.users["editor"]).post(f"/alerts/teams/{world.one.pk}/rule", given)
    assert answer.status_code == 400
    assert not AlertRule.objects.exists()
