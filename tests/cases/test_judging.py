"""Quiet rules, drill, mute, survival, repair, durable memory and adherence, through the story."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from policy_app.kernel.adherence import Act, Adherence, After, adherence
from policy_app.kernel.operations import Operation
from sessions_app.kernel.trail import Trail, repeated_failures
from sessions_app.models import KeyKind, Restoration, Session, Standing, Team, Verdict
from sessions_app.services import deliveries, folding, judging, keys, muting, prices, verdicts
from tests.support.pins import PINS
from tests.support.replay import Moment, Player, moments

STORY = list(moments())
PROMPT = next(m for m in STORY if m.name == "UserPromptSubmit")
COMPACTED = next(n for n, m in enumerate(STORY) if m.name == "SessionStart compact")


@pytest.fixture
def player(teams: dict[str, Team]) -> Player:
    prices.seed(prices=PINS, source="test pins")
    return Player(teams["A"])


def upto(player: Player, end: int) -> None:
    for moment in STORY[:end]:
        player.play(moment)


def again(moment: Moment, *, seconds: int, event: str = "UserPromptSubmit", **more: Any) -> Moment:
    """The moment as another hook, later."""
    payload = {**moment.payload, "hook_event_name": event, **more}
    return Moment(moment.at + timedelta(seconds=seconds), payload, [])


def test_judge__same_zone_at_the_next_prompt__said_once(player: Player) -> None:
    stop = next(n for n, m in enumerate(STORY) if m.name == "Stop")
    upto(player, stop + 1)
    answered = player.play(again(STORY[stop], seconds=1))
    last = player.last()
    assert last is not None
    assert (last.zone, last.operation, last.silence, answered.text) == ("RED", "compact", "said_in_this_zone", "")


def test_judge__answer_that_the_host_did_not_wait_for__said_again(player: Player) -> None:
    stop = next(n for n, m in enumerate(STORY) if m.name == "Stop")
    player.confirms = False
    upto(player, stop + 1)
    player.confirms = True
    told = [player.play(again(STORY[stop], seconds=1 + n)).text for n in range(2)]
    assert ("systemMessage" in told[0], told[1]) == (True, "")
    assert [v.adherence for v in Verdict.objects.filter(operation="compact").spoken().order_by("pk")] == ["", "pending"]


def test_judge__muted__stored_and_not_said_but_pins_come_back(player: Player) -> None:
    upto(player, 1)
    muting.mute(session=player.row, muted=True, now=PROMPT.at)
    answers = [(m.name, player.play(m).text) for m in STORY[1:]]
    assert {v.silence for v in Verdict.objects.exclude(operation="continue")} == {"muted"}
    assert [name for name, text in answers if text] == ["PreCompact", "SessionStart compact"]
    assert "systemMessage" not in json.loads(dict(answers)["SessionStart compact"])


def test_drill__low_lines__marked_and_counted_nowhere(player: Player) -> None:
    drill = {"until": (PROMPT.at + timedelta(minutes=9)).isoformat(), "amber": 10, "red": 14, "critical": 60}
    upto(player, 4)
    moment = next(m for m in STORY if m.name == "PostToolUse toolu_0002")
    answered = player.play(moment, drill=drill)
    row = Verdict.objects.get(drill__isnull=False)
    # 28,406 of 200,000 is 14%: RED by the drill's lines, GREEN by the table's own.
    assert (row.zone, row.rule, row.said_to, row.adherence) == ("RED", "P3", ["model", "human"], "")
    words = json.loads(answered.text)["systemMessage"]
    assert words.startswith("DRILL · RED 14% (your drill line: 14%). Rule P3 of default v1: compact.")
    assert answered.advice == "DRILL · /compact now (P3 v1)"
    assert verdicts.rederive(row).is_equal
    assert not Standing.objects.filter(is_drill=False, messages__gt=0).exists()
    assert Verdict.objects.counted().filter(operation="compact").count() == 0


@pytest.mark.parametrize(
    "drill",
    [
        {"until": "2026-11-30T23:00:00+00:00", "amber": 10, "red": 14, "critical": 60},
        {"until": "2026-11-30T00:00:00+00:00", "amber": 10, "red": 14, "critical": 60},
        {"until": "later", "amber": 10, "red": 14, "critical": 60},
        {"until": "2026-11-30T22:30:00+00:00", "amber": 20, "red": 14, "critical": 60},
        {"until": "2026-11-30T22:30:00+00:00", "amber": "10", "red": 14, "critical": 60},
        {},
        None,
    ],
    ids=["beyond an hour", "over", "no time", "out of order", "no numbers", "empty", "none"],
)
def test_drill__not_a_drill__not_honoured(drill: Any) -> None:
    now = datetime(2026, 11, 30, 21, 59, tzinfo=UTC)
    assert deliveries.drill_of(drill, now) is None


def survival(at: float, **pins: str) -> dict[str, Any]:
    return {
        "compaction": {"trigger": "manual", "at": at},
        "pins_digest": "a" * 64,
        "pins": pins,
        "specifics": {
            "path": {"before": 12, "kept": 3},
            "version": {"before": 1, "kept": 2},
            "made_up": {"before": 1, "kept": 1},
        },
    }


def test_survival__counts_of_the_client__kept_and_told_once_at_the_next_prompt(player: Player) -> None:
    upto(player, COMPACTED + 1)
    post = STORY[COMPACTED + 1]
    told = survival(post.at.timestamp(), a="present", b="altered", c="absent", d="unknown", e="secret words")
    player.play(post, survival=((told, None),))
    row = Restoration.objects.get()
    assert row.survival == {"a": "present", "b": "altered", "c": "absent", "d": "unknown"}
    # More kept than there was is no count, and classes are a closed set.
    assert row.specifics == {"path": {"before": 12, "kept": 3}}
    answers = [(m.name, player.play(m).text) for m in STORY[COMPACTED + 2 :]]
    said = [json.loads(text)["systemMessage"] for name, text in answers if text]
    assert len(said) == 1
    assert said[0].startswith("In the summary itself 1 of 3 pins word for word.")


def test_bracket__server_was_away__kept_copy_confirmed_and_not_injected_again(player: Player) -> None:
    upto(player, COMPACTED)
    start = STORY[COMPACTED]
    printed = {"event": "SessionStart", "digest": "b" * 64, "by": "kept", "at": start.at.timestamp()}
    # The spool brings the hook later; it waits for no answer.
    assert player.play(start, waits=False, printed=(printed,)).text == ""
    # An answer that came too late for the client: it tells the same once more.
    answers = [player.play(m, printed=(printed,)).text for m in STORY[COMPACTED + 1 :]]
    row = Restoration.objects.get()
    assert (row.delivered_at is not None, row.repaired_at, row.pins_digest) == (True, None, "b" * 64)
    assert not any(answers)


def test_bracket__away_without_a_copy__repaired_at_the_next_prompt(player: Player) -> None:
    upto(player, COMPACTED)
    player.play(STORY[COMPACTED], waits=False)
    answers = [(m.name, player.play(m).text) for m in STORY[COMPACTED + 1 :]]
    assert [name for name, text in answers if text] == ["UserPromptSubmit"]
    assert Restoration.objects.get().repaired_at is not None


def test_bracket__same_hook_again_from_the_spool__one_row_and_no_second_text(player: Player) -> None:
    upto(player, COMPACTED + 1)
    assert player.play(STORY[COMPACTED], waits=False, printed=()).text == ""
    assert Restoration.objects.count() == 1


@pytest.mark.parametrize(("as_text", "event", "empty"), [("", "PreCompact", True), ("?as=text", "PreCompact", False)])
def test_http_door__before_a_compaction__empty_body_or_plain_text(
    player: Player, as_text: str, event: str, empty: bool
) -> None:
    _, secret = keys.issue(kind=KeyKind.INGEST, now=PROMPT.at, team=player.team)
    body = {**PROMPT.payload, "hook_event_name": event, "trigger": "auto"}
    answer = Client().post(
        f"/api/v1/hooks/claude-code{as_text}",
        json.dumps(body),
        "application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert (answer.status_code, answer.content == b"") == (200, empty)
    if not empty:
        assert answer["Content-Type"].startswith("text/plain")


def test_http_door__after_a_compaction__pins_in_the_answer_are_delivered(player: Player) -> None:
    _, secret = keys.issue(kind=KeyKind.INGEST, now=PROMPT.at, team=player.team)

    def post(**payload: str) -> bytes:
        body = {"session_id": player.session, **payload}
        headers = {"Authorization": f"Bearer {secret}"}
        return Client().post("/api/v1/hooks/claude-code", json.dumps(body), "application/json", headers=headers).content

    told = json.loads(post(hook_event_name="SessionStart", source="compact"))
    row = Restoration.objects.get()
    assert f"[{row.pins[0]}]" in told["hookSpecificOutput"]["additionalContext"]
    assert row.delivered_at is not None
    assert post(hook_event_name="UserPromptSubmit") == b""


def test_no_answer__ever_blocks(player: Player) -> None:
    lines = {"amber": 1, "red": 2, "critical": 3, "until": (STORY[-1].at + timedelta(minutes=5)).isoformat()}
    answers = [player.play(m, drill=lines).text for m in STORY]
    assert Verdict.objects.filter(zone="CRITICAL").exists()
    for text in filter(None, answers):
        assert '"decision"' not in text
        assert '"continue"' not in text


def test_externalize__by_crystalium_before_the_compaction__no_breach(player: Player) -> None:
    upto(player, 6)
    write = {"tool_name": "mcp__crystalium__plan_checkpoint", "tool_use_id": "toolu_c", "tool_response": {}}
    player.play(again(STORY[5], seconds=0, event="PostToolUse", **write))
    for moment in STORY[6:]:
        player.play(moment, fold=True)
    row = Restoration.objects.get()
    assert (row.sink, row.is_breach) == ("crystalium", False)
    assert Session.objects.get().project.has_crystalium  # type: ignore[union-attr]
    amber = Verdict.objects.get(event="PostToolUse")
    # Of the calls known by then only call 3 came after the write.
    assert amber.signals["externalize_age_calls"] == 1
    assert "were last written to durable memory 1 call ago" in amber.to_model


def test_adherence__compacted_after_the_advice__followed(player: Player) -> None:
    for moment in STORY:
        player.play(moment)
    for session_id in folding.dirty_ids(limit=10):
        folding.fold_session(session_id=session_id, now=STORY[-1].at)
    found = {v.operation: (v.adherence, v.adherence_calls) for v in Verdict.objects.spoken()}
    # The advice to compact came at the Stop; call 7 had begun before it. Nothing was ever written out.
    assert found == {"compact": ("followed", 0), "externalize": ("unknown", None)}


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (After(3, {Act.COMPACTED: 2}), (Adherence.FOLLOWED, 2)),
        (After(20, {Act.COMPACTED: 9}), (Adherence.NOT_FOLLOWED, None)),
        (After(8, {}), (Adherence.PENDING, None)),
        (After(9, {}), (Adherence.NOT_FOLLOWED, None)),
        (After(1, {Act.ENDED: 1}), (Adherence.UNKNOWN, None)),
        (After(1, {Act.EXTERNALIZED: 0}), (Adherence.PENDING, None)),
    ],
)
def test_adherence__of_an_advice_to_compact__by_calls(after: After, expected: tuple[Adherence, int | None]) -> None:
    assert adherence(Operation.COMPACT, after) == expected


def test_repeated_failures__same_tool_and_input__counted_since_its_last_success() -> None:
    outcomes = {"1": (1, "Bash:a", 1), "2": (2, "Bash:a", 0), "3": (3, "Bash:a", 1), "4": (4, "Read:b", 0)}
    assert repeated_failures(Trail(outcomes=outcomes)) == 1
    assert repeated_failures(Trail(outcomes={**outcomes, "5": (5, "Bash:a", 1)})) == 2
    assert repeated_failures(Trail(outcomes={"4": (4, "Read:b", 0)})) == 0


def test_judge__failures_told_by_hooks__are_a_signal(player: Player) -> None:
    upto(player, 2)
    for number in range(3):
        failed = {"tool_name": "Bash", "tool_use_id": f"toolu_f{number}", "tool_input": {"command": "make test"}}
        player.play(again(PROMPT, seconds=1 + number, event="PostToolUseFailure", error="no", **failed))
    player.play(again(PROMPT, seconds=5))
    last = player.last()
    assert last is not None
    assert last.signals["repeat_failures"] == 3


def test_replay_verdicts__all_stored__equal(player: Player, capsys: pytest.CaptureFixture[str]) -> None:
    upto(player, len(STORY))
    call_command("replay_verdicts")
    count = Verdict.objects.count()
    assert f"{count} of {count} verdicts come out equal." in capsys.readouterr().out
    Verdict.objects.filter(operation="compact").update(zone="GREEN")
    with pytest.raises(SystemExit):
        call_command("replay_verdicts")


def test_answer__digest_that_the_client_confirms__marks_the_verdict_as_printed(player: Player) -> None:
    upto(player, len(STORY))
    row = Verdict.objects.get(event="PostToolUse")
    assert row.printed_at is not None
    assert len(row.answer_digest) == len(judging.digest_of(""))
