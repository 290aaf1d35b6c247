"""From coverage to signals, and what the shipped table makes of it."""

from collections.abc import Mapping

from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.liveness import Sent, asleep
from sessions_app.kernel.coverage import Seen, coverage
from sessions_app.kernel.readings import Source
from sessions_app.kernel.told_signals import signals_told
from sessions_app.kernel.topics import Topic

AT = 1_796_000_000_000


def told(way: Source, *topics: Topic, host: str = "claude-code") -> Mapping[str, Sent]:
    seen = [Seen(host, way, AT, dict.fromkeys(topics, AT))]
    return signals_told(coverage(host, seen, billing_stated=False))


def sleepers(signals: Mapping[str, Sent]) -> list[str]:
    return [
        each.rule for each in asleep(DEFAULT_TABLE, {name: {"claude-code": sent} for name, sent in signals.items()})
    ]


def test_signals__transcripts_with_calls__know_the_context_and_estimate_the_window() -> None:
    signals = told(Source.TRANSCRIPT, Topic.USAGE)
    assert (signals["context_tokens"], signals["window_tokens"]) == (Sent.RECEIVED, Sent.ESTIMATED)
    # No compaction yet, from a way that would tell one: the depth is zero, not unknown.
    assert signals["depth"] is Sent.RECEIVED
    assert "budget_ceiling_tokens" not in signals


def test_signals__without_sizes_and_budget__p1_and_p5_sleep() -> None:
    assert sleepers(told(Source.TRANSCRIPT, Topic.USAGE)) == ["P1", "P5"]
    assert sleepers(told(Source.TRANSCRIPT, Topic.USAGE, Topic.TOOL_SIZES)) == ["P1"]


def test_signals__sums_of_a_counter__tell_nothing_of_the_context() -> None:
    signals = told(Source.OTLP_METRIC, Topic.COUNTERS)
    assert signals["context_tokens"] is Sent.SILENT
    assert "P3" in sleepers(signals)


def test_signals__the_gauge_alone__knows_context_and_window() -> None:
    signals = told(Source.STATUSLINE, Topic.GAUGE, Topic.WINDOW)
    assert (signals["context_tokens"], signals["window_tokens"]) == (Sent.RECEIVED, Sent.RECEIVED)
    assert signals["idle_seconds"] is Sent.SILENT
