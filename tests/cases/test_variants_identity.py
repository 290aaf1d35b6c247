"""Which records are one call: variants of the traps about ids, copies and several sources of one session."""

import itertools
from collections.abc import Iterator

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


def sums(*deliveries: Delivery, team: Team) -> tuple[int, int, int]:
    """(calls, uncached input, output) over all sessions."""
    given.deliver(team, list(deliveries), final=True)
    given.fold_everything()
    rows = list(Session.objects.all())
    return sum(r.calls + r.aux_calls for r in rows), sum(r.uncached_input for r in rows), sum(r.output for r in rows)


def orders(*deliveries: Delivery) -> Iterator[list[Delivery]]:
    return map(list, itertools.permutations(deliveries))


def test_uuid_alone__same_line_under_another_session__one_call(teams: dict[str, Team]) -> None:
    used = told.usage(100, out=10)
    original = told.call("s-a", None, 0, used, uuid="line-1")
    copy = told.call("s-b", None, 0, used, uuid="line-1")
    assert sums(told.transcript(original), told.transcript(copy), team=teams["A"]) == (1, 100, 10)


def test_uuid_alone__beside_telemetry_without_request_id__one_call(teams: dict[str, Team]) -> None:
    used = told.usage(100, 5_000, 200, 10)
    line = told.call("s", None, 0.5, used)
    assert sums(told.transcript(line), told.logs(told.request("s", 1, used)), team=teams["A"]) == (1, 100, 10)


def test_request_id_in_transcript_alone__telemetry_without_any__one_call(teams: dict[str, Team]) -> None:
    used = told.usage(100, 5_000, 200, 10)
    line = told.call("s", "m1", 0.5, used)
    assert sums(told.transcript(line), told.logs(told.request("s", 1, used)), team=teams["A"]) == (1, 100, 10)


def test_client_request_id__beside_a_transcript_with_request_ids__one_call(teams: dict[str, Team]) -> None:
    used = told.usage(100, 5_000, 200, 10)
    record = told.request("s", 1, used, client_request_id="c-1")
    assert sums(told.transcript(told.call("s", "m1", 0.5, used)), told.logs(record), team=teams["A"]) == (1, 100, 10)


def test_partial_output__beside_telemetry_without_ids__one_call_with_the_whole_output(teams: dict[str, Team]) -> None:
    line = told.call("s", "m1", 0.5, told.usage(100, 5_000, 200, 3), requestId=None, stop=None)
    record = told.request("s", 1, told.usage(100, 5_000, 200, 742))
    assert sums(told.transcript(line), told.logs(record), team=teams["A"]) == (1, 100, 742)


def test_final_output__differs_from_telemetry_without_ids__two_calls(teams: dict[str, Team]) -> None:
    line = told.call("s", "m1", 0.5, told.usage(100, 5_000, 200, 30), requestId=None)
    record = told.request("s", 1, told.usage(100, 5_000, 200, 742))
    assert sums(told.transcript(line), told.logs(record), team=teams["A"])[0] == 2


def test_side_file_with_another_request_id__beside_telemetry_of_the_first__one_call(teams: dict[str, Team]) -> None:
    used = told.usage(100, out=10)
    main = told.call("s", "m1", 0, used, requestId="req_1")
    side = told.call("s", "m1", 0, used, requestId="req_9", isSidechain=True, agentId="aside")
    record = told.request("s", 0.5, used, request_id="req_1")
    for order in orders(told.transcript(main), told.transcript(side), told.logs(record)):
        Session.objects.all().delete()
        assert sums(*order, team=teams["A"]) == (1, 100, 10)
        assert Session.objects.get().subagent_calls == 0


def test_chain_of_ids_over_three_sessions__one_call_in_any_order(teams: dict[str, Team]) -> None:
    """Telemetry knows the request id only, a fork of the fork the message id only; the fork ties them."""
    used = told.usage(100, out=10)
    record = told.logs(told.request("s-b", 1, used, request_id="req_m1"))
    fork = told.transcript(told.call("s-c", "m1", 0.5, used))
    fork_of_fork = told.transcript(told.call("s-a", "m1", 0.5, used, requestId=None))
    for order in orders(record, fork, fork_of_fork):
        Session.objects.all().delete()
        assert sums(*order, team=teams["A"]) == (1, 100, 10)


def test_one_call_in_two_hosts_under_one_session_id__counted_once(teams: dict[str, Team]) -> None:
    used = told.usage(100, out=10)
    line = told.transcript(told.call("s", "m1", 0, used))
    proxy = Delivery(
        "canonical",
        b'{"type":"proxy_call","host":"litellm","session":"s","message_id":"m1","model":"claude-sonnet-4-5",'
        b'"started_at":"2026-11-02T09:00:00Z","uncached_input":100,"output":10}',
    )
    for order in orders(line, proxy):
        Session.objects.all().delete()
        assert sums(*order, team=teams["A"]) == (1, 100, 10)
        assert Session.objects.count() == 2


