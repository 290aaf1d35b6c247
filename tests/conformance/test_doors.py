"""Every door with damaged bodies: a named answer, never a 500; and the doors that are promised are there."""

import json
import os
import random
from collections.abc import Callable

import pytest
from django.test import Client

from tests.conformance.samples import samples
from tests.feeds_live.test_damage import damaged
from tests.support import deliveries as story
from tests.support.world import World

#: A hundredth of the feeds' mutations: each goes through the database.
TRIED = max(5, int(os.environ.get("ECM_MUTATIONS", "0")) // 100)
DOORS = {
    "/api/v1/ingest": "canonical",
    "/api/v1/hooks/claude-code": "claude-code-hook",
    "/api/v1/hooks/codex": "codex-hook",
    "/api/v1/hooks/copilot": "copilot-hook",
    "/api/v1/hooks/opencode": "opencode-hook",
    "/api/v1/transcripts/claude-code": "claude-code-transcript",
    "/api/v1/transcripts/codex": "codex-transcript",
    "/api/v1/transcripts/copilot": "copilot-transcript",
    "/api/v1/transcripts/opencode": "opencode-transcript",
    "/api/v1/hooks/cursor": "cursor-hook",
    "/api/v1/hooks/gemini": "gemini-hook",
    "/api/v1/transcripts/claude-sdk": "claude-sdk-transcript",
    "/api/v1/transcripts/gemini": "gemini-transcript",
    "/api/v1/statusline/claude-code": "claude-code-statusline",
    "/api/v1/usage": "usage-proxy",
    "/api/v1/proxy/litellm": "litellm-proxy",
    "/otlp/v1/logs": "any-otlp-logs",
    "/otlp/v1/metrics": "any-otlp-metrics",
    "/otlp/v1/traces": "any-otlp-traces",
}
#: What each kind of address answers when all is well (decision 16).
GOOD = {"ingest": 202, "transcripts": 202}


def post(client: Client, world: World, door: str, body: bytes, kind: str = "application/json") -> tuple[int, bytes]:
    answer = client.post(
        door, body, content_type=kind, headers={"Authorization": f"Bearer {world.secrets['ingest_key']}"}
    )
    return answer.status_code, answer.content


@pytest.mark.parametrize("door", DOORS)
def test_door__recorded__taken_with_the_status_of_its_kind(door: str, client: Client, world: World) -> None:
    given = samples()[DOORS[door]]
    status, content = post(client, world, door, given.body(given.records[:3]))
    assert status == GOOD.get(door.split("/")[3], 200), content[:300]


@pytest.mark.parametrize("door", DOORS)
def test_door__damaged__a_named_answer(
    door: str, client: Client, world: World, record_property: Callable[[str, object], None]
) -> None:
    name = DOORS[door]
    for key, value in (("feed", name), ("case", "6 doors"), ("n", TRIED)):
        record_property(key, value)
    given, rng = samples()[name], random.Random(f"{name} door")
    for _ in range(TRIED):
        good, struck = rng.choice(given.records), rng.choice(given.records)
        body = bytearray(given.body([good, damaged(struck, rng)]))
        if rng.random() < 0.3:
            start = rng.randrange(len(body))
            body[start : start + rng.randint(0, 5)] = rng.randbytes(3)
        kind = rng.choice(["application/json", "application/x-protobuf"]) if rng.random() < 0.2 else "application/json"
        status, content = post(client, world, door, bytes(body), kind)
        assert status in (200, 202, 400), content[:300]
        if status == 400:
            problem = json.loads(content)
            assert problem["code"].isidentifier()
            assert "pointer" in problem
    story.fold_everything()
