"""Sums of days are those of their quarters, whatever came in which order."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib import import_module
from typing import Any

import pytest
from django.db import connection
from django.db.models import Sum
from django.db.models.functions import Trunc
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessions_app.models import MissDay, MissSlot, Session, Team, UsageDay, UsageSlot
from sessions_app.models.projections import MissSums, UsageSums
from sessions_app.services import day_sums, prices
from tests.support import deliveries as story
from tests.support.pins import PINS
from tests.support.world import World, build, session_in

PAIRS = ((UsageSums, UsageDay, UsageSlot), (MissSums, MissDay, MissSlot))
KEYS = ("slot_at", "model", "cause", "part")
MIDNIGHT = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _pinned(db: None) -> None:
    prices.seed(prices=PINS, source="test pins")


def assert_days_are_sums() -> None:
    """Each day beside the sum that the ORM makes of the quarters."""
    for sums, day, quarter in PAIRS:
        names = [field.attname for field in sums._meta.local_fields]
        keys, summed = [n for n in names if n in KEYS], [n for n in names if n not in KEYS]
        at = Trunc("slot_at", "day", tzinfo=UTC)
        others = [name for name in keys if name != "slot_at"]
        expected = quarter._default_manager.values("session", *others, day=at).annotate(
            **{f"{name}_sum": Sum(name) for name in summed}
        )
        found = day._default_manager.values_list("session", "slot_at", *others, *summed)
        wanted = expected.values_list("session", "day", *others, *(f"{name}_sum" for name in summed))
        assert sorted(found, key=str) == sorted(wanted.order_by(), key=str)


@pytest.mark.parametrize("seed", range(3))
def test_fold__story_in_any_order__days_are_the_sums_of_quarters(seed: int, teams: dict[str, Team]) -> None:
    for piece in story.shuffled(story.whole_story(), seed)[::5]:
        story.deliver(teams["A"], [piece])
        story.fold_everything()
        assert_days_are_sums()
    story.deliver(teams["A"], story.whole_story())
    story.fold_everything()
    assert_days_are_sums()
    assert UsageDay.objects.aggregate(cost=Sum("cost_usd"))["cost"] == Decimal("1.428819")


def test_migration__what_was_stored_before__is_filled_in_alike(teams: dict[str, Team]) -> None:
    story.deliver(teams["A"], story.whole_story())
    story.fold_everything()
    MissDay.objects.all().delete()
    UsageDay.objects.all().delete()
    migration = import_module("sessions_app.migrations.0021_sums_of_days").Migration
    with connection.cursor() as cursor:
        for operation in migration.operations[-2:]:
            cursor.execute(operation.sql)
    assert UsageDay.objects.exists()
    assert_days_are_sums()


QUARTERS = st.lists(
    st.fixed_dictionaries(
        {
            "after": st.integers(0, 200),
            "model": st.sampled_from(("a", "b")),
            "cache_read": st.integers(0, (1 << 63) - 1),
            "cost_usd": st.none() | st.decimals(0, 10**6, places=12),
            "cause": st.sampled_from(("ttl_expired_5m", "model_switched")),
        }
    ),
    max_size=8,
    unique_by=lambda row: (row["after"], row["model"]),
)


@pytest.fixture
def world() -> World:
    return build()


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(stages=st.lists(QUARTERS, min_size=1, max_size=3))
def test_renew__any_quarters_one_after_the_other__days_are_their_sums(world: World, stages: list[Any]) -> None:
    """Quarters come, change and go; days follow, and hold no more than their columns do."""
    Session.objects.all().delete()
    session = session_in(world.one, "a")
    for quarters in stages:
        UsageSlot.objects.filter(session=session).delete()
        MissSlot.objects.filter(session=session).delete()
        for number, row in enumerate(quarters):
            at, cost = MIDNIGHT + timedelta(minutes=15 * row["after"]), row["cost_usd"]
            tokens = dict.fromkeys(("uncached_input", "cache_write_5m", "cache_write_1h", "cache_write_unknown_ttl"), 7)
            UsageSlot.objects.create(
                **{"session": session, "key": str(number), "digest": "", "slot_at": at, "model": row["model"]},
                **{"calls": 1, "aux_calls": 0, "output": 1, "unpriced_calls": 0, "cost_usd": cost, **tokens},
                cache_read=row["cache_read"],
            )
            MissSlot.objects.create(
                **{"session": session, "slot_at": at, "model": row["model"], "cause": row["cause"]},
                **{"part": "avoidable", "misses": 1, "tokens": 5, "cost_usd": cost},
            )
        day_sums.renew([session.pk])
        reads = UsageDay.objects.values_list("cache_read", flat=True)
        if all(read < (1 << 63) - 1 for read in reads):
            assert_days_are_sums()
        assert UsageDay.objects.count() == len({(row["after"] // 96, row["model"]) for row in quarters})