def test_fork_that_names_its_parent__the_parent_keeps_what_is_its_own(teams: dict[str, Team]) -> None:
    """The copies hold the moments of the originals, so only the name of the parent tells which is which."""
    used = told.usage(100, out=10)
    parent = told.transcript(told.call("z-parent", "m1", 0, used), told.call("z-parent", "m2", 60, used))
    marks = {"forkedFrom": {"sessionId": "z-parent", "messageUuid": "x"}}
    child = told.transcript(
        told.call("a-child", "m1", 0, used, **marks),
        told.call("a-child", "m2", 60, used, **marks),
        told.call("a-child", "m3", 7_200, used),
    )
    for order in orders(parent, child):
        Session.objects.all().delete()
        assert sums(*order, team=teams["A"]) == (3, 300, 30)
        rows = {s.host_session_id: s for s in Session.objects.select_related("parent")}
        assert (rows["z-parent"].calls, rows["a-child"].calls, rows["a-child"].inherited_calls) == (2, 1, 2)
        assert rows["z-parent"].parent is None
        assert rows["a-child"].parent == rows["z-parent"]


def test_fork_of_a_fork__each_call_once_and_compactions_too(teams: dict[str, Team]) -> None:
    used = told.usage(100, out=10)
    summary = {"trigger": "manual", "preTokens": 90_000}

    def story(session: str, length: int) -> list[told.Line]:
        lines = [told.call(session, "m1", 0, used), told.compacted(session, 30, summary)]
        return [*lines, *(told.call(session, f"m{n}", 60 * n, used) for n in range(2, length))]

    copies = [told.transcript(*story(name, 3 + n)) for n, name in enumerate(("s-b", "s-c", "s-a"))]
    for order in orders(*copies):
        Session.objects.all().delete()
        assert sums(*order, team=teams["A"]) == (4, 400, 40)
        assert sum(Session.objects.values_list("compactions", flat=True)) == 1


def test_hooks_of_a_compaction_whose_boundary_was_copied__one_compaction(teams: dict[str, Team]) -> None:
    """The fork is taken for the original (its id is smaller); the hooks came in the other session."""
    used = told.usage(100, out=10)
    summary = {"trigger": "manual", "preTokens": 90_000}

    def story(session: str) -> Delivery:
        return told.transcript(told.call(session, "m1", 0, used), told.compacted(session, 30, summary))

    hooks = [told.hook("s-b", name, trigger="manual") for name in ("PreCompact", "PostCompact")]
    sums(story("s-b"), story("s-a"), *hooks, team=teams["A"])
    assert sum(Session.objects.values_list("compactions", flat=True)) == 1


def test_nested_subagents__files_before_the_main_one__threads_of_one_session(teams: dict[str, Team]) -> None:
    used = told.usage(100, out=10)
    inner = told.transcript(told.call("s", "m3", 20, used, isSidechain=True, agentId="inner"))
    outer = told.transcript(told.call("s", "m2", 10, used, isSidechain=True, agentId="outer"))
    main = told.transcript(told.call("s", "m1", 0, used), told.call("s", "m4", 30, used))
    assert sums(inner, outer, main, team=teams["A"]) == (4, 400, 40)
    session = Session.objects.get()
    assert (session.subagent_calls, session.threads) == (2, 3)


def test_stream_of_the_sdk__subagent_by_its_tool_use__no_point_of_the_main_chain(teams: dict[str, Team]) -> None:
    main = told.call("s", "m1", 0, told.usage(120_000), sessionId=None, session_id="s")
    inner = told.call("s", "m2", 5, told.usage(20_000), sessionId=None, session_id="s", parent_tool_use_id="toolu_1")
    assert sums(told.transcript(main, inner), team=teams["A"])[0] == 2
    session = Session.objects.get()
    assert (session.zone, session.subagent_calls, session.last_occupancy) == ("AMBER", 1, 120_000)


def test_owner__by_telemetry_that_began_before_its_first_record__the_same_for_both(teams: dict[str, Team]) -> None:
    """The start of a call is worked out from its end, so it lies before everything else that is known of a session."""
    used = told.usage(100, out=10)
    early = told.logs(
        told.request("s-z", 5, told.usage(1), request_id="r0", duration_ms=5_000),
        told.request("s-z", 61, used, request_id="req_m1"),
    )
    late = told.transcript(told.asked("s-a", 3), told.call("s-a", "m1", 60.5, used))
    for order in orders(early, late):
        Session.objects.all().delete()
        assert sums(*order, team=teams["A"]) == (2, 101, 10)


def test_line_ids_that_differ_in_their_first_characters__no_shared_chain(teams: dict[str, Team]) -> None:
    """A clock was set back, and an agent counts its lines like the main chain does."""
    tail = "-0000-4000-8000-000000000001"
    first = told.call("s", "m1", 600, told.usage(120_000), uuid="aaaaaaaa" + tail)
    second = told.call("s", "m2", 0, told.usage(160_000), uuid="aaaaaaaa-x", parentUuid="aaaaaaaa" + tail)
    side = told.call("s", "m3", 900, told.usage(9), uuid="bbbbbbbb" + tail, isSidechain=True, agentId="g")
    sums(told.transcript(first, second, side), team=teams["A"])
    assert Session.objects.get().last_occupancy == 160_000


def test_compaction__one_name_in_two_sources__one_compaction(teams: dict[str, Team]) -> None:
    line = told.transcript(told.call("s", "m1", 0, told.usage(9)), told.compacted("s", 30, uuid="b-1"))
    own = Delivery(
        "canonical",
        b'{"type":"compaction","host":"claude-code","session":"s","id":"b-1","at":"2026-11-02T09:00:30Z"}',
    )
    for order in orders(line, own):
        Session.objects.all().delete()
        sums(*order, team=teams["A"])
        assert Session.objects.get().compactions == 1
