"""The live state while the recorded story happens: what is known at each moment, and how far behind."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from sessions_app.feeds.base import Context
from sessions_app.feeds.registry import FEEDS
from sessions_app.kernel.live_state import LiveState, Now, advanced, now, told_by
from sessions_app.kernel.zones import WindowOrigin, Zone
from sessions_app.models import Session, Team
from sessions_app.services import living, prices
from tests.support import deliveries as story
from tests.support.pins import BOOK, PINS

HOOK = "claude-code-hook"


def states(deliveries: list[story.Delivery], *, start: int = story.NOW_MS) -> dict[str, LiveState]:
    """Live state by thread after these deliveries, a second apart."""
    held: dict[str, LiveState] = {}
    for number, delivery in enumerate(deliveries):
        received = start + 1_000 * number
        parsed = FEEDS[delivery.feed].parse(delivery.body, Context(received_ms=received))
        for reading in (r for item in parsed.items for r in item.readings):
            told = told_by(reading, received)
            if told:
                held[told[0]] = advanced(held.get(told[0], LiveState()), [told[1]])
    return held


def main(deliveries: list[story.Delivery]) -> Now:
    return now(states(deliveries).get("", LiveState()), BOOK)


def lines(upto: str) -> story.Delivery:
    """The transcript up to and including the response of this message id."""
    body = max(story.transcripts(), key=lambda d: len(d.body)).body.splitlines(keepends=True)
    last = max(n for n, line in enumerate(body) if upto.encode() in line)
    return story.Delivery("claude-code-transcript", b"".join(body[: last + 1]))


def test_now__nothing_told__unknown_and_not_zero() -> None:
    state = now(LiveState(), BOOK)
    assert (state.occupancy.value, state.zone, state.window.tokens) == (None, Zone.UNKNOWN, None)


def test_now__after_call_five__its_occupancy_with_expiry_and_price_of_going_cold() -> None:
    state = main([lines("msg_mock00005")])
    assert (state.occupancy.value, state.occupancy.origin, state.occupancy.calls_behind) == (103_804, "transcript", 0)
    assert (state.zone, state.window.origin) == (Zone.AMBER, WindowOrigin.ASSUMED)
    assert (state.cache_ttl_seconds, state.cache_ttl_assumed) == (300, False)
    assert state.cold_costs_usd == Decimal(103_800) * Decimal("3.45") / 10**6


def test_now__telemetry_beside_the_transcript__lifetime_as_it_was_written() -> None:
    state = main([*story.logs_only(), *story.transcripts()])
    assert (state.occupancy.value, state.cache_ttl_seconds, state.cache_ttl_assumed) == (28_505, 300, False)
    alone = main(story.logs_only())
    assert (alone.cache_ttl_seconds, alone.cache_ttl_assumed) == (300, True)


def test_now__tools_of_a_call_that_is_not_known_yet__so_many_behind() -> None:
    tools = [d for d in story.hooks() if b"toolu_0006" in d.body and b"PostToolUse" in d.body]
    state = main([lines("msg_mock00005"), *tools])
    assert (state.occupancy.value, state.occupancy.calls_behind) == (103_804, 1)
    assert main([lines("msg_mock00005"), *tools, lines("msg_mock00006")]).occupancy.calls_behind == 0


def test_now__compacted_by_boundary__unknown_until_the_next_usage() -> None:
    state = main([lines("compact_boundary")])
    assert (state.occupancy.value, state.zone, state.cache_expires_at) == (None, Zone.UNKNOWN, None)
    assert main([lines("msg_mock00009")]).occupancy.value == 24_005


def test_now__compacted_by_hook_alone__older_usage_is_not_current() -> None:
    post = [d for d in story.hooks() if b'"PostCompact"' in d.body]
    assert main([lines("msg_mock00007"), *post]).zone is Zone.UNKNOWN


def test_now__gauge_after_a_compaction__no_expiry_of_what_was_held_before() -> None:
    state = main([lines("compact_boundary"), samples()[3]])
    assert (state.occupancy.value, state.cache_expires_at, state.cold_costs_usd) == (28_505, None, None)


def test_now__a_late_copy_of_old_lines__changes_nothing() -> None:
    whole = states([lines("msg_mock00009")])[""]
    late = states([lines("msg_mock00009"), lines("msg_mock00003")])[""]
    assert replace(now(late, BOOK)) == replace(now(whole, BOOK))


def samples() -> list[story.Delivery]:
    path = story.INPUTS / "hosts" / "claude-code-2.1.197-statusline" / "statusline.jsonl"
    return [story.Delivery("claude-code-statusline", line) for line in path.read_bytes().splitlines()]


def test_now__statusline_story__null_red_unknown_green() -> None:
    seen: list[Any] = []
    for count in range(1, 5):
        state = main(samples()[:count])
        seen.append((state.occupancy.value, state.zone, state.window.origin))
    stated = WindowOrigin.STATED
    assert seen == [
        (None, Zone.UNKNOWN, stated),
        (153_604, Zone.RED, stated),
        (None, Zone.UNKNOWN, stated),
        (28_505, Zone.GREEN, stated),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_advance__story_in_any_order__one_state_in_the_database(seed: int, teams: dict[str, Team]) -> None:
    prices.seed(prices=PINS, source="test pins")
    story.deliver(teams["A"], story.shuffled(story.transcripts() + story.logs_only(), seed))
    state = living.now_of(Session.objects.get())
    assert (state.occupancy.value, state.zone, state.window.tokens) == (28_505, Zone.GREEN, 200_000)
