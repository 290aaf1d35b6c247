"""The recorded story by event time: which hook gives which verdict, to whom, and why to nobody."""

import json
from collections.abc import Iterator

import pytest

from sessions_app.models import Restoration, Standing, Team, Verdict
from sessions_app.services import prices, verdicts
from tests.support.pins import PINS
from tests.support.replay import Moment, Player, moments

#: hook: (zone, rule, operation, who is told, why nobody). Hooks that are not here give no verdict.
#: What was true at each is in served-usage.json: calls of 28,406 37,504 101,704 103,804 152,704 153,604 tokens,
#: then, after the compaction, 24,005 and 28,505, of 200,000.
GIVEN = [
    ("SessionStart startup", "UNKNOWN", "P7", "continue", [], "nothing_to_do"),
    ("UserPromptSubmit", "UNKNOWN", "P7", "continue", [], "nothing_to_do"),
    # Call 3 is known by now: 101,704 of 200,000. The tool boundary raises.
    ("PostToolUse toolu_0003", "AMBER", "P6", "externalize", ["model"], ""),
    # Call 6 is known by now: 152,704. At Stop only the human hears.
    ("Stop", "RED", "P3", "compact", ["human"], ""),
    ("SessionStart resume", "RED", "P3", "compact", [], "said_in_this_zone"),
    # From the compaction to the next usage nothing is known, and unknown never escalates.
    ("SessionStart compact", "UNKNOWN", "P7", "continue", [], "nothing_to_do"),
    ("SessionStart resume", "UNKNOWN", "P7", "continue", [], "nothing_to_do"),
    ("UserPromptSubmit", "UNKNOWN", "P7", "continue", [], "nothing_to_do"),
    ("Stop", "UNKNOWN", "P7", "continue", [], "nothing_to_do"),
]


@pytest.fixture
def player(teams: dict[str, Team]) -> Player:
    prices.seed(prices=PINS, source="test pins")
    return Player(teams["A"])


def played(player: Player, *, fold: bool = False) -> Iterator[tuple[Moment, Verdict | None, str]]:
    """Each moment with the verdict that it gave, and the answer."""
    before = 0
    for moment in moments():
        answered = player.play(moment, fold=fold)
        last = player.last()
        yield moment, last if last and last.pk > before else None, answered.text
        before = last.pk if last else before


@pytest.mark.parametrize("fold", [False, True], ids=["no fold in time", "folded at once"])
def test_story__by_event_time__these_verdicts_to_these(player: Player, fold: bool) -> None:
    given = [
        (moment.name, v.zone, v.rule, v.operation, v.said_to, v.silence)
        for moment, v, _ in played(player, fold=fold)
        if v is not None
    ]
    assert given == GIVEN


def test_story__what_was_known__value_origin_and_calls_behind(player: Player) -> None:
    known = {m.name: (v.signals, v.origins) for m, v, _ in played(player) if v is not None}
    signals, origins = known["PostToolUse toolu_0003"]
    assert (signals["context_tokens"], signals["depth"], signals["externalize_age_calls"]) == (101_704, 0, "unset")
    # Call 3 asked for this tool, and call 4 is the subagent's: nothing newer of the main chain is missing.
    assert (origins["context_tokens"]["origin"], signals["behind_calls"]) == ("transcript", 0)
    signals, _ = known["UserPromptSubmit"]
    assert (signals["context_tokens"], signals["calls_since_compaction"], signals["depth"]) == ("unknown", 0, 1)


def test_story__texts__facts_with_their_link_and_no_more_than_200_tokens(player: Player) -> None:
    texts = {m.name: json.loads(text) for m, v, text in played(player) if text and text.startswith("{")}
    to_model = texts["PostToolUse toolu_0003"]["hookSpecificOutput"]
    assert to_model["hookEventName"] == "PostToolUse"
    words = to_model["additionalContext"]
    assert words.startswith("Context: 101,704 tokens, 50% of 200,000 (AMBER; by transcript")
    assert "Rule P6 of default v1: externalize." in words
    assert "have not been written to durable memory in this session" in words
    assert len(words.encode()) <= 600
    to_human = texts["Stop"]["systemMessage"]
    assert to_human.startswith("RED 76%. Rule P3 of default v1: compact. Only you can: type /compact.")
    said = {v.said_to[0]: v for v in Verdict.objects.spoken()}
    assert words.endswith(f"https://ecm.example.com/v/{said['model'].public_id}")
    assert to_human.endswith(f"Why: https://ecm.example.com/v/{said['human'].public_id}")


def test_story__every_verdict__derived_again_is_equal(player: Player) -> None:
    list(played(player))
    stored = list(Verdict.objects.select_related("version"))
    assert len(stored) == len(GIVEN)
    assert [verdicts.rederive(each).differing for each in stored] == [()] * len(GIVEN)


def test_story__compaction__pins_named_before_and_injected_once_after(player: Player) -> None:
    answers = [(m.name, text) for m, _, text in played(player) if text]
    row = Restoration.objects.get()
    assert (row.offered_at is not None, row.delivered_at is not None, row.repaired_at) == (True, True, None)
    before = next(text for name, text in answers if name == "PreCompact")
    assert row.pins
    assert all(pin in before for pin in row.pins)
    injected = [name for name, text in answers if f"[{row.pins[0]}]" in text]
    assert injected == ["SessionStart compact"]
    assert (row.sink, row.is_breach, row.trigger) == ("none", False, "manual")


def test_story__answer_never_printed__repaired_once_at_the_next_prompt(player: Player) -> None:
    player.confirms = False
    answers = [(m.name, text) for m, _, text in played(player) if text]
    row = Restoration.objects.get()
    injected = [name for name, text in answers if f"[{row.pins[0]}]" in text]
    assert injected == ["SessionStart compact", "UserPromptSubmit"]
    assert row.repaired_at is not None


def test_story__own_cost__tokens_of_verdicts_and_pins(player: Player) -> None:
    list(played(player))
    row = Restoration.objects.get()
    spoken = sum(v.injected_tokens for v in Verdict.objects.all())
    assert 0 < spoken <= 200
    assert Standing.objects.get().injected_tokens == spoken + row.injected_tokens
