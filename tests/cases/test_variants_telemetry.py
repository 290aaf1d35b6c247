"""Telemetry: variants of the traps, alone and beside transcripts, at values worked out by hand."""

import itertools
import json
from typing import Any

import pytest

from sessions_app.models import Session, Team
from sessions_app.services import prices
from tests.support import deliveries as given
from tests.support import told
from tests.support.deliveries import Delivery
from tests.support.pins import PINS


@pytest.fixture(autouse=True)
def _pinned(db: None) -> None:
    prices.seed(prices=PINS, source="test pins")


def folded(team: Team, *deliveries: Delivery) -> Session:
    Session.objects.all().delete()
    given.deliver(team, list(deliveries), final=True)
    given.fold_everything()
    return Session.objects.get()


def counters(*points: dict[str, Any], temporality: int | str = 1, session: str = "s") -> Delivery:
    """One export; each point is {kind, value, start, at} in seconds."""
    data = [
        {
            "asDouble": point["value"],
            "startTimeUnixNano": told.nanos(point["start"]),
            "timeUnixNano": told.nanos(point["at"]),
            "attributes": [
                {"key": key, "value": {"stringValue": value}}
                for key, value in (("session.id", session), ("type", point["kind"]), ("model", told.SONNET))
            ],
        }
        for point in points
    ]
    total = {"aggregationTemporality": temporality, "isMonotonic": True, "dataPoints": data}
    metric = {"name": "claude_code.token.usage", "sum": total}
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "claude-code"}}]}
    export = {"resourceMetrics": [{"resource": resource, "scopeMetrics": [{"metrics": [metric]}]}]}
    return Delivery("claude-code-otlp-metrics", json.dumps(export).encode())


def point(value: float, start: float, at: float, kind: str = "input") -> dict[str, Any]:
    return {"kind": kind, "value": value, "start": start, "at": at}


def test_numbers_as_strings_and_doubles__read_as_counts(teams: dict[str, Team]) -> None:
    record = told.request("s", 1, told.usage(1), request_id="r1")
    values = {
        "input_tokens": {"stringValue": "120"},
        "cache_read_tokens": {"doubleValue": 3000.0},
        "cache_creation_tokens": {"intValue": "400"},
        "output_tokens": {"intValue": 50},
        "duration_ms": {"stringValue": "1000"},
        "cost_usd": {"stringValue": "0.0035"},
    }
    record["attributes"] = [pair for pair in record["attributes"] if pair["key"] not in values]
    record["attributes"] += [{"key": key, "value": value} for key, value in values.items()]
    session = folded(teams["A"], told.logs(record))
    assert (session.uncached_input, session.cache_read, session.output) == (120, 3_000, 50)
    assert (session.cache_write_5m, session.cache_write_unknown_ttl) == (400, 400)
    assert str(session.host_cost_usd) == "0.003500000000"


@pytest.mark.parametrize("bad", ["12.7", "1,234", "-5", "9" * 30, " 7", "0x10", "NaN"])
def test_bad_count__refused_alone_and_told_as_partial_success(bad: str, teams: dict[str, Team]) -> None:
    good = told.request("s", 1, told.usage(10), request_id="r1")
    other = told.request("s", 2, told.usage(20), request_id="r2", input_tokens=bad)
    (receipt,) = given.deliver(teams["A"], [told.logs(good, other)])
    assert [(r.position, r.pointer.rpartition("/")[0]) for r in receipt.refused] == [
        (2, "/resourceLogs/0/scopeLogs/0/logRecords/1/attributes")
    ]
    given.fold_everything()
    assert Session.objects.get().uncached_input == 10


