"""An alert from real ingest to real receivers: a web server and a mail server, through the real worker, once."""

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from ecm_site.common import enqueue
from ecm_site.embedded.options import ROOT
from policy_app.services.actors import Actor
from sessions_app.models import AlertEvent, AlertRule, Notice, Session
from sessions_app.services import alert_rules
from tests.support.receivers import MailReceiver, WebReceiver, listening
from tests.support.world import World, build

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world() -> World:
    return build()


@contextmanager
def worker(data: Path, mail: MailReceiver) -> Iterator[None]:
    """The site's own worker on this test's database and broker."""
    broker = data / "broker"
    for name in ("queue", "processed", "control"):
        (broker / name).mkdir(parents=True, exist_ok=True)
    place = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    env = os.environ | {"DATABASE_URL": place, "ECM_ALERT_PRIVATE": "1", "ECM_SMTP_HOST": "127.0.0.1"}
    env |= {"ECM_SMTP_PORT": str(mail.server_address[1]), "ECM_PUBLIC_URL": "http://ecm.example.com"}
    command = [sys.executable, "-m", "celery", "--app", "ecm_site.celery", "--quiet", "worker", "--pool", "solo"]
    process = subprocess.Popen(
        [*command, "--without-gossip", "--without-mingle", "--loglevel", "ERROR"], cwd=ROOT, env=env
    )
    # An earlier test may have found no broker, and sending would rest.
    enqueue.breaker.closed_until = 0.0
    try:
        yield
    finally:
        # In order it would take five seconds, and nothing here needs them.
        process.kill()
        process.wait(15)
        enqueue._drop()
        shutil.rmtree(broker)


def until(what: Callable[[], bool]) -> None:
    """Wait for the worker."""
    end = time.monotonic() + 90
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


def bring(url: str, secret: str, name: str, *, hours_ago: float, read: int, fresh: int) -> None:
    """One call through the door of usage, and wait until the worker has folded it."""
    at = timezone.now() - timedelta(hours=hours_ago)
    usage = {"input_tokens": fresh, "cache_read_input_tokens": read, "output_tokens": 10}
    record = {"session": name, "provider": "anthropic", "model": "claude-opus-4-6", "id": f"msg_{name}", "usage": usage}
    record |= {"started_at": at.isoformat(), "ended_at": at.isoformat()}
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/api/v1/usage", json.dumps(record).encode(), headers)):
        until(lambda: Session.objects.filter(host_session_id=name, calls=1).exists())


def judge() -> None:
    """What beat sends every five minutes."""
    assert enqueue.send(str(settings.CELERY_BEAT_SCHEDULE["judge-alerts"]["task"]))


def judge_again(rule: AlertRule) -> None:
    """Judge, and wait until that was done."""
    before = AlertRule.objects.get(pk=rule.pk).judged_at
    judge()
    until(lambda: AlertRule.objects.get(pk=rule.pk).judged_at != before)


def test_hit_ratio__drops_by_real_ingest_and_recovers__told_once_at_open_and_once_at_close(
    world: World, live_server: LiveServer, data_folder: Path
) -> None:
    by, now, secret = Actor(None, "Mara", world.mine.pk), timezone.now(), world.secrets["ingest_key"]
    with listening(WebReceiver()) as web, listening(MailReceiver()) as mail, worker(data_folder, mail):
        rule = alert_rules.set_rule(
            team=world.one, kind="hit_ratio", threshold="15", ceiling="", is_on=True, actor=by, now=now
        )
        for kind, address in (("webhook", f"{web.url}/hook"), ("slack", f"{web.url}/slack"), ("mail", "a@example.com")):
            alert_rules.add_target(team=world.one, kind=kind, address=address, actor=by, now=now)
        bring(live_server.url, secret, "before", hours_ago=72, read=900_000, fresh=100_000)
        bring(live_server.url, secret, "cold", hours_ago=1, read=100_000, fresh=900_000)
        web.statuses = [500]  # The first try fails and is taken up again.
        judge()
        until(lambda: Notice.objects.filter(attempts__gt=0).count() == 3)
        until(lambda: Notice.objects.filter(delivered_at=None, outcome="Answered 500.").count() == 1)
        Notice.objects.filter(delivered_at=None).update(due_at=timezone.now())
        assert enqueue.send("sessions_app.send_notices")
        until(lambda: not Notice.objects.filter(delivered_at=None).exists())
        for _ in range(2):
            judge_again(rule)
        assert (len(web.got), len(mail.got), AlertEvent.objects.count()) == (3, 1, 1)
        bring(live_server.url, secret, "warm", hours_ago=0.5, read=9_000_000, fresh=100_000)
        judge()
        until(lambda: len(web.got) == 5 and len(mail.got) == 2)
        until(lambda: Notice.objects.exclude(delivered_at=None).count() == 6)
    event = AlertEvent.objects.get()
    assert event.opened_by == "10.0% of the prompts of 24 hours came from the cache; in the 7 days before it was 90.0%."
    assert event.closed_at is not None
    hooks = [body for path, body in web.got if path == "/hook"]
    opened, closed = hooks[0], hooks[-1]
    assert (opened["kind"], opened["team"], opened["measured"], opened["closed_at"]) == (
        "hit_ratio",
        "one",
        "80.00",
        None,
    )
    assert (closed["occasion"], closed["event"]) == ("closed", event.pk)
    assert [(m["Subject"], m["To"]) for m in mail.got] == [
        ("[ECM One] Hit ratio dropped", "a@example.com"),
        ("[ECM One] Over: Hit ratio dropped", "a@example.com"),
    ]
    assert "http://ecm.example.com/alerts/?team=one#events" in mail.got[0].get_content()
