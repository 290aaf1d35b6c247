"""Many signals, one compaction; signals of one kind, several."""

from sessions_app.kernel.compactions import State, sightings
from sessions_app.kernel.readings import CompactionReading, Signal, Source

SOURCES = {Signal.TELEMETRY: Source.OTLP_LOG, Signal.BOUNDARY: Source.TRANSCRIPT, Signal.SUMMARY: Source.TRANSCRIPT}


def seen(signal: Signal, key: str, **fields: object) -> CompactionReading:
    return CompactionReading(session="s", source=SOURCES.get(signal, Source.HOOK), key=key, signal=signal, **fields)  # type: ignore[arg-type]


def test_sightings__five_signals_of_one_prompt__one_compaction() -> None:
    prompt = (1, "p")
    readings = [
        seen(Signal.PRE_HOOK, "h1", received_ms=9_000_000, prompt_id=prompt, trigger=(1, "manual")),
        seen(Signal.START_HOOK, "h2", received_ms=9_000_100, prompt_id=prompt),
        seen(Signal.POST_HOOK, "h3", received_ms=9_000_110, prompt_id=prompt),
        seen(Signal.TELEMETRY, "o", at_ms=5_000, prompt_id=prompt),
        seen(Signal.BOUNDARY, "b", at_ms=5_020, uuids=("b",)),
        seen(Signal.SUMMARY, "u", at_ms=5_021, parents=("b",), prompt_id=prompt),
    ]
    found = sightings(readings, (0, 10_000))
    assert [(s.key, s.state, s.trigger, len(s.all())) for s in found] == [("b", State.COMPLETED, "manual", 6)]


def test_sightings__boundaries_close_together__each_its_own() -> None:
    found = sightings([seen(Signal.BOUNDARY, key, at_ms=1_000 + n) for n, key in enumerate("abc")], None)
    assert [s.trigger for s in found] == ["unknown", "unknown", "unknown"]


def test_sightings__intentions_only__attempts_and_no_compaction() -> None:
    found = sightings([seen(Signal.PRE_HOOK, str(n), received_ms=n) for n in range(3)], None)
    assert [s.state for s in found] == [State.ATTEMPT] * 3


def test_sightings__failed_in_telemetry__failed() -> None:
    found = sightings([seen(Signal.TELEMETRY, "o", at_ms=5, succeeded=(1, "false"))], None)
    assert [s.state for s in found] == [State.FAILED]


def test_sightings__summary_without_boundary__not_completed() -> None:
    assert [s.state for s in sightings([seen(Signal.SUMMARY, "u", at_ms=5)], None)] == [State.SUMMARY_ONLY]


def test_sightings__hooks_replayed_a_day_later__paired_in_order() -> None:
    day = 86_400_000
    readings = [seen(Signal.BOUNDARY, f"b{n}", at_ms=n * 600_000) for n in (1, 2)]
    readings += [seen(Signal.POST_HOOK, f"h{n}", received_ms=day + n) for n in (1, 2)]
    assert [len(s.all()) for s in sightings(readings, (0, 1_300_000))] == [2, 2]


def test_sightings__live_hook_far_from_the_only_boundary__two_compactions() -> None:
    readings = [
        seen(Signal.BOUNDARY, "b", at_ms=100_000),
        seen(Signal.POST_HOOK, "h", received_ms=4_000_000),
    ]
    assert len(sightings(readings, (0, 5_000_000))) == 2
