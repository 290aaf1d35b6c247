"""Tools that come or go within a session: told by attachments of a transcript, kept as counts."""

import json
import zlib
from typing import Any

import pytest

from sessions_app.feeds.husk import husk
from sessions_app.feeds.tool_deltas import tool_delta
from sessions_app.models import Call, VaultRecord
from sessions_app.services.rereading import reread
from tests.connect.client import module
from tests.support import deliveries as story
from tests.support.deliveries import NOW, Delivery, deliver, fold_everything
from tests.support.story import priced
from tests.support.world import World, build
from tests.web.pages import page, words

MAIN = next(story.STORY.glob("projects/*/*.jsonl"))
ALL = "/context/?period=all"


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in MAIN.read_text().splitlines()]


def attachment(before: dict[str, Any], kind: str, **lists: list[str]) -> dict[str, Any]:
    """A line as the host writes it, right after `before`."""
    own = {"type": "attachment", "uuid": f"{before['uuid'][:-4]}beef", "parentUuid": before["uuid"]}
    told = {"type": kind, **lists, "addedBlocks": ["CANARY: how to use it"]}
    return {**own, "timestamp": before["timestamp"], "sessionId": before["sessionId"], "attachment": told}


def with_changes() -> list[dict[str, Any]]:
    """The story, with one change after its second response and one right before its second prompt."""
    found = lines()
    spoken = [line for line in found if line["type"] == "assistant" and line["message"].get("usage")]
    second = spoken[2]
    mid = attachment(second, "deferred_tools_delta", addedNames=["mcp__CANARY__a", "mcp__CANARY__b"], removedNames=[])
    found.insert(found.index(second) + 1, mid)
    first = attachment(found[0] | {"uuid": "0" * 36}, "agent_listing_delta", addedTypes=["CANARY"], removedTypes=[])
    return [first | {"timestamp": spoken[0]["timestamp"]}, *found]


def told(world: World, records: list[dict[str, Any]]) -> None:
    body = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    deliver(world.one, [Delivery("claude-code-transcript", body)])
    fold_everything()


@pytest.fixture
def world(db: None) -> World:
    priced()
    return build()


def test_fold__tools_come_while_the_model_works__marked_at_the_next_call_only(world: World) -> None:
    told(world, with_changes())
    changed = Call.objects.filter(evidence__has_key="tools").order_by("number")
    # The host itself lists its five kinds of agents again after the compaction.
    assert [call.evidence["tools"] for call in changed] == [[2, 0, 0], [5, 0, 1]]
    text = words(page(world.users["viewer"], ALL))
    assert "2 times tools, agents or their instructions came or went within a session: 1 at a prompt, 1 while" in text


def test_vault__names_of_tools_and_their_texts__are_not_kept(world: World) -> None:
    told(world, with_changes())
    record = VaultRecord.objects.get()
    assert b"CANARY" not in zlib.decompress(record.husks)
    assert reread(record=record, now=NOW).accepted == 0, "the vault says the same again"


def test_client__reduces_as_the_server_does() -> None:
    ecm, record = module(), with_changes()
    for line in (line for line in record if line["type"] == "attachment" and "CANARY" in json.dumps(line)):
        small = ecm.reduced_line(json.dumps(line).encode())
        assert small == husk(line) == husk(small)
        assert "CANARY" not in json.dumps(small)


@pytest.mark.parametrize(
    "hostile",
    [{}, {"type": 7}, {"type": "deferred_tools_delta", "addedNames": 3, "removed": -4, "added": True}],
)
def test_tool_delta__of_whatever__no_change(hostile: dict[str, Any]) -> None:
    delta = tool_delta(hostile)
    assert delta is None or (delta["added"], delta["removed"]) == (0, 0)
