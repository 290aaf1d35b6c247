"""A session that takes over from another in a fresh context: named by a client or a harness, by nobody else."""

import json
from pathlib import Path
from typing import Any

import pytest

from sessions_app.models import Session
from tests.connect.client import Home, server
from tests.connect.test_hook import home  # noqa: F401 - a fixture
from tests.support.deliveries import Delivery, deliver, fold_everything, whole_story
from tests.support.story import priced
from tests.support.world import World, build
from tests.web.pages import page, words


@pytest.fixture
def world(db: None) -> World:
    priced()
    return build()


def start(session: str, **more: Any) -> dict[str, Any]:
    return {"session_id": session, "hook_event_name": "SessionStart", "source": "startup", "cwd": "acme-api", **more}


@pytest.mark.parametrize("by", ["hook", "harness"])
def test_handoff__named__the_first_one_is_a_handoff_and_depth_begins_anew(by: str, world: World) -> None:
    deliver(world.one, whole_story())
    fold_everything()
    first = Session.objects.get()
    record: dict[str, Any] = start("fresh", parent_session_id=first.host_session_id, handoff=True)
    feed = "claude-code-hook"
    if by == "harness":
        named = {"parent_session_id": first.host_session_id, "handoff": True}
        record, feed = {"type": "session", "host": "claude-code", "session": "fresh", **named}, "canonical"
    deliver(world.one, [Delivery(feed, json.dumps(record).encode())])
    fold_everything()
    fresh = Session.objects.get(host_session_id="fresh")
    assert (fresh.parent_id, fresh.is_handoff, fresh.depth, fresh.inherited_calls) == (first.pk, True, 0, 0)
    first.refresh_from_db()
    assert (first.is_handoff, first.calls + first.aux_calls) == (False, 10)
    text = words(page(world.users["viewer"], "/compactions/?period=all"))
    assert f"handoff 1 {first.peak_occupancy:,}" in text


def test_hook__a_parent_without_a_word_of_handoff__is_not_taken(world: World) -> None:
    deliver(world.one, [Delivery("claude-code-hook", json.dumps(start("fresh", parent_session_id="x")).encode())])
    fold_everything()
    assert not Session.objects.get().is_handoff


def test_ecm_handoff__next_session_in_the_folder__names_the_last_one_once(home: Home, tmp_path: Path) -> None:  # noqa: F811
    place = tmp_path / "acme-api"
    place.mkdir()
    with server() as border:
        home.configure(border.url)
        said = home.run("handoff", "old-session-id", folder=place)
        assert said.returncode == 0, said.stdout
        for session in ("old-session-id", "new-1", "new-2"):
            given = start(session, cwd=str(place))
            home.run("hook", "claude-code", given=json.dumps(given))
        sent = [hook["payload"] for bundle in border.bundles for hook in bundle["hooks"]]
    assert [(p["session_id"], p.get("parent_session_id"), p.get("handoff")) for p in sent] == [
        ("old-session-id", None, None),
        ("new-1", "old-session-id", True),
        ("new-2", None, None),
    ]
