"""Copilot CLI through feed, ingest, database and fold: its story, older versions, real sessions."""

import json
import tarfile
from typing import Any

import pytest

from sessions_app.models import Compaction, Session, Team
from sessions_app.services import prices
from tests.support import copilot
from tests.support import deliveries as given
from tests.support.copilot import body, counts, line, message, shutdown, start
from tests.support.deliveries import Delivery
from tests.support.pins import BOOK, PINS

TOTALS: dict[str, dict[str, Any]] = json.loads((given.INPUTS / "corpus-codex-copilot.totals.json").read_text())
SUMS = ("calls", "aux_calls", "uncached_input", "cache_read", "cache_write_5m", "output")


@pytest.fixture(autouse=True)
def _pinned(db: None) -> None:
    prices.seed(prices=PINS, source="test pins")


def check(session: Session) -> None:
    """Four calls served: prompts 28,406 37,504 101,704 12,208; see the README of the story."""
    assert [getattr(session, name) for name in SUMS] == [4, 0, 22, 74_900, 104_900, 1_140]
    calls = list(session.call_rows.order_by("number"))
    assert [(c.uncached_input, c.cache_read, c.written_tokens, c.output) for c in calls] == [
        (6, 0, 28_400, 120),
        (4, 28_400, 9_100, 210),
        (4, 37_500, 64_200, 330),
        (8, 9_000, 3_200, 480),
    ]
    assert [c.occupancy for c in calls] == [28_406, 37_504, 101_704, 12_208]
    assert session.lower_bound == []
    assert (session.host, session.host_session_id, session.model) == ("copilot", copilot.STORY_ID, "claude-sonnet-4.5")
    assert session.project is not None
    assert session.project.name == "acme-api"


@pytest.mark.parametrize("seed", range(4))
def test_story__any_order_twice_and_cut__four_calls_as_served(seed: int, teams: dict[str, Team]) -> None:
    parts = [*copilot.hooks(), copilot.events(), copilot.store(), *copilot.traces()]
    receipts = given.deliver(teams["A"], given.shuffled(parts, seed))
    given.fold_everything()
    session = Session.objects.get()
    check(session)
    assert {c.window for c in session.call_rows.all()} == {168_000}
    assert (session.version, session.branch, session.cost_complete) == ("1.0.102", "master", True)
    assert [r.refused for r in receipts if r.refused] == []


def test_story__store_alone__the_same_calls(teams: dict[str, Team]) -> None:
    given.deliver(teams["A"], [copilot.store()])
    given.fold_everything()
    check(Session.objects.get())


def test_story__spans_alone__the_same_calls(teams: dict[str, Team]) -> None:
    given.deliver(teams["A"], copilot.traces())
    given.fold_everything()
    session = Session.objects.get()
    assert (session.host, session.host_session_id) == ("copilot", copilot.STORY_ID)
    assert [getattr(session, name) for name in SUMS] == [4, 0, 22, 74_900, 104_900, 1_140]
    assert [(c.occupancy, c.window) for c in session.call_rows.order_by("number")] == [
        (count, 168_000) for count in (28_406, 37_504, 101_704, 12_208)
    ]


def summed() -> list[int]:
    return [sum(getattr(s, name) for s in Session.objects.all()) for name in SUMS]


def test_older__output_by_message_and_sums_at_the_end__tokens_once_and_blind_not_zero(teams: dict[str, Team]) -> None:
    lines = [start(), message(10, 200), message(20, 300), shutdown(600, 2, counts(50_000, 40_000, 2_000, 500))]
    given.deliver(teams["A"], [body(*lines)])
    given.fold_everything()
    session = Session.objects.get()
    assert summed() == [2, 0, 8_000, 40_000, 2_000, 500]
    assert {(c.occupancy, c.zone, c.cost_usd) for c in session.call_rows.all()} == {(None, "", None)}
    assert (session.zone, session.cost_usd, session.cost_complete) == ("UNKNOWN", None, False)
    assert [(r["code"], r["count"]) for r in session.lower_bound] == [("rolled_up", 2)]


def test_older__still_running__says_that_input_is_unknown(teams: dict[str, Team]) -> None:
    given.deliver(teams["A"], [body(start(), message(10, 200), message(20, 300))])
    given.fold_everything()
    session = Session.objects.get()
    assert summed() == [2, 0, 0, 0, 0, 500]
    assert [(r["code"], r["count"]) for r in session.lower_bound] == [("input_unseen", 2)]


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        # The sum counts on over the resumed leg: what it added is the leg's.
        (counts(70_000, 55_000, 3_000, 600), [3, 0, 12_000, 55_000, 3_000, 600]),
        # It began anew, and fell.
        (counts(10_000, 7_000, 1_000, 100), [3, 0, 10_000, 47_000, 3_000, 600]),
        # It began anew, and is larger than before; its output is that of the leg's messages.
        (counts(90_000, 75_000, 4_000, 100), [3, 0, 19_000, 115_000, 6_000, 600]),
    ],
)
def test_resumed__sums_count_on_or_anew__each_token_once(
    second: dict[str, int], expected: list[int], teams: dict[str, Team]
) -> None:
    requests = 3 if second["outputTokens"] == 600 else 1
    lines = [start(), message(10, 200), message(20, 300), shutdown(600, 2, counts(50_000, 40_000, 2_000, 500))]
    lines += [line(3_600, "session.resume"), message(3_610, 100), shutdown(4_200, requests, second)]
    given.deliver(teams["A"], [body(*lines)])
    given.fold_everything()
    assert summed() == expected


