"""What a draft would have said: equal to asking the table at every call."""

import random
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from policy_app.kernel.conditions import OneOf, at_least
from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.evaluate import evaluate
from policy_app.kernel.names import ModelPattern
from policy_app.kernel.operations import Operation
from policy_app.kernel.signals import Signals
from policy_app.kernel.table import Rule, Table
from policy_app.kernel.zones import Lines, WorkingWindow
from sessions_app.models import Call, Session
from sessions_app.services import ghost
from sessions_app.services.ghost import Ghost
from tests.policy_kernel.tables import random_table
from tests.support.story import recorded
from tests.support.world import NOW, World, build, call_in, session_in

EARLIER = replace(DEFAULT_TABLE, lines=Lines(red=Decimal("0.65")))
HELD = ("zone", "utilization", "context_tokens", "depth", "tool_result_share", "externalize_age_calls", "model", "host")


@pytest.fixture
def world(db: None) -> World:
    return build()


def asked(world: World, draft: Table, base: Table | None = DEFAULT_TABLE) -> Ghost:
    return ghost.ghost(team_ids=[world.one.pk, world.two.pk], draft=draft, base=base, now=NOW)


def filled(session: Session, *occupancies: int, **fields: object) -> None:
    """Calls after the first, a minute apart, each so full of 200,000."""
    for index, occupancy in enumerate(occupancies, 2):
        given = {"occupancy": occupancy, "known_window": 200_000, "window": 200_000, **fields}
        call_in(session, number=index, at=NOW + timedelta(minutes=index), **given)


def every_call(table: Table) -> tuple[dict[Operation, set[int]], Counter[str]]:
    """The table asked at each recorded call, one by one."""
    sessions: dict[Operation, set[int]] = {}
    rules: Counter[str] = Counter()
    for call in Call.objects.filter(occupancy__isnull=False, thread="").select_related("session"):
        share = call.tool_share_permille
        raw: dict[str, object] = {
            "host": call.session.host,
            "model": call.model or None,
            "context_tokens": call.occupancy,
            "window_tokens": call.known_window,
            "depth": call.depth,
            "tool_result_share": None if share is None else Decimal(share) / 1000,
            "externalize_age_calls": call.externalize_age_calls,
        }
        verdict = evaluate(table, Signals.of(raw))
        sessions.setdefault(verdict.operation, set()).add(call.session_id)
        rules[verdict.rule] += 1
    return sessions, rules


def equal(found: Ghost, draft: Table, base: Table) -> None:
    now, rules = every_call(draft)
    before, _ = every_call(base)
    said = {each.operation: (each.sessions, each.sessions_before) for each in found.reaches}
    operations = (now.keys() | before.keys()) - {Operation.CONTINUE}
    assert said == {each: (len(now.get(each, ())), len(before.get(each, ()))) for each in operations}
    assert {each.rule: each.calls for each in found.hits if each.calls} == {k: v for k, v in rules.items() if k}
    for each in found.reaches:
        assert set(each.gained) == now.get(each.operation, set()) - before.get(each.operation, set())


def test_ghost__red_at_65__reaches_sessions_between_the_lines(world: World) -> None:
    filled(session_in(world.one, "between"), 131_000, 149_999)
    filled(session_in(world.one, "above"), 100_000, 140_000, 151_000)
    filled(session_in(world.two, "below"), 60_000)
    found = asked(world, EARLIER)
    compact = next(each for each in found.reaches if each.operation is Operation.COMPACT)
    assert (found.sessions, compact.sessions, compact.sessions_before) == (3, 2, 1)
    assert [Session.objects.get(pk=pk).host_session_id for pk in compact.gained] == ["between"]
    # The draft says it at call 3 (140,000), the version at call 4.
    assert compact.earlier_calls == 1
    assert compact.first_at == NOW + timedelta(minutes=2)
    assert {each.rule: each.sessions for each in found.hits}["P3"] == 2


def test_ghost__at_exactly_the_line__belongs_to_the_zone_above(world: World) -> None:
    filled(session_in(world.one, "on the line"), 130_000)
    filled(session_in(world.one, "one below"), 129_999)
    (compact,) = (each for each in asked(world, EARLIER).reaches if each.operation is Operation.COMPACT)
    assert compact.sessions == 1


