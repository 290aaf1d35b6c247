"""Windows, zones, compactions and clocks: variants of the traps, at values worked out by hand."""

import itertools

import pytest

from sessions_app.models import Compaction, Session, Team
from sessions_app.services import prices
from tests.support import deliveries as given
from tests.support import told
from tests.support.deliveries import Delivery
from tests.support.pins import PINS

BIG = "claude-opus-4-6"


@pytest.fixture(autouse=True)
def _pinned(db: None) -> None:
    prices.seed(prices=PINS, source="test pins")


def folded(team: Team, *deliveries: Delivery) -> Session:
    given.deliver(team, list(deliveries), final=True)
    given.fold_everything()
    return Session.objects.get()


def zones(session: Session) -> list[str]:
    return list(session.call_rows.exclude(zone="").order_by("number").values_list("zone", flat=True))


def point(message: str, seconds: float, occupancy: int, **fields: object) -> told.Line:
    return told.call("s", message, seconds, told.usage(5, occupancy - 5), **fields)


def test_auto_compaction_near_a_million__window_stays(teams: dict[str, Team]) -> None:
    lines = [
        point("m1", 0, 600_000, model=BIG),
        told.compacted("s", 9, {"trigger": "auto", "preTokens": 998_659}),
    ]
    session = folded(teams["A"], told.transcript(*lines))
    assert (session.window, session.window_origin, zones(session)) == (1_000_000, "assumed", ["AMBER"])


def test_auto_compaction_without_its_count__bounded_by_the_call_before(teams: dict[str, Team]) -> None:
    boundary = told.compacted("s", 9, {"trigger": "auto", "preTokens": None})
    session = folded(teams["A"], told.transcript(point("m1", 0, 170_000, model=BIG), boundary))
    assert (session.window, session.window_origin, zones(session)) == (200_000, "bounded", ["RED"])


def test_auto_compaction_told_by_telemetry_alone__bounded_by_the_call_before(teams: dict[str, Team]) -> None:
    record = told.request("s", 1, told.usage(5, 169_995), request_id="r1", model=BIG)
    done = told.event("s", 9, "compaction", trigger="auto", success="true", pre_tokens="10923", post_tokens="600")
    session = folded(teams["A"], told.logs(record, done))
    assert (session.window, session.window_origin, zones(session)) == (200_000, "bounded", ["RED"])


def test_auto_compaction_on_a_small_model__does_not_bound_the_large_one(teams: dict[str, Team]) -> None:
    lines = [
        point("m1", 0, 170_000),
        told.compacted("s", 9, {"trigger": "auto", "preTokens": 170_000}),
        point("m2", 20, 150_000, model=BIG),
    ]
    session = folded(teams["A"], told.transcript(*lines))
    assert (session.window, session.window_origin) == (1_000_000, "assumed")
    assert zones(session) == ["RED", "GREEN"]


def test_window_of_the_status_line__under_the_marked_name__holds_for_the_plain_one(teams: dict[str, Team]) -> None:
    sample = told.gauge("s", 5_000, told.usage(5, 149_995), window=1_000_000, model="claude-sonnet-4-5[1m]")
    session = folded(teams["A"], told.transcript(point("m1", 0, 150_000)), told.gauged(sample, 1))
    assert (session.window, session.window_origin, zones(session)) == (1_000_000, "stated", ["GREEN"])


def test_window_of_the_status_line__by_a_cloud_name__holds_for_the_plain_one(teams: dict[str, Team]) -> None:
    name = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    sample = told.gauge("s", 5_000, told.usage(5, 149_995), window=500_000, model=name)
    session = folded(teams["A"], told.transcript(point("m1", 0, 150_000)), told.gauged(sample, 1))
    assert (session.window, session.window_origin, zones(session)) == (500_000, "stated", ["GREEN"])


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_status_line__counts_its_time_anew_after_a_resume__newest_is_last(
    order: tuple[int, ...], teams: dict[str, Team]
) -> None:
    samples = [
        told.gauged(told.gauge("s", 900_000, told.usage(5, 99_995), cost=1), 900),
        told.gauged(told.gauge("s", 1_000_000, told.usage(5, 159_995), cost=2), 1_000),
        told.gauged(told.gauge("s", 4_000, told.usage(5, 184_995), cost=3), 90_000),
    ]
    session = folded(teams["A"], *(samples[n] for n in order))
    assert (session.last_occupancy, session.zone) == (185_000, "CRITICAL")
    assert session.current["points"] == ["AMBER", "RED", "CRITICAL"]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_status_line__delivered_at_once_in_any_order__ordered_by_its_own_time(
    order: tuple[int, ...], teams: dict[str, Team]
) -> None:
    samples = [told.gauge("s", 60_000 * n, told.usage(5, 60_000 * n - 5), cost=n) for n in (1, 2, 3)]
    session = folded(teams["A"], *(told.gauged(samples[n], 500 + place / 1000) for place, n in enumerate(order)))
    assert (session.last_occupancy, session.zone) == (180_000, "CRITICAL")


def test_boundaries_without_metadata__unknown_trigger_and_figures(teams: dict[str, Team]) -> None:
    lines = [
        point("m1", 0, 90_000),
        told.compacted("s", 200, None),
        point("m2", 300, 90_000),
        told.compacted("s", 500, {"trigger": "sideways", "preTokens": "many", "postTokens": -1}),
        point("m3", 600, 90_000),
        told.compacted("s", 800, {"trigger": True, "preTokens": 1.5e300, "durationMs": False}),
    ]
    session = folded(teams["A"], told.transcript(*lines))
    assert session.compactions == 3
    rows = list(Compaction.objects.order_by("number"))
    assert [(c.trigger, c.before_tokens, c.before_origin) for c in rows] == [("unknown", 90_000, "last_call")] * 3
    assert (session.zone, session.last_occupancy) == ("UNKNOWN", 90_000)


