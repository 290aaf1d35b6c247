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
from celery import current_app
from django.db import transaction

from ecm_site.common import enqueue
from ecm_site.common.enqueue import breaker, broker_answers, enqueue_on_commit, send
from ecm_site.embedded.options import ROOT
from ecm_site.env import broker
from tests.support.servers import free_port, private_redis

RAN: list[int] = []
NAME = "tests.platform.note"


@current_app.task(name=NAME)
def note(number: int) -> None:
    """A task that leaves a trace where it runs eagerly."""
    RAN.append(number)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    RAN.clear()
    breaker.__init__()  # type: ignore[misc]
    yield
    enqueue._drop()
    breaker.__init__()  # type: ignore[misc]


@pytest.fixture
def use_broker(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def use(url: str) -> None:
        monkeypatch.setattr(current_app.conf, "broker_url", broker(url, Path("/nonexistent"))[0])
        monkeypatch.setattr(current_app.conf, "broker_transport_options", {})
        enqueue._drop()

    return use


@pytest.mark.django_db(transaction=True)
def test_enqueue__rolled_back__nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current_app.conf, "task_always_eager", True)
    with transaction.atomic():
        enqueue_on_commit(NAME, 1)
        transaction.set_rollback(True)
    with transaction.atomic():
        enqueue_on_commit(NAME, 2)
        assert RAN == []
    assert RAN == [2]


def test_send__nobody_listens__quick_and_said_once(
    use_broker: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    use_broker(f"redis://127.0.0.1:{free_port()}/0")
    began = time.monotonic()
    with caplog.at_level(logging.WARNING):
        assert [send(NAME, 1) for _ in range(50)] == [False] * 50
        breaker.closed_until = 0.0
        assert send(NAME, 1) is False
    assert time.monotonic() - began < 0.6
    assert len(caplog.records) == 1


def test_send__broker_accepts_and_stays_silent__bounded_by_the_patience(use_broker: Callable[[str], None]) -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        use_broker(f"redis://127.0.0.1:{mute.getsockname()[1]}/0")
        began = time.monotonic()
        assert send(NAME, 1) is False
        assert time.monotonic() - began < 0.7
        assert send(NAME, 1) is False
        assert broker_answers() is False


def test_send__broker_is_back__taken_again(use_broker: Callable[[str], None]) -> None:
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
        [sys.executable, "-m", "celery", "--app", "tests.support.worker_app", "--quiet", "worker", "--pool", "solo"]
        + ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "ERROR"],
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
        worker.terminate()
        worker.wait(15)
