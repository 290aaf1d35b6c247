"""Every page of the project with something on it: the addresses of the table of access that answer with a page."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from policy_app.services.actors import Actor
from sessions_app.models import Team, Verdict
from sessions_app.services import alert_rules, alerting, marking, prices
from tests.support.deliveries import deliver, fold_everything, telemetry
from tests.support.live import live_in
from tests.support.pins import PINS
from tests.support.replay import Player, moments
from tests.support.world import World, compaction_in, session_in
from tests.web.test_access import LOGIN, TABLE, address, draft_in, routes

#: The role that sees every page and every form.
ROLE = "organisation_admin"


def furnished(world: World) -> dict[str, str]:
    """{route: address} of all pages that a signed-in person can open, in a world where none of them is empty."""
    now = datetime.now(UTC)
    prices.seed(prices=PINS, source="test pins")
    player = Player(world.one)
    for moment in moments():
        player.play(moment)
    deliver(world.one, telemetry())
    fold_everything()
    live_in(world.one, "live", now, ago=timedelta(minutes=2))
    blind = session_in(world.one, "blind", at=now, cost_usd=None, unpriced_calls=1, zone="UNKNOWN")
    compaction_in(blind, number=1, at=now, state="failed")
    marking.mark(team=world.one, at=now, kind="note", title="a change", project=None, by="jo", now=now)
    alerts_in(world.one, now)
    verdict = Verdict.objects.get(operation="compact", silence="")
    real = {
        "v/<slug:public_id>": f"/v/{verdict.public_id}",
        "prices/<path:model>/": "/prices/claude-sonnet-4-5/",
        "sessions/<int:pk>/calls/<int:number>/": f"/sessions/{player.row.pk}/calls/7/",
    }
    found = {
        route: f"{real.get(route) or address(route, world, player.row.pk)}?period=all" for route in sorted(pages(real))
    }
    pins = f"/policy/drafts/{draft_in(world, 'pins')}/"
    draft = found["policy/drafts/<int:draft_id>/"].partition("?")[0]
    # One address with two faces: what a draft holds decides; and a page of nothing.
    return {
        **found,
        "draft of pins": pins,
        "review of pins": f"{pins}review",
        "empty": "/?team=two",
        "alerts of one team": "/alerts/?team=one",
        "tried": f"{draft}?try=1&try-zone=RED",
    }


def alerts_in(team: Team, now: datetime) -> None:
    """One alert that fires, another that is on, and a target that was told."""
    by = Actor(None, "jo", team.organisation_id)
    alert_rules.add_target(team=team, kind="webhook", address="https://hooks.example.com/secret", actor=by, now=now)
    for kind, ceiling in (("budget", "0.01"), ("silent", "")):
        alert_rules.set_rule(team=team, kind=kind, threshold="24", ceiling=ceiling, is_on=True, actor=by, now=now)
    alerting.judge_all(now=now)


def pages(real: dict[str, str]) -> Iterator[str]:
    """Routes that lead the anonymous to the login and show somebody a page; files and redirects are none."""
    for route in set(routes()):
        rule = TABLE[route]
        if rule.method == "GET" and rule.of("anonymous") == LOGIN and (rule.of(ROLE) == 200 or route in real):
            yield route
