"""Judging alerts from what is stored: which rows count, who is told, and what people may set."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ecm_site.common.problems import DomainError
from policy_app.models import AuditEntry
from policy_app.services.actors import Actor
from sessions_app.kernel.alerts import Figures
from sessions_app.models import AlertEvent, AlertRule, AlertTarget, Notice, SourceRow
from sessions_app.services import alert_rules, alerting, letters, notices
from tests.support.world import World, build, compaction_in, session_in, slot_in

#: A Monday.
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return build()


def actor(world: World) -> Actor:
    return Actor(None, "Mara", world.mine.pk)


def watch(world: World, kind: str, threshold: str, ceiling: str = "", *, is_on: bool = True) -> AlertRule:
    return alert_rules.set_rule(
        team=world.one, kind=kind, threshold=threshold, ceiling=ceiling, is_on=is_on, actor=actor(world), now=NOW
    )


def tell(world: World, address: str = "a@example.com") -> AlertTarget:
    return alert_rules.add_target(team=world.one, kind="mail", address=address, actor=actor(world), now=NOW)


def test_figures__of_a_team__count_its_own_rows_of_each_stretch(world: World) -> None:
    session = session_in(world.one, "a", at=NOW - HOUR)
    slot_in(session, NOW - 3 * DAY, cache_read=5_000, cost_usd=Decimal(2), calls=7)
    slot_in(session, NOW - 9 * DAY, cache_read=1, cost_usd=Decimal(3))
    slot_in(session, NOW - 35 * DAY, cost_usd=Decimal(100))
    slot_in(session_in(world.two, "b", at=NOW - HOUR), NOW - 2 * HOUR, cost_usd=Decimal(50))
    session.slots.filter(slot_at__gte=NOW - DAY).update(avoidable_usd=Decimal("0.004"))
    for number, ago in enumerate((10, 20, 40, 90), 1):
        compaction_in(session, number=number, at=NOW - timedelta(minutes=ago))
    compaction_in(session, number=5, at=NOW - timedelta(minutes=5), state="failed")
    assert alerting.figures_of({world.one.pk}, NOW)[world.one.pk] == Figures(
        day_prompt=1_000,
        day_read=0,
        week_prompt=6_000,
        week_read=5_000,
        day_calls=1,
        day_avoidable_usd=Decimal("0.004"),
        day_compactions=4,
        hour_most_compactions=3,
        month_usd=Decimal("5.01"),
    )


def test_sources__regular_ones_of_all_versions__are_one_and_odd_ones_none(world: World) -> None:
    def source(machine: str, version: str, first: timedelta, last: timedelta, deliveries: int) -> None:
        SourceRow.objects.create(
            team=world.one,
            host="claude-code",
            version=version,
            machine=machine,
            feed="claude-code-hooks",
            first_received_at=NOW - first,
            last_received_at=NOW - last,
            deliveries=deliveries,
        )

    source("m1", "1.0", 9 * DAY, 5 * DAY, 9)
    source("m1", "1.1", 5 * DAY, HOUR, 9)
    source("tried", "1.0", 5 * DAY, 5 * DAY - HOUR, 500)
    source("gone", "1.0", 90 * DAY, 15 * DAY, 500)
    heard = alerting.figures_of({world.one.pk}, NOW)[world.one.pk].sources
    assert [(each.name, each.last_at) for each in heard] == [("claude-code-hooks on m1", NOW - HOUR)]


def test_judge_all__many_teams__asks_for_figures_four_times(world: World) -> None:
    with CaptureQueriesContext(connection) as few:
        alerting.figures_of({world.one.pk}, NOW)
    with CaptureQueriesContext(connection) as many:
        alerting.figures_of({world.one.pk, world.two.pk, world.foreign.pk}, NOW)
    assert len(few) == len(many) == 4


def test_budget__over_its_share__one_event_and_one_mail_until_it_is_over(world: World) -> None:
    rule, _ = watch(world, "budget", "80", "0.01"), tell(world)
    session = session_in(world.one, "a", at=NOW - HOUR)
    for minutes in (0, 5, 10):
        alerting.judge_all(now=NOW + timedelta(minutes=minutes))
    event = AlertEvent.objects.get()
    assert (event.rule_id, event.measured, event.closed_at) == (rule.pk, Decimal(100), None)
    assert event.opened_by == "$0.01 of this month's $0.01 at list price: 100.0%."
    # Between the line of closing and that of opening nothing happens.
    session.slots.update(cost_usd=Decimal("0.007"))
    assert alerting.judge_all(now=NOW + HOUR) == 0
    session.slots.update(cost_usd=Decimal("0.006"))
    assert alerting.judge_all(now=NOW + 2 * HOUR) == 1
    assert notices.deliver_due(now=NOW + 3 * HOUR) == 2
    assert notices.deliver_due(now=NOW + 3 * HOUR) == 0
    assert [m.subject for m in mail.outbox] == ["[ECM One] Budget", "[ECM One] Over: Budget"]


def test_mute__alert_that_outlives_it__is_told_when_it_ends(world: World) -> None:
    watch(world, "budget", "80", "0.01")
    tell(world)
    session_in(world.one, "a", at=NOW - HOUR)
    alert_rules.mute(team=world.one, kind="budget", hours="1", actor=actor(world), now=NOW)
    alerting.judge_all(now=NOW)
    assert (AlertEvent.objects.get().was_muted, Notice.objects.count()) == (True, 0)
    for _ in range(2):
        alerting.judge_all(now=NOW + HOUR)
    assert Notice.objects.count() == 1


def test_rule__turned_off__closes_what_is_open_and_is_audited(world: World) -> None:
    watch(world, "budget", "80", "0.01")
    session_in(world.one, "a", at=NOW - HOUR)
    alerting.judge_all(now=NOW)
    watch(world, "budget", "80", "0.01", is_on=False)
    assert AlertEvent.objects.get().closed_by == "The rule was turned off."
    acts = AuditEntry.objects.filter(organisation_id=world.mine.pk).values_list("action", "subject", "reason")
    assert list(acts.order_by("number")) == [
        ("alert.set", "alert/one/budget", "80.00, on, ceiling 0.01 USD"),
        ("alert.set", "alert/one/budget", "80.00, off, ceiling 0.01 USD"),
    ]


def test_deliver__never_taken__waits_longer_each_time_and_is_given_up(world: World) -> None:
    address = "http://10.0.0.1/secret"  # Not called: private addresses are not allowed here.
    target = alert_rules.add_target(team=world.one, kind="webhook", address=address, actor=actor(world), now=NOW)
    notice, at = alert_rules.test(target=target, now=NOW), NOW
    for wait in (1, 2, 4, 8, 16):
        assert notices.deliver(notice_id=notice.pk, now=at)
        at += timedelta(minutes=wait)
        assert Notice.objects.get(pk=notice.pk).due_at == at
    assert notices.deliver(notice_id=notice.pk, now=at)
    notice.refresh_from_db()
    assert notice.due_at is None
    assert "secret" not in notice.shown + notice.outcome + target.shown
    assert "ECM_ALERT_PRIVATE" in notice.outcome


@pytest.mark.parametrize("text", ["", "x", "NaN", "Infinity", "-1", "0", "1e99", "1\0", "9" * 500])
def test_rule__threshold_that_is_none__is_refused_by_name(world: World, text: str) -> None:
    with pytest.raises(DomainError) as refused:
        watch(world, "avoidable", text)
    assert refused.value.code == "bad_threshold"


@pytest.mark.parametrize(
    "address", ["", "a", "a@b\nBcc: c@d.com", "a@b\0.com", "javascript:1", f"{'a' * 500}@example.com", "=cmd@x"]
)
@pytest.mark.parametrize("kind", ["mail", "webhook", "slack"])
def test_target__address_that_is_none__is_refused_by_name(world: World, kind: str, address: str) -> None:
    with pytest.raises(DomainError) as refused:
        alert_rules.add_target(team=world.one, kind=kind, address=address, actor=actor(world), now=NOW)
    assert refused.value.code == "bad_address"


def test_test__more_than_five_in_a_minute__is_refused(world: World) -> None:
    target = tell(world)
    for _ in range(5):
        alert_rules.test(target=target, now=NOW)
    with pytest.raises(DomainError):
        alert_rules.test(target=target, now=NOW)
    alert_rules.test(target=target, now=NOW + timedelta(minutes=2))


def test_slack__signs_of_mentions_and_links__are_made_harmless(world: World) -> None:
    notice = Notice(subject="<!channel> & co", text="<http://x|y>")
    assert notices.slack_body(notice) == {"text": "*&lt;!channel&gt; &amp; co*\n&lt;http://x|y&gt;"}


def test_letter__wanted__goes_out_once_on_monday_with_the_sums_of_the_week(world: World) -> None:
    tell(world)
    alert_rules.want_letter(team=world.one, is_on=True, actor=actor(world), now=NOW)
    session = session_in(world.one, "a", at=NOW - 3 * DAY)
    slot_in(session, NOW - 8 * DAY, cost_usd=Decimal(2))
    slot_in(session, NOW - HOUR, cost_usd=Decimal(7))
    assert letters.write_due(now=NOW.replace(hour=5)) == 0
    assert [letters.write_due(now=NOW + n * DAY) for n in range(7)] == [1, 0, 0, 0, 0, 0, 0]
    told = Notice.objects.get()
    assert letters.monday_before(NOW) == date(2026, 11, 23)
    assert told.subject == "[ECM One] The week of 23 November 2026"
    assert told.text.startswith("1 call cost $0.01 at list price. The week before it was $2.00.\n\n")


def test_letter__off_by_default__is_not_written(world: World) -> None:
    tell(world)
    assert letters.write_due(now=NOW) == 0
