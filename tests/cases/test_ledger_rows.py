"""The ledger in the database: parts and sums with each fold, repricing, accepted losses, markers."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction
from django.db.models import Sum

from ecm_site.common.problems import DomainError
from sessions_app.models import (
    AcceptedLoss,
    Call,
    Marker,
    MissSlot,
    PriceRow,
    Project,
    Repricing,
    Session,
    SourceRow,
    Team,
    UsageSlot,
)
from sessions_app.services import accepting, explaining, marking, prices, pricing_rows, repricing
from tests.support import deliveries as story
from tests.support import told
from tests.support.pins import PINNED, PINS
from tests.support.world import NOW, World, build, missed_in, session_in

PARTS = ("needed_usd", "expected_usd", "avoidable_usd", "unexplained_usd")
STORY_PARTS = tuple(map(Decimal, ("0.783462", "0.118542", "0", "0.526815")))


@pytest.fixture(autouse=True)
def _pinned(db: None) -> None:
    prices.seed(prices=PINS, source="test pins")


def slot_sums() -> tuple[Decimal, ...]:
    sums = UsageSlot.objects.aggregate(**{name: Sum(name) for name in PARTS})
    return tuple(sums[name] for name in PARTS)


def test_fold__whole_story__parts_of_calls_and_of_quarters_sum_to_the_bill(teams: dict[str, Team]) -> None:
    story.deliver(teams["A"], story.whole_story())
    story.fold_everything()
    assert slot_sums() == STORY_PARTS
    assert not Call.objects.filter(is_explained=False).exists()
    causes = {slot.cause: (slot.misses, slot.tokens, slot.cost_usd) for slot in MissSlot.objects.all()}
    assert causes == {
        "compaction_call": (1, 0, Decimal("0.084732")),
        "compaction": (1, 9_800, Decimal("0.03381")),
        "prefix_changed_or_evicted": (1, 152_700, Decimal("0.526815")),
    }


@pytest.mark.parametrize("seed", range(2))
def test_fold__story_in_any_order_folded_on_the_way__same_parts(seed: int, teams: dict[str, Team]) -> None:
    for piece in story.shuffled(story.whole_story(), seed)[::3] + story.whole_story():
        story.deliver(teams["A"], [piece])
        story.fold_everything()
    assert slot_sums() == STORY_PARTS
    assert MissSlot.objects.count() == 3


def test_explain__calls_one_by_one__same_as_at_once_and_near_calls_alone_are_written(teams: dict[str, Team]) -> None:
    used = [told.usage(3, 1_000 * n, 1_000, 50) for n in range(1, 40)]
    used[20] = told.usage(3, 0, 22_000, 50)
    lines = [told.call("s", f"m{n}", 60 * n, u) for n, u in enumerate(used)]
    for line in lines:
        story.deliver(teams["A"], [told.transcript(line)])
        story.fold_everything()
    story.deliver(teams["B"], [told.transcript(*lines)])
    story.fold_everything()
    names = ("number", "needed_usd", "miss_cause", "missed_tokens", "miss_cost_usd", "miss_detail", "is_repeat")
    one, other = (list(Call.objects.filter(session__team=teams[t]).order_by("number").values(*names)) for t in "AB")
    assert one == other
    assert [row["number"] for row in one if row["miss_cause"]] == [21]
    session = Session.objects.get(team=teams["A"])
    Call.objects.filter(session=session, number=39).update(is_explained=False)
    assert explaining.explain(session_id=session.pk, book=prices.load_price_book()) == 1


def test_explain__caching_off_call_by_call__earlier_calls_of_the_run_are_named_too(teams: dict[str, Team]) -> None:
    for n in range(14):
        line = told.call("s", f"m{n}", 5 * n, told.usage(20_000 + 1_000 * n, 0, 0, 50))
        story.deliver(teams["A"], [told.transcript(line)])
        story.fold_everything()
    found = Call.objects.order_by("number").values_list("miss_cause", flat=True)
    assert list(found) == ["", *["caching_disabled"] * 13]


def test_explain_waiting__calls_of_before_the_ledger__are_worked_out(teams: dict[str, Team]) -> None:
    story.deliver(teams["A"], story.whole_story())
    story.fold_everything()
    Call.objects.update(is_explained=False, needed_usd=None, miss_cause="unexplained", miss_part="")
    UsageSlot.objects.update(is_explained=False, needed_usd=None)
    MissSlot.objects.all().delete()
    assert explaining.explain_waiting(limit=10) == 1
    assert slot_sums() == STORY_PARTS


def test_fold__quarter_of_one_model_is_written_anew__misses_of_another_in_it_stay(teams: dict[str, Team]) -> None:
    used = [told.usage(3, 0, 20_000, 50), told.usage(3, 0, 21_000, 50), told.usage(3, 0, 22_000, 50)]
    lines = [
        told.call("s", f"{model}-{n}", 200 * n + shift, u, model=model)
        for shift, model in enumerate((told.SONNET, "claude-opus-4-5"))
        for n, u in enumerate(used)
    ]
    story.deliver(teams["A"], [told.transcript(*lines)])
    story.fold_everything()
    before = list(MissSlot.objects.order_by("model", "cause").values_list("model", "cause", "misses", "cost_usd"))
    assert {model for model, *_ in before} == {told.SONNET, "claude-opus-4-5"}
    UsageSlot.objects.filter(model=told.SONNET).update(is_explained=False)
    explaining.explain(session_id=Session.objects.get().pk, book=prices.load_price_book())
    after = MissSlot.objects.order_by("model", "cause").values_list("model", "cause", "misses", "cost_usd")
    assert list(after) == before


def test_call__parts_that_do_not_sum_to_the_cost__refused_by_the_database(teams: dict[str, Team]) -> None:
    story.deliver(teams["A"], story.whole_story())
    story.fold_everything()
    with pytest.raises(IntegrityError), transaction.atomic():
        Call.objects.filter(number=7).update(needed_usd=Decimal("0.5"))


def test_price_row__changed_in_place__refused_by_the_database() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        PriceRow.objects.update(input=Decimal(1))


def dearer() -> Repricing:
    price = replace(PINNED["claude-sonnet-4-5"], output=Decimal(30))
    return pricing_rows.add(price=price, source="a correction", by="Mara", now=NOW)


def test_reprice__corrected_row__all_figures_follow_and_each_call_keeps_the_former(teams: dict[str, Team]) -> None:
    story.deliver(teams["A"], story.whole_story())
    story.fold_everything()
    run = dearer()
    assert repricing.run(repricing_id=run.pk, now=NOW)
    session = Session.objects.get()
    # 4,450 tokens of output at 15 more.
    assert session.cost_usd == Decimal("1.428819") + Decimal("0.06675")
    assert sum(slot_sums()) == session.cost_usd
    assert Call.objects.aggregate(n=Sum("former_cost_usd"))["n"] == Decimal("1.428819")
    run.refresh_from_db()
    assert (run.calls, run.sessions, run.before_usd, run.after_usd) == (
        10,
        1,
        Decimal("1.428819"),
        Decimal("1.495569"),
    )
    assert run.finished_at is not None
    assert PriceRow.objects.filter(model="claude-sonnet-4-5").count() == 2


def test_reprice__one_session_a_go__goes_on_where_it_stopped(teams: dict[str, Team]) -> None:
    for team in teams.values():
        story.deliver(team, story.whole_story())
    story.fold_everything()
    run = dearer()
    goes = [repricing.run(repricing_id=run.pk, now=NOW, batch=1) for _ in range(3)]
    assert goes == [False, False, True]
    assert {s.cost_usd for s in Session.objects.all()} == {Decimal("1.495569")}


def test_reprice__unpriced_model_priced_like_another__in_one_step(teams: dict[str, Team]) -> None:
    line = told.call("s", "m1", 1, told.usage(3, 0, 1_000, 50), model="acme-coder-9")
    story.deliver(teams["A"], [told.transcript(line)])
    story.fold_everything()
    assert pricing_rows.unpriced_in_use([teams["A"].pk]) == [("acme-coder-9", 1)]
    run = pricing_rows.add_like(model="acme-coder-9", like="claude-sonnet-4-5", by="Mara", now=NOW)
    repricing.run(repricing_id=run.pk, now=NOW)
    assert Session.objects.get().cost_usd == Decimal("0.004509")
    assert pricing_rows.unpriced_in_use([teams["A"].pk]) == []


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"model": " "}, "bad_model"),
        ({"input": Decimal(-1)}, "bad_input"),
        ({"input": Decimal("NaN")}, "bad_input"),
        ({"output": Decimal("0.1234567")}, "bad_output"),
        ({"valid_from": datetime(2026, 1, 1)}, "bad_valid_from"),  # noqa: DTZ001
        ({"window": 0}, "bad_window"),
        ({"above_input": Decimal(1)}, "bad_above_tokens"),
    ],
)
def test_add__hostile_price__refused_by_name(change: dict[str, object], code: str) -> None:
    with pytest.raises(DomainError) as refused:
        pricing_rows.add(price=replace(PINNED["claude-sonnet-4-5"], **change), source="x", by="", now=NOW)  # type: ignore[arg-type]
    assert refused.value.code == code


@pytest.fixture
def world() -> World:
    return build()


def loss_in(world: World, usd: str, days: int = 1) -> None:
    at = NOW - timedelta(days=days)
    session = session_in(world.one, f"s{usd}{days}", at=at)
    missed_in(session, at, cause="ttl_expired_5m", tokens=9, cost_usd=Decimal(usd))


def accepted(world: World) -> AcceptedLoss:
    return accepting.accept(
        team=world.one,
        cause="ttl_expired_5m",
        project=None,
        reason="lunch",
        owner="Mara",
        until=date(2027, 1, 1) if NOW.year == 2026 else NOW.date() + timedelta(days=30),
        by="admin",
        now=NOW,
    )


def test_accepted_loss__grows_by_half_or_its_day_passes__comes_back(world: World) -> None:
    loss_in(world, "10")
    loss = accepted(world)
    assert loss.monthly_usd == 10
    assert accepting.why_back(loss, Decimal(15), NOW.date()) == ""
    assert accepting.why_back(loss, Decimal("15.01"), NOW.date()) == "it has grown by half"
    assert accepting.why_back(loss, Decimal(1), loss.until + timedelta(days=1)) == "its day has passed"
    with pytest.raises(DomainError) as refused:
        accepted(world)
    assert refused.value.code == "already_accepted"
    accepting.withdraw(loss=loss, by="admin", now=NOW)
    accepted(world)


def test_notice__second_version_of_a_host__one_marker_however_often(world: World) -> None:
    for number, version in enumerate(("2.1.197", "2.1.201")):
        at = NOW - timedelta(days=3 - number)
        SourceRow.objects.create(
            team=world.one,
            host="claude-code",
            version=version,
            feed="claude-code-hook",
            first_received_at=at,
            last_received_at=at,
        )
    marking.notice(now=NOW)
    marking.notice(now=NOW)
    (marker,) = Marker.objects.filter(kind="host_version")
    assert (marker.title, marker.at) == ("claude-code 2.1.201 first seen", NOW - timedelta(days=2))


def test_before_after__few_sessions__says_so(world: World) -> None:
    session_in(world.one, "a", at=NOW - timedelta(days=1))
    project = Project.objects.get(team=world.one)
    marker, is_new = marking.mark(
        team=world.one, at=NOW - timedelta(hours=1), kind="note", title="x", project=project, by="", now=NOW
    )
    assert is_new
    found = marking.before_after(marker)
    assert (found.before.sessions, found.verdict) == (1, "too few sessions")
