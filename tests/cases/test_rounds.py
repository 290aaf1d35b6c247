"""Content blocks that come new with a call, held against the files themselves, and the page that sums them up."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from sessions_app.feeds.base import Context
from sessions_app.feeds.claude_transcript import FEED
from sessions_app.kernel.facts import FoldInput
from sessions_app.kernel.fold import fold
from sessions_app.kernel.pricing import PriceBook
from sessions_app.kernel.readings import Reading
from sessions_app.models import Call, UsageSlot
from tests.support.inputs import NOW_MS, corpus_bodies
from tests.support.story import recorded
from tests.support.world import World, build
from tests.web.pages import page, words

BODIES = corpus_bodies()
#: Files with many calls of one main chain.
FILES = sorted(BODIES, key=lambda name: -len(BODIES[name]))[:6]


def messages(body: bytes, session: str) -> Iterator[dict[str, Any]]:
    """Lines of the main chain with what was said, each once, in the order of the file."""
    seen = set()
    for line in body.decode("utf-8", "replace").split("\n"):
        record = json.loads(line) if line.startswith("{") and line.endswith("}") else {}
        is_mine = record.get("sessionId") == session and not record.get("isSidechain")
        if is_mine and record.get("type") in ("user", "assistant") and record["uuid"] not in seen:
            seen.add(record["uuid"])
            yield record


def counted(body: bytes, session: str) -> dict[str, int]:
    """By id of the response: blocks of the one before it and of what was sent since."""
    found: dict[str, int] = {}
    blocks, last = 0, ""
    for record in messages(body, session):
        message = record["message"]
        name = message.get("id", "") if message.get("model") != "<synthetic>" else ""
        if record["type"] == "assistant" and name and name != last:
            if last:
                found[name] = blocks
            blocks, last = 0, name
        content = message["content"]
        blocks += len(content) if isinstance(content, list) else 1
    return found


@pytest.mark.parametrize("name", FILES)
def test_fold__transcript_of_the_corpus__blocks_as_in_the_file(name: str) -> None:
    readings: dict[tuple[str, ...], Reading] = {}
    for item in FEED.parse(BODIES[name], Context(received_ms=NOW_MS, final=True)).items:
        for reading in item.readings:
            key = (reading.session, reading.kind, str(reading.source), reading.key)
            readings[key] = readings[key].merge(reading) if key in readings else reading
    sessions = [reading.session for reading in readings.values()]
    session = max(set(sessions), key=sessions.count)
    mine = tuple(reading for reading in readings.values() if reading.session == session)
    folded = fold(FoldInput(session=session, readings=mine, received_ms=NOW_MS), PriceBook([]))
    known = {call.key.rpartition(":")[2]: call.evidence["blocks"] for call in folded.calls if "blocks" in call.evidence}
    truth = counted(BODIES[name], session)
    shared = known.keys() & truth.keys()
    assert len(shared) >= 20, "enough to tell"
    assert {key: known[key] for key in shared} == {key: truth[key] for key in shared}


@pytest.mark.django_db
def test_context__story_and_a_wide_round__sums_and_options() -> None:
    world: World = build()
    recorded(world.one)
    slots = UsageSlot.objects.all()
    known = sum(slot.rounds for slot in slots)
    assert known == Call.objects.filter(evidence__has_key="blocks").count() > 0
    text = words(page(world.users["viewer"], "/context/?period=all"))
    assert f"0 rounds of {known} (0.0%) brought more than 15 new content blocks" in text
    assert "At most 7 tools at once" in text