def test_older__store_tells_what_messages_do_not__one_call(teams: dict[str, Team]) -> None:
    row = {"id": 7, "session_id": "s1", "model": "claude-sonnet-4-5", "created_at": "2026-11-02T09:00:10.200Z"}
    row |= {"input_tokens": 30_000, "output_tokens": 200, "cache_read_tokens": 20_000, "cache_write_tokens": 1_000}
    told = json.dumps({"table": "assistant_usage_events", "row": row}).encode()
    lines = [start(), message(10, 200), shutdown(600, 1, counts(30_000, 20_000, 1_000, 200))]
    given.deliver(teams["A"], [body(*lines), Delivery("copilot-store", told)])
    given.fold_everything()
    session = Session.objects.get()
    assert summed() == [1, 0, 9_000, 20_000, 1_000, 200]
    assert (session.last_occupancy, session.lower_bound, session.cost_complete) == (30_000, [], True)


def test_compaction__pair_with_its_own_call_told_twice__one_each(teams: dict[str, Team]) -> None:
    spent = {**counts(119_500, 117_000, 0, 2_100), "model": "claude-sonnet-4-5", "duration": 21_000}
    used = {**spent, "apiCallId": "msg_sum", "initiator": "compaction", "maxPromptTokens": 128_000}
    call = {**counts(120_000, 110_000, 9_000, 700), "model": "claude-sonnet-4-5", "apiCallId": "msg_1"}
    after = {**counts(24_000, 0, 23_000, 100), "model": "claude-sonnet-4-5", "apiCallId": "msg_2"}
    done = {"success": True, "preCompactionTokens": 121_000, "postCompactionTokens": 23_000}
    lines = [
        start(),
        line(10, "session.usage_record", usage={**call, "maxPromptTokens": 128_000}),
        line(20, "session.compaction_start", trigger="threshold"),
        line(40, "session.usage_record", usage=used),
        line(41, "session.compaction_complete", **done, trigger="threshold", compactionTokensUsed=spent),
        line(50, "session.usage_record", usage=after),
        line(60, "session.compaction_start", trigger="manual"),
        line(61, "session.compaction_complete", success=False, error="x"),
    ]
    given.deliver(teams["A"], [body(*lines)])
    given.fold_everything()
    assert summed() == [2, 1, 4_500, 227_000, 32_000, 2_900]
    found = Compaction.objects.order_by("number")
    assert [(c.state, c.trigger) for c in found] == [("completed", "auto"), ("failed", "manual")]
    assert (found[0].before_tokens, found[0].after_by_host, found[0].after_tokens) == (121_000, 23_000, 24_000)
    assert found[0].summary_call == "m:msg_sum"


def test_subagent__its_calls__are_a_thread(teams: dict[str, Team]) -> None:
    used = {**counts(9_000, 8_000, 500, 50), "model": "claude-haiku-4-5", "apiCallId": "msg_a"}
    lines = [
        start(),
        {**line(5, "subagent.started", toolCallId="toolu_1", agentName="explore"), "agentId": "toolu_1"},
        {**line(6, "session.usage_record", usage=used), "agentId": "toolu_1"},
        line(9, "session.usage_record", usage={**counts(50_000, 0, 0, 10), "apiCallId": "msg_b"}),
    ]
    given.deliver(teams["A"], [body(*lines)])
    given.fold_everything()
    session = Session.objects.get()
    assert (session.calls, session.subagent_calls, session.last_occupancy) == (2, 1, 50_000)
    assert session.thread_rows.exclude(key="").get().agent_type == "explore"


def corpus() -> dict[str, bytes]:
    bodies: dict[str, bytes] = {}
    with tarfile.open(given.INPUTS / "corpus-codex-copilot.tar.xz") as archive:
        for member in archive:
            if member.name.startswith("copilot-cli/") and (opened := archive.extractfile(member)):
                bodies[member.name] = opened.read()
    return bodies


#: (calls with those of the host itself, uncached, read, written, output) where ours differ, and why.
ODD = {
    # Published is the sum at the shutdown, 62,040 put out; the resumed rest (78,967) ends without one, and the
    # compaction's own call (2 + 14,777 read + 139,926 written, 4,769 put out) is in no sum.
    "copilot-cli/1.jsonl": (159, 6_954 + 2, 6_079_080 + 14_777, 512_254 + 139_926, 62_040 + 78_967 + 4_769),
    # Made by hand: its sum has no usage (published as zero) while its messages put out 15; two messages whose ids
    # were cleaned to the same text are one told twice.
    "copilot-cli/12.jsonl": (4, 0, 0, 0, 15),
}


def test_corpus__each_session__sums_as_published() -> None:
    bodies = corpus()
    assert len(bodies) == sum(name.startswith("copilot") for name in TOTALS)
    for name, text in bodies.items():
        (folded,) = given.folded([Delivery(copilot.FEED, text)], BOOK).values()
        fields, totals = folded.summary.fields, TOTALS[name]["totals"]
        read, written = totals.get("cache_read", 0), totals.get("cache_write", 0)
        published = (
            TOTALS[name]["responses"],
            totals.get("input_incl_cached", 0) - read - written,
            read,
            written,
            totals["output"],
        )
        found = (fields["calls"] + fields["aux_calls"], *(fields[leaf] for leaf in SUMS[2:]))
        assert found == ODD.get(name, published), name
        assert fields["compactions"] == TOTALS[name]["compactions"], name