def test_ghost__any_tables__say_what_asking_at_each_call_says(world: World) -> None:
    rng = random.Random(7)
    for name in range(12):
        session = session_in(world.one, str(name), host=rng.choice(("claude-code", "codex")))
        for number in range(2, 10):
            call_in(
                session,
                number=number,
                at=NOW + timedelta(minutes=number),
                model=rng.choice(("", "claude-opus-4.5", "claude-sonnet-4-5", "gpt-6")),
                occupancy=rng.choice((0, 50_000, 100_000, 130_000, 150_000, 180_000, 210_000)),
                known_window=rng.choice((None, 0, 200_000, 1_000_000)),
                depth=rng.choice((0, 1, 2, 16, 32)),
                tool_share_permille=rng.choice((None, 0, 250, 500, 750, 1000)),
                externalize_age_calls=rng.choice((None, 0, 250, 500)),
            )
    windows = (WorkingWindow(ModelPattern("claude-opus-*"), 160_000), WorkingWindow(ModelPattern("gpt-6"), 400_000))
    for _ in range(40):
        draft, base = (random_table(rng, names=HELD, rules=5, conditions=(1, 3), steps=4) for _ in range(2))
        draft = replace(draft, working_windows=windows) if rng.random() < 0.5 else draft
        equal(asked(world, draft, base), draft, base)


def test_ghost__the_recorded_story__equals_asking_at_each_call(world: World) -> None:
    session = recorded(world.one)
    found = ghost.ghost(team_ids=[world.one.pk], draft=EARLIER, base=DEFAULT_TABLE, now=session.last_at or NOW)
    equal(found, EARLIER, DEFAULT_TABLE)
    # 76% of 200,000 at its fullest: RED by both.
    assert {each.operation: (each.sessions, each.sessions_before) for each in found.reaches} == {
        Operation.COMPACT: (1, 1),
        Operation.EXTERNALIZE: (1, 1),
    }


def test_ghost__without_occupancy__cannot_say_and_counts_it_by_host(world: World) -> None:
    blind = session_in(world.one, "blind", host="cursor")
    Call.objects.filter(session=blind).update(occupancy=None)
    filled(session_in(world.one, "seen"), 90_000)
    found = asked(world, EARLIER)
    assert (found.sessions, dict(found.silent)) == (1, {"cursor": 1})


def test_ghost__what_nobody_recorded__is_named_and_reads_as_the_catalogue_says(world: World) -> None:
    filled(session_in(world.one, "seen"), 160_000)
    idle = Table((Rule("r", Operation.COMPACT, (at_least("idle_seconds", 5),)), Rule("rest", Operation.CONTINUE)))
    found = asked(world, idle)
    assert found.unheld == ("budget_spent_ratio", "idle_seconds")
    assert {each.operation: each.sessions for each in found.reaches}[Operation.COMPACT] == 0


def test_ghost__sessions_of_before__and_of_other_teams_are_not_read(world: World) -> None:
    session_in(world.one, "old", at=NOW - timedelta(days=31))
    filled(session_in(world.foreign, "theirs"), 190_000)
    assert asked(world, EARLIER).sessions == 0


def test_ghost__more_calls_than_one_question_reads__the_newest_sessions_and_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ghost, "MOST_CALLS", 2)
    for days in range(4):
        session_in(world.one, f"{days}", at=NOW - timedelta(days=days), calls=2)
    found = asked(world, EARLIER)
    assert (found.sessions, found.left_out) == (1, 3)


def test_ghost__a_model_with_a_hostile_name__is_a_name(world: World) -> None:
    filled(session_in(world.one, "odd"), 160_000, model="a'b%s\\\x01")
    draft = replace(
        EARLIER,
        rules=(Rule("m", Operation.WRAP_UP, (OneOf("model", ("a*",)),)), *EARLIER.rules),
        working_windows=(WorkingWindow(ModelPattern("a*"), 100_000),),
    )
    assert {each.operation: each.sessions for each in asked(world, draft).reaches}[Operation.WRAP_UP] == 1
