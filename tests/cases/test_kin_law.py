"""The law over the database: sessions that share history, delivered in any order, doubled, cut and mixed."""

import random
from typing import Any

import pytest
from django.test import Client

from sessions_app.models import KeyKind, Session, Team
from sessions_app.services import keys, prices
from tests.support import deliveries as given
from tests.support import families, told
from tests.support.deliveries import Delivery
from tests.support.pins import PINS

SUMS = (
    "calls aux_calls uncached_input cache_read cache_write_5m cache_write_1h cache_write_unknown_ttl output compactions"
).split()
#: By hand: 7 calls of the root, 3 of its fork, 2 of the fork's fork, 1 of a subagent, and 1 compaction's own.
EXPECTED = {
    "calls": 13,
    "aux_calls": 1,
    "uncached_input": sum(range(1, 15)),
    "cache_read": 14 * 1_000,
    "cache_write_5m": 13 * 100 + 100,
    "cache_write_1h": 0,
    "cache_write_unknown_ttl": 2 * 100,
    "output": 14 * 10,
    "compactions": 2,
}
GROUPS = ("day", "model", "host")


def used(number: int) -> dict[str, Any]:
    return told.usage(number, 1_000, 100, 10)


def history(session: str, until: int, *, since: int = 1) -> list[told.Line]:
    """Calls since..until of one conversation, a minute apart, with the compaction after the fourth."""
    lines: list[told.Line] = []
    for number in range(since, until + 1):
        lines.append(told.call(session, f"m{number}", 60 * number, used(number)))
        if number == 4:
            lines.append(told.compacted(session, 270, {"trigger": "manual", "preTokens": 1_104}))
            lines.append(told.asked(session, 270.5, isCompactSummary=True, parentUuid=lines[-1]["uuid"]))
    return lines


def family() -> list[Delivery]:
    """A root, a fork that lost the request ids, its fork, telemetry of the root's session, hooks, a gauge, counters."""
    # Names in an order that is not that of birth.
    root, fork, grandchild = "s-m", "s-z", "s-a"
    side = told.call(root, "m13", 200, used(13), isSidechain=True, agentId="explorer")
    copies = [{**line, "requestId": None} for line in history(fork, 10)]
    late = [told.compacted(grandchild, 690, {"trigger": "auto", "preTokens": 1_109})]
    records = [told.request(root, 60 * n + 0.5, used(n), request_id=f"req_m{n}") for n in (1, 2, 3)]
    # Of one call the transcript never came, of another the header was lost.
    records.append(told.request(root, 60 * 5 + 0.5, used(5)))
    records.append(told.request(root, 265, used(14), request_id="req_own", query_source="compact"))
    lost = told.request(grandchild, 700.5, used(12), request_id="req_m12")
    return [
        told.transcript(*history(root, 7), side),
        told.transcript(*copies),
        told.transcript(*history(grandchild, 11), *late),
        told.logs(*records),
        told.logs(lost),
        *(told.hook(root, name, trigger="manual", prompt_id="p-4") for name in ("PreCompact", "PostCompact")),
        told.gauged(told.gauge(root, 5_000, used(7), cost=0.5), 430),
    ]


def shuffled(seed: int) -> list[Delivery]:
    """The family mixed with the recorded story, cut at any line, some pieces twice."""
    return given.shuffled([*family(), *given.whole_story()], seed)


def answers(team: Team) -> dict[str, Any]:
    """What the API says of every session and of all together, without what depends on receipt."""
    _, key = keys.issue(kind=KeyKind.READ, now=given.NOW, team=team)

    def results(address: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (
            Client().get(address, headers={"Authorization": f"Bearer {key}"}).json()["results"]
        )
        return found

    sessions = results("/api/v1/sessions?limit=50")
    parents = {row["id"]: row["host_session_id"] for row in sessions}
    drop = {"id", "received_at", "folded_at", "ended_at", "team"}
    told_of = {
        row["host_session_id"]: {name: value for name, value in row.items() if name not in drop}
        | {"parent": parents.get(row["parent"])}
        for row in sessions
    }
    return {"sessions": told_of, **{group: results(f"/api/v1/totals?group_by={group}") for group in GROUPS}}


@pytest.fixture(autouse=True)
def _pinned(db: None) -> None:
    prices.seed(prices=PINS, source="test pins")


def test_family__in_its_natural_order__sums_by_hand(teams: dict[str, Team]) -> None:
    given.deliver(teams["A"], family())
    given.fold_everything()
    rows = list(Session.objects.all())
    assert {name: sum(getattr(row, name) for row in rows) for name in SUMS} == EXPECTED
    assert sorted((r.host_session_id, r.calls + r.aux_calls) for r in rows) == [("s-a", 12), ("s-m", 2), ("s-z", 0)]


@pytest.mark.parametrize("seed", range(4))
def test_family_and_story__any_order_twice_cut_and_folded_between__same_answers(
    seed: int, teams: dict[str, Team]
) -> None:
    given.deliver(teams["B"], [*family(), *given.whole_story()])
    given.fold_everything()
    rng = random.Random(seed)
    for delivery in shuffled(seed):
        given.deliver(teams["A"], [delivery])
        if rng.random() < 0.2:
            given.fold_everything()
    given.fold_everything()
    assert answers(teams["A"]) == answers(teams["B"])


@pytest.mark.parametrize("seed", range(5))
def test_made_up_family__mixed_doubled_and_folded_between__each_call_once(seed: int, teams: dict[str, Team]) -> None:
    rng = random.Random(seed)
    made = families.family(rng)
    mixed = made.deliveries + rng.sample(made.deliveries, len(made.deliveries) // 3)
    rng.shuffle(mixed)
    for delivery in mixed:
        given.deliver(teams["A"], [delivery])
        if rng.random() < 0.1:
            given.fold_everything()
    given.fold_everything()
    rows = list(Session.objects.all())
    numbers = range(1, made.calls + 1)
    assert (sum(r.calls for r in rows), sum(r.uncached_input for r in rows)) == (made.calls, sum(numbers))
