"""Enqueueing: after commit, through the registry, and never at the cost of the request."""

import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from celery import Celery
from django.db import transaction

from ecm_site.celery import app as site
from ecm_site.common import enqueue
from ecm_site.common.enqueue import Breaker, broker_answers, enqueue_on_commit, send
from ecm_site.embedded.options import ROOT
from ecm_site.env import broker
from tests.support.servers import free_port, private_redis

CELERY = [sys.executable, "-m", "celery", "--app", "tests.support.worker_app", "--quiet"]
NAME = "tests.platform.note"


@pytest.fixture(autouse=True)
def rested(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test begins with a breaker that another one tripped."""
    monkeypatch.setattr(enqueue, "breaker", Breaker())


@pytest.fixture
def ran() -> list[int]:
    """What the task was called with where it runs eagerly."""
    return []


@pytest.fixture
def use_broker(ran: list[int]) -> Iterator[Callable[..., None]]:
    """Makes an application with this broker the current one."""

    def use(url: str, *, eager: bool = False) -> None:
        app = Celery("tests", broker=broker(url, Path("/nonexistent"))[0], set_as_current=False)
        app.conf.task_always_eager = eager

        def note(number: int) -> None:
            ran.append(number)

        app.task(name=NAME, shared=False)(note)
        app.set_current()
        enqueue._drop()

    yield use
    enqueue._drop()
    site.set_current()


@pytest.mark.django_db(transaction=True)
def test_enqueue__rolled_back__nothing_is_sent(use_broker: Callable[..., None], ran: list[int]) -> None:
    use_broker("redis://127.0.0.1:1/0", eager=True)
    with transaction.atomic():
        enqueue_on_commit(NAME, 1)
        transaction.set_rollback(True)
    with transaction.atomic():
        enqueue_on_commit(NAME, 2)
        assert ran == []
    assert ran == [2]


def test_send__nobody_listens__quick_and_said_once(
    use_broker: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    use_broker(f"redis://127.0.0.1:{free_port()}/0")
    began = time.monotonic()
    with caplog.at_level(logging.WARNING):
        assert [send(NAME, 1) for _ in range(50)] == [False] * 50
        enqueue.breaker.closed_until = 0.0
        assert send(NAME, 1) is False
    assert time.monotonic() - began < 20  # kombu alone would go on for minutes
    assert len(caplog.records) == 1


def test_send__broker_accepts_and_stays_silent__bounded_by_the_patience(use_broker: Callable[..., None]) -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        use_broker(f"redis://127.0.0.1:{mute.getsockname()[1]}/0")
        began = time.monotonic()
        assert send(NAME, 1) is False
        assert time.monotonic() - began < 20  # ditto
        assert send(NAME, 1) is False
        assert broker_answers() is False


def test_send__broker_is_back__taken_again(use_broker: Callable[..., None]) -> None:
    with private_redis() as url:
        if url is None:
            pytest.skip("no Redis on this machine")
        use_broker(url)
        assert send(NAME, 1) is True
        assert broker_answers() is True
    assert send(NAME, 1) is False


def test_filesystem_transport__real_worker__task_runs(tmp_path: Path) -> None:
    for name in ("queue", "processed", "control"):
        (tmp_path / "broker" / name).mkdir(parents=True)
    env = dict(os.environ, ECM_DATA=str(tmp_path), PYTHONPATH=str(ROOT))
    env.pop("REDIS_URL", None)
    worker = subprocess.Popen(
        [*CELERY, "worker", "--pool", "solo", "--without-gossip", "--without-mingle", "--loglevel", "ERROR"],
        cwd=ROOT,
        env=env,
    )
    try:
        done = subprocess.run([sys.executable, "-m", "tests.support.worker_app"], cwd=ROOT, env=env, check=False)
        assert done.returncode == 0
        until = time.monotonic() + 20
        while not (tmp_path / "ran").exists():
            assert time.monotonic() < until
            time.sleep(0.05)
    finally:
        # In order it would take five seconds, and nothing here needs them.
        worker.kill()
        worker.wait(15)