def test_microcompact_then_compact__one_of_each(teams: dict[str, Team]) -> None:
    micro = {"trigger": "auto", "preTokens": 150_000, "tokensSaved": 40_000}
    lines = [
        point("m1", 0, 150_000),
        told.compacted(
            "s", 5, None, subtype="microcompact_boundary", microcompactMetadata=micro, uuid="micro", parentUuid="s-m1-0"
        ),
        point("m2", 10, 110_000),
        told.compacted("s", 15, {"trigger": "manual", "preTokens": 110_220}),
        told.asked("s", 15, isCompactSummary=True, parentUuid="s-boundary-15"),
        point("m3", 20, 20_000),
    ]
    session = folded(teams["A"], told.transcript(*lines))
    assert (session.compactions, session.depth, zones(session)) == (1, 1, ["RED", "AMBER", "GREEN"])
    assert sorted(Compaction.objects.values_list("kind", "state")) == [
        ("compaction", "completed"),
        ("micro", "completed"),
    ]
    assert Compaction.objects.get(kind="compaction").before_by_last_call == 110_000


def test_clock_set_back_over_deliveries__order_by_the_lines_between(teams: dict[str, Team]) -> None:
    """Only lines of the user and attachments, each in a delivery of its own, tie one call to the next."""
    used = (120_000, 160_000, 185_000)
    first = point("m1", 600, used[0], uuid="a1")
    back = told.asked("s", 590, uuid="u1", parentUuid="a1")
    note = {"type": "attachment", "sessionId": "s", "uuid": "n1", "parentUuid": "u1", "timestamp": told.at(100)}
    second = point("m2", 110, used[1], uuid="a2", parentUuid="n1")
    third = point("m3", 120, used[2], uuid="a3", parentUuid="a2")
    for order in itertools.permutations((first, back, note, second, third)):
        Session.objects.all().delete()
        session = folded(teams["A"], *(told.transcript(line) for line in order))
        assert zones(session) == ["AMBER", "RED", "CRITICAL"]
        assert [w["code"] for w in session.warnings] == ["clock_step_back"]
        assert (session.first_at, session.last_at) == (told.moment(100), told.moment(600))


@pytest.mark.parametrize(
    "time",
    [
        "1970-01-01T00:00:00Z",
        "2099-01-01T00:00:00Z",
        "0001-01-01T00:00:00",
        "9999-12-31T23:59:59Z",
        "soon",
        0,
        -5,
        1e308,
        True,
        [],
        {"a": 1},
    ],
)
def test_impossible_time__kept_flagged_and_booked_on_receipt(time: object, teams: dict[str, Team]) -> None:
    lines = [point("m1", 0, 10_000), point("m2", 60, 20_000, timestamp=time)]
    session = folded(teams["A"], told.transcript(*lines))
    assert (session.calls, [w["code"] for w in session.warnings]) == (2, ["impossible_time"])
    odd = session.call_rows.get(key="m:m2")
    assert abs((odd.started_at - given.NOW).total_seconds()) < 5
    assert session.first_at == session.last_at == told.moment(0)


def test_prompt_storm_before_a_compaction__attempts_and_one_compaction(teams: dict[str, Team]) -> None:
    storm = [told.hook("s", "PreCompact", trigger="auto", custom_instructions="") for _ in range(200)]
    post = told.hook("s", "PostCompact", trigger="auto", compact_summary="x")
    session = folded(teams["A"], *storm, post)
    assert session.compactions == 1
    assert Compaction.objects.filter(state="attempt").count() == 199


def test_hooks_sent_days_later__join_the_compactions_of_the_transcript(teams: dict[str, Team]) -> None:
    lines = [
        point("m1", 0, 150_000),
        told.compacted("s", 100, {"trigger": "manual", "preTokens": 150_220}),
        point("m2", 3_600, 150_000),
        told.compacted("s", 7_200, {"trigger": "auto", "preTokens": 150_220}),
    ]
    hooks = [
        told.hook("s", name, trigger=trigger, **({} if name == "PreCompact" else {"compact_summary": trigger}))
        for trigger in ("manual", "auto")
        for name in ("PreCompact", "PostCompact")
    ]
    for parts in ([told.transcript(*lines), *hooks], [*hooks, told.transcript(*lines)]):
        Session.objects.all().delete()
        session = folded(teams["A"], *parts)
        assert (session.compactions, session.depth) == (2, 2)
        assert Compaction.objects.filter(state="attempt").count() == 0


def test_prompt_larger_than_its_window__unclamped_critical_and_suspect(teams: dict[str, Team]) -> None:
    session = folded(teams["A"], told.transcript(point("m1", 0, 214_600)))
    assert (zones(session), session.peak_occupancy) == (["CRITICAL"], 214_600)
    assert [w["code"] for w in session.warnings] == ["window_suspect"]


def test_subagent_compaction__leaves_the_main_chain_alone(teams: dict[str, Team]) -> None:
    side = {"isSidechain": True, "agentId": "g"}
    lines = [
        point("m1", 0, 120_000),
        point("m2", 10, 150_000, **side),
        told.compacted("s", 20, {"trigger": "auto", "preTokens": 150_000}, **side),
        point("m3", 30, 20_000, **side),
    ]
    session = folded(teams["A"], told.transcript(*lines))
    assert (session.zone, session.last_occupancy, session.depth, zones(session)) == ("AMBER", 120_000, 0, ["AMBER"])
