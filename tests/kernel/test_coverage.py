"""The coverage map, from what was seen. Who can tell what is taken from the recorded hosts."""

from collections.abc import Mapping

import pytest

from sessions_app.kernel.coverage import QUIET_MS, SHOWN, Cover, Seen, State, Todo, coverage, skew_ms
from sessions_app.kernel.readings import Source
from sessions_app.kernel.topics import Topic

NOW_MS = 1_796_000_000_000
CALLS = {Topic.USAGE: NOW_MS, Topic.HOST_COST: NOW_MS, Topic.VERSION: NOW_MS}


def seen(way: Source, topics: Mapping[Topic, int], *, host: str = "claude-code", last_ms: int = NOW_MS) -> Seen:
    return Seen(host, way, last_ms, topics)


def column(*what: Seen, host: str = "claude-code", billing: bool = False) -> dict[Topic, Cover]:
    return {cover.topic: cover for cover in coverage(host, what, billing_stated=billing)}


def test_coverage__every_signal__has_one_field_in_order() -> None:
    assert tuple(column()) == SHOWN


def test_coverage__nothing_seen__is_silent_and_says_who_could_tell_it() -> None:
    covers = column()
    assert {cover.state for cover in covers.values()} == {State.SILENT}
    assert covers[Topic.COMPACTION_CALL].able == (Source.OTLP_LOG, Source.PROXY)
    assert covers[Topic.COMPACTION_CALL].todo is Todo.CONNECT
    assert covers[Topic.BILLING].todo is Todo.STATE


def test_coverage__telemetry_alone__splits_no_writes_and_states_no_window() -> None:
    covers = column(seen(Source.OTLP_LOG, CALLS))
    assert covers[Topic.USAGE].state is State.RECEIVED
    assert covers[Topic.USAGE].told == ((Source.OTLP_LOG, NOW_MS),)
    for topic in (Topic.TTL_SPLIT, Topic.WINDOW, Topic.GAUGE):
        assert (covers[topic].state, covers[topic].basis) == (State.ESTIMATED, Topic.USAGE)
        assert covers[topic].todo is Todo.CONNECT
    assert covers[Topic.BRANCH].state is State.SILENT


def test_coverage__transcripts_alone__cannot_tell_the_compactions_own_call() -> None:
    covers = column(seen(Source.TRANSCRIPT, {Topic.USAGE: NOW_MS, Topic.COMPACTIONS: NOW_MS}))
    assert covers[Topic.COMPACTIONS].state is State.RECEIVED
    assert covers[Topic.COMPACTION_CALL].state is State.SILENT
    assert covers[Topic.COMPACTION_CALL].todo is Todo.CONNECT


def test_coverage__a_way_that_speaks_but_not_of_it__is_waited_for() -> None:
    covers = column(seen(Source.OTLP_LOG, CALLS), seen(Source.TRANSCRIPT, {Topic.USAGE: NOW_MS}))
    assert (covers[Topic.COMPACTIONS].state, covers[Topic.COMPACTIONS].todo) == (State.SILENT, Todo.WAIT)


def test_coverage__metrics_without_calls__only_estimate_usage() -> None:
    covers = column(seen(Source.OTLP_METRIC, {Topic.COUNTERS: NOW_MS}))
    assert (covers[Topic.USAGE].state, covers[Topic.USAGE].basis) == (State.ESTIMATED, Topic.COUNTERS)
    assert covers[Topic.WINDOW].state is State.SILENT


@pytest.mark.parametrize(
    ("age_ms", "state"), [(QUIET_MS, State.RECEIVED), (QUIET_MS + 1, State.ESTIMATED)], ids=["a week", "more"]
)
def test_coverage__a_gauge_that_stopped__is_said_to_have_stopped(age_ms: int, state: State) -> None:
    gauge = seen(Source.STATUSLINE, {Topic.GAUGE: NOW_MS - age_ms}, last_ms=NOW_MS - age_ms)
    cover = column(seen(Source.OTLP_LOG, CALLS), gauge)[Topic.GAUGE]
    assert cover.state is state
    assert cover.told == ((Source.STATUSLINE, NOW_MS - age_ms),)
    assert cover.todo is (Todo.NOTHING if state is State.RECEIVED else Todo.RESTORE)


def test_coverage__a_compaction_long_ago__is_still_received() -> None:
    told = {**CALLS, Topic.COMPACTIONS: NOW_MS - 90 * QUIET_MS}
    assert column(seen(Source.OTLP_LOG, told))[Topic.COMPACTIONS].state is State.RECEIVED


def test_coverage__what_no_way_can_tell__is_impossible() -> None:
    covers = column(seen(Source.CANONICAL, CALLS, host="codex"), host="codex")
    assert covers[Topic.MISS_REASON].state is State.IMPOSSIBLE
    assert covers[Topic.MISS_REASON].todo is Todo.NOTHING


def test_coverage__another_host__says_nothing_here() -> None:
    assert column(seen(Source.CANONICAL, CALLS, host="codex"))[Topic.USAGE].state is State.SILENT


def test_coverage__limits_of_a_subscription__hint_at_how_it_is_paid() -> None:
    limits = seen(Source.STATUSLINE, {Topic.RATE_LIMITS: NOW_MS})
    assert column(limits)[Topic.BILLING].state is State.ESTIMATED
    assert column(limits, billing=True)[Topic.BILLING].state is State.RECEIVED


@pytest.mark.parametrize(
    ("leads", "expected"),
    [((), None), ((-40,), -40), ((-40, -600_000, -50), -50), ((61_000, 60_000, -10_000_000, 60_500), 60_000)],
)
def test_skew__one_late_delivery__does_not_count(leads: tuple[int, ...], expected: int | None) -> None:
    assert skew_ms(leads) == expected
