"""Three scripted sessions of a real host: none, one and two compactions. Expected is what the script served."""

import itertools
import json
from typing import Any

import pytest

from sessions_app.models import Call, Compaction, Session
from tests.support.deliveries import Delivery, deliver, fold_everything
from tests.support.inputs import INPUTS
from tests.support.story import priced
from tests.support.world import World, build
from tests.web.pages import page, words

LAB = INPUTS / "lab"
#: Name of the strategy, and compactions that the script's prompts asked for.
SCENARIOS = {
    "nothing": ("nothing", 0),
    "compaction-and-subagent": ("compaction only", 1),
    "two-compactions": ("compaction only", 2),
}


def served(name: str, role: str) -> list[dict[str, Any]]:
    return [call for call in json.loads((LAB / f"{name}.served.json").read_text()) if call["role"] == role]


def prompt(call: dict[str, Any]) -> int:
    return sum(call[leaf] for leaf in ("in", "r", "w5", "w1h"))


@pytest.fixture
def world(db: None) -> World:
    priced()
    return build()


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario__of_the_lab__peak_final_calls_and_events_as_served(name: str, world: World) -> None:
    deliver(world.one, [Delivery("claude-code-transcript", (LAB / f"{name}.jsonl").read_bytes())])
    fold_everything()
    session, main = Session.objects.get(), served(name, "main")
    assert session.peak_occupancy == max(map(prompt, main))
    assert session.last_occupancy == prompt(main[-1])
    assert session.calls == len(main) + len(served(name, "agent"))
    strategy, compactions = SCENARIOS[name]
    events = Compaction.objects.filter(kind="compaction", state="completed")
    assert events.count() == session.compactions == compactions == len(served(name, "summary"))
    # The summariser reads what the main chain holds; its own call counts as it was served, where telemetry tells it.
    befores = [prompt(call) for call, after in itertools.pairwise(main) if prompt(after) < prompt(call)]
    assert list(events.order_by("at").values_list("before_by_last_call", flat=True)) == befores
    leaves = {
        "uncached_input": "in",
        "cache_read": "r",
        "cache_write_5m": "w5",
        "cache_write_1h": "w1h",
        "output": "out",
    }
    for field, leaf in leaves.items():
        told = sum(call[leaf] for role in ("main", "agent") for call in served(name, role))
        assert sum(Call.objects.values_list(field, flat=True)) == told, field
    text = words(page(world.users["viewer"], "/compactions/?period=all"))
    assert f"{strategy} 1 {max(map(prompt, main)):,} {prompt(main[-1]):,} {session.calls}" in text