def test_time_zero__observed_time_counts_then_the_attribute_then_the_receipt(teams: dict[str, Team]) -> None:
    records = [told.request("s", 60 * n, told.usage(n), request_id=f"r{n}", duration_ms=0) for n in (1, 2, 3)]
    for record in records:
        record["timeUnixNano"] = "0"
    records[0]["observedTimeUnixNano"] = told.nanos(60)
    records[1]["attributes"].append({"key": "event.timestamp", "value": {"stringValue": told.at(120)}})
    session = folded(teams["A"], told.logs(*records))
    times = dict(session.call_rows.values_list("key", "started_at"))
    assert (times["r:r1"], times["r:r2"]) == (told.moment(60), told.moment(120))
    assert abs((times["r:r3"] - given.NOW).total_seconds()) < 5
    assert [warning["code"] for warning in session.warnings] == ["impossible_time"]


def test_sequence_that_starts_anew__without_request_ids__calls_of_their_own(teams: dict[str, Team]) -> None:
    """A resumed host counts its events from zero again; the numbers of two calls may agree."""
    records = [told.request("s", at, told.usage(7), **{"event.sequence": n}) for at in (0, 9_000) for n in (1, 2)]
    for record in records[1::2]:
        record["timeUnixNano"] = str(int(record["timeUnixNano"]) + 10**9)
    session = folded(teams["A"], told.logs(*records), told.logs(*records))
    assert (session.calls, session.uncached_input) == (4, 28)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_counters__deltas_in_any_order_and_twice__their_sum(order: tuple[int, ...], teams: dict[str, Team]) -> None:
    exports = [
        counters(point(100, 0, 60)),
        counters(point(150, 60, 120), point(9, 60, 120, "output")),
        counters(point(40, 120, 180), temporality="AGGREGATION_TEMPORALITY_DELTA"),
    ]
    session = folded(teams["A"], *(exports[n] for n in (*order, *order)))
    assert (session.calls, session.uncached_input, session.output) == (0, 290, 9)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[::5])
def test_counters__running_totals_over_a_restart__last_of_each_run(
    order: tuple[int, ...], teams: dict[str, Team]
) -> None:
    exports = [
        counters(point(100, 0, 60), temporality=2),
        counters(point(250, 0, 120), temporality=2),
        counters(point(40, 300, 360), temporality=2),
        counters(point(55, 300, 420), temporality=2),
    ]
    session = folded(teams["A"], *(exports[n] for n in order))
    assert session.uncached_input == 305


@pytest.mark.parametrize("first", ["counters", "calls"])
def test_counters_beside_calls__only_the_calls_count(first: str, teams: dict[str, Team]) -> None:
    sums = counters(point(500, 0, 60), point(70, 0, 60, "output"))
    calls = told.logs(told.request("s", 1, told.usage(100, out=10), request_id="r1"))
    parts = [sums, calls] if first == "counters" else [calls, sums]
    Session.objects.all().delete()
    for part in parts:
        given.deliver(teams["A"], [part])
        given.fold_everything()
    session = Session.objects.get()
    assert (session.calls, session.uncached_input, session.output) == (1, 100, 10)
    assert session.slots.count() == 1


def test_counters__equal_points_of_two_machines__two_series(teams: dict[str, Team]) -> None:
    """Two hosts resume one session; what tells them apart is an attribute that is not kept."""
    one = counters(point(100, 0, 60))
    two = json.loads(one.body)
    two["resourceMetrics"][0]["resource"]["attributes"].append({"key": "host.name", "value": {"stringValue": "b"}})
    session = folded(teams["A"], one, Delivery(one.feed, json.dumps(two).encode()))
    assert session.uncached_input == 200


def test_everything_at_once__transcript_logs_and_metrics__each_call_once(teams: dict[str, Team]) -> None:
    lines = [told.call("s", f"m{n}", n * 60, told.usage(50 * n, out=5 * n)) for n in (1, 2)]
    records = [told.request("s", n * 60 + 1, told.usage(50 * n, out=5 * n), request_id=f"req_m{n}") for n in (1, 2)]
    parts = [told.transcript(*lines), told.logs(*records), counters(point(150, 0, 200), point(15, 0, 200, "output"))]
    for order in itertools.permutations(parts):
        session = folded(teams["A"], *order)
        assert (session.calls, session.uncached_input, session.output) == (2, 150, 15)
