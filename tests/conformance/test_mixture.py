"""The stories of several hosts and senders at once: any order, doubled, split, and in two teams under equal ids."""

import json
import random
from collections.abc import Callable
from decimal import Decimal

import pytest

from sessions_app.models import Session
from tests.cases.test_gemini import SESSION
from tests.cases.test_gemini import WAYS as GEMINI
from tests.cases.test_opencode import EVENTS as OPENCODE
from tests.support import codex, copilot, deliveries
from tests.support.deliveries import Delivery
from tests.support.inputs import trap_bodies
from tests.support.pins import BOOK
from tests.support.world import World

ORDERS = 6
LEAVES = ("calls", "uncached_input", "cache_read", "output")
SUMS = ("calls", "aux_calls", "uncached_input", "cache_read", "cache_write_5m", "cache_write_1h", "output", "cost_usd")
#: What each recorded story served: calls, uncached, read, output (fixtures of the hosts).
SERVED = {
    codex.STORY_ID: (4, 80_000, 150_000, 200),
    copilot.STORY_ID: (4, 22, 74_900, 1_140),
    SESSION: (2, 50_000, 35_000, 104),
}


def others() -> list[Delivery]:
    """What hosts told beside Claude Code's story, and what gateways and programs told."""
    hosts = [*codex.whole_story(), *copilot.traces(), *copilot.hooks(), copilot.events(), copilot.store()]
    hosts += [*GEMINI["all"], *(Delivery("opencode-hook", line) for line in OPENCODE)]
    traps = {"litellm-proxy": ("T38", "T40", "T41"), "any-otlp-traces": ("T107", "T115", "T149")}
    told = [
        Delivery(feed, body)
        for feed, numbers in traps.items()
        for number in numbers
        for body in trap_bodies(number)
        if not body.startswith(b"\x1f\x8b")
    ]
    usage = {"input_tokens": 12, "cache_read_input_tokens": 91_000, "output_tokens": 640}
    record = {"session": "sender", "provider": "anthropic", "model": "claude-opus-4-6", "id": "msg_s1", "usage": usage}
    told.append(Delivery("usage-proxy", json.dumps(record).encode()))
    return [*hosts, *told]


def sums(parts: list[Delivery]) -> dict[str, dict[str, object]]:
    folds = deliveries.folded(parts, BOOK)
    return {session: {name: fold.summary.fields[name] for name in SUMS} for session, fold in folds.items()}


@pytest.mark.parametrize("seed", range(ORDERS))
def test_mixture__of_all_senders_in_any_order__the_same_sums(
    seed: int, record_property: Callable[[str, object], None]
) -> None:
    for key, value in (("feed", "(all together)"), ("case", "4 orders")):
        record_property(key, value)
    parts = [*deliveries.whole_story(), *others()]
    expected = sums(parts)
    assert sums(deliveries.shuffled(parts, seed)) == expected
    (story,) = [fields for fields in expected.values() if fields["calls"] == 9]
    assert (story["cache_read"], story["cost_usd"]) == (472_200, Decimal("1.428819"))
    found = {session: tuple(fields[n] for n in LEAVES) for session, fields in expected.items()}
    assert {session: found[session] for session in SERVED} == SERVED
    # OpenCode's session.
    assert (4, 60_000, 230_000, 200) in found.values()


@pytest.mark.parametrize("seed", range(2))
def test_teams__with_equal_ids__never_mix(seed: int, world: World) -> None:
    # One team has all of it, the other telemetry alone: ten calls, all writes of unknown lifetime (decision 1).
    mine = [(world.one, part) for part in [*deliveries.whole_story(), *others()]]
    theirs = [(world.two, part) for part in [*deliveries.logs_only(), *others()]]
    both = [*mine, *theirs]
    random.Random(seed).shuffle(both)
    for team, part in both:
        deliveries.deliver(team, [part])
    deliveries.fold_everything()
    for team, writes, hour in ((world.one, 323_000, 1_500), (world.two, 324_500, 0)):
        story = Session.objects.get(team=team, host="claude-code", cache_read=472_200)
        assert (story.calls, story.aux_calls, story.cache_write_5m, story.cache_write_1h) == (9, 1, writes, hour)
        assert sorted(Session.objects.filter(team=team).values_list("host", flat=True)) == sorted(
            Session.objects.filter(team=world.one).values_list("host", flat=True)
        )
        assert Session.objects.get(team=team, host_session_id="sender").cache_read == 91_000
