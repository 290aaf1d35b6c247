"""A busy session: hooks come several a second, and a fold reads all of it."""

import itertools
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app

from sessions_app.models import Session
from sessions_app.services import folding, ingest
from tests.services.test_sources import HOOK, receive
from tests.support import deliveries as story
from tests.support.world import World, build

TASK = "sessions_app.fold_session"


@pytest.fixture
def countdowns(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """In how many seconds each message to the broker is to be worked on."""
    found: list[float] = []
    current_app.loader.import_default_modules()
    monkeypatch.setattr(current_app.tasks[TASK], "apply_async", lambda args, *, countdown, **_: found.append(countdown))
    return found


@pytest.mark.django_db
def test_receive__session_was_just_folded__next_fold_waits_its_rest(
    countdowns: list[float], django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    world: World = build()

    def hook_at(seconds: float) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            used = {
                "session_id": "s",
                "hook_event_name": "PostToolUse",
                "tool_name": "Bash",
                "tool_use_id": f"t{seconds}",
            }
            receive(world.one, HOOK, json.dumps(used).encode(), seconds=seconds)

    def fold_at(seconds: float) -> None:
        assert folding.fold_session(session_id=Session.objects.get().pk, now=story.NOW + timedelta(seconds=seconds))

    hook_at(0)
    hook_at(1)
    assert countdowns == [0.0], "one message for all that waits"
    fold_at(2)
    hook_at(3)
    assert 3 <= countdowns[1] < 7
    fold_at(5)
    hook_at(60)
    assert countdowns[2] < 1


@pytest.mark.parametrize(("rested", "least", "most"), [(0, 4, 8), (2, 2, 6), (-60, 4, 8), (3_600, 0, 1)])
def test_wait__sessions_that_began_together__are_not_folded_together(rested: int, least: float, most: float) -> None:
    since = timedelta(seconds=rested)
    waits = sorted(ingest.wait_of(number, since).total_seconds() for number in range(501, 551))
    assert least <= waits[0] <= waits[-1] < most
    assert max(later - earlier for earlier, later in itertools.pairwise(waits)) < 0.05 * (most - least)
