"""One call seen by several records is one call; two calls are never one because their values agree."""

from sessions_app.kernel.identity import unite
from sessions_app.kernel.readings import CallReading, Source


def call(key: str, source: Source = Source.TRANSCRIPT, **fields: object) -> CallReading:
    base: dict[str, object] = {"first_ms": 1_000, "uncached_input": 5, "cache_read": 100, "write_total": 7, "output": 9}
    return CallReading(session="s", source=source, key=key, **{**base, **fields})  # type: ignore[arg-type]


def keys(readings: list[CallReading]) -> list[list[str]]:
    return sorted(sorted(r.key for r in group) for group in unite(readings))


def test_unite__request_id_in_telemetry_and_transcript__one_call() -> None:
    lines = call("m1", message_id="m1", request_id="r1")
    telemetry = call("t1", Source.OTLP_LOG, request_id="r1", output=4)
    assert keys([lines, telemetry]) == [["m1", "t1"]]


def test_unite__two_message_ids_with_equal_values__two_calls() -> None:
    assert keys([call("m1", message_id="m1"), call("m2", message_id="m2")]) == [["m1"], ["m2"]]


def test_unite__one_request_id_for_two_messages__two_calls_and_the_vector_decides() -> None:
    first = call("m1", message_id="m1", request_id="r", output=1)
    second = call("m2", message_id="m2", request_id="r", output=2)
    telemetry = call("t", Source.OTLP_LOG, request_id="r", output=2)
    assert keys([first, second, telemetry]) == [["m1"], ["m2", "t"]]


def test_unite__gateway_drops_the_header__matched_by_vector_and_time() -> None:
    lines = call("m1", message_id="m1", first_ms=10_000)
    telemetry = call("t1", Source.OTLP_LOG, first_ms=9_000, ended_ms=12_000)
    assert keys([lines, telemetry]) == [["m1", "t1"]]


def test_unite__without_ids_but_far_apart__two_calls() -> None:
    lines = call("m1", message_id="m1", first_ms=10_000)
    telemetry = call("t1", Source.OTLP_LOG, first_ms=90_000, ended_ms=91_000)
    assert keys([lines, telemetry]) == [["m1"], ["t1"]]


def test_unite__two_equal_calls_without_ids__matched_one_to_one() -> None:
    lines = [call(f"m{n}", message_id=f"m{n}", first_ms=1_000 * n) for n in (1, 2)]
    telemetry = [call(f"t{n}", Source.OTLP_LOG, first_ms=1_000 * n + 10) for n in (1, 2)]
    assert keys([*lines, *telemetry]) == [["m1", "t1"], ["m2", "t2"]]


def test_unite__client_lines_without_any_id__each_its_own() -> None:
    assert keys([call("u1"), call("u2")]) == [["u1"], ["u2"]]


def test_unite__copied_into_a_fork_with_its_moment__one_call() -> None:
    copy = CallReading(session="fork", source=Source.TRANSCRIPT, key="m1", message_id="m1", first_ms=1_000)
    assert [len(group) for group in unite([call("m1", message_id="m1"), copy])] == [2]


def test_unite__ids_counted_from_one_again_in_a_later_session__two_calls() -> None:
    later = CallReading(session="later", source=Source.TRANSCRIPT, key="m1", message_id="m1", first_ms=900_000)
    assert [len(group) for group in unite([call("m1", message_id="m1"), later])] == [1, 1]


def test_unite__telemetry_of_a_later_session_with_a_reused_request_id__not_the_old_call() -> None:
    lines = call("m1", message_id="m1", request_id="r1")
    later = CallReading(session="later", source=Source.OTLP_LOG, key="r1", request_id="r1", first_ms=900_000)
    assert keys([lines, later]) == [["m1"], ["r1"]]
