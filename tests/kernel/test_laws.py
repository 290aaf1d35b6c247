"""The recorded story in any order, any part twice, cut anywhere: one outcome, and the right one."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.kernel.facts import SessionFold
from sessions_app.kernel.zones import Zone
from tests.support import deliveries as story
from tests.support.pins import BOOK

G, A, R = Zone.GREEN, Zone.AMBER, Zone.RED
STORY_ZONES = [G, G, A, A, R, R, G, G]


def only(folds: dict[str, SessionFold]) -> SessionFold:
    assert len(folds) == 1
    return next(iter(folds.values()))


def zones(outcome: SessionFold) -> list[Zone]:
    return [call.zone for call in outcome.calls if call.zone is not None]


def sums(outcome: SessionFold) -> dict[str, object]:
    return {name: outcome.summary.fields[name] for name in MERGED}


MERGED = {
    "calls": 9,
    "aux_calls": 1,
    "uncached_input": 53,
    "cache_read": 472_200,
    "cache_write_5m": 323_000,
    "cache_write_unknown_ttl": 700,
    "cache_write_1h": 1_500,
    "output": 4_450,
    "cost_usd": Decimal("1.428819"),
}


def test_fold__whole_story__the_served_usage() -> None:
    outcome = only(story.folded(story.whole_story(), BOOK))
    assert sums(outcome) == MERGED
    assert zones(outcome) == STORY_ZONES
    assert outcome.summary.fields["threads"] == 2
    assert outcome.summary.fields["host_cost_usd"] == Decimal("1.428819")
    assert outcome.summary.fields["lower_bound"] == []


def test_fold__whole_story__one_compaction_with_three_befores() -> None:
    (compaction,) = only(story.folded(story.whole_story(), BOOK)).compactions
    assert (compaction.trigger, compaction.state, compaction.depth) == ("manual", "completed", 1)
    assert (compaction.before_tokens, compaction.before_origin) == (153_824, "transcript")
    assert (compaction.before_by_last_call, compaction.before_by_telemetry) == (153_604, 10_923)
    assert (compaction.after_tokens, compaction.after_by_host) == (24_005, 651)
    assert compaction.summary_call == "r:req_mock00008"


def test_fold__whole_story__what_the_compaction_was_worth() -> None:
    (compaction,) = only(story.folded(story.whole_story(), BOOK)).compactions
    worth = compaction.worth
    assert worth is not None
    assert (worth.summary_usd, worth.rewrite_usd) == (Decimal("0.084732"), Decimal("0.03381"))
    assert worth.cost_usd == Decimal("0.118542")
    # 153,824 before, 24,005 after: 129,819 tokens less to read in each call.
    assert worth.per_call_usd == Decimal("0.0389457")
    assert (worth.pays_back_in, worth.later_calls, worth.cold_calls, worth.is_warm) == (4, 2, 0, True)
    assert worth.net_usd == 2 * Decimal("0.0389457") - Decimal("0.118542")


def test_fold__transcripts_alone__cost_of_the_compaction_is_not_known() -> None:
    (compaction,) = only(story.folded(story.transcripts(), BOOK)).compactions
    assert compaction.worth is not None
    assert (compaction.worth.summary_usd, compaction.worth.rewrite_usd) == (None, Decimal("0.03381"))
    assert (compaction.worth.cost_usd, compaction.worth.net_usd, compaction.worth.pays_back_in) == (None, None, None)


def test_fold__telemetry_alone__all_ten_calls_with_unknown_split() -> None:
    outcome = only(story.folded(story.logs_only(), BOOK))
    assert sums(outcome) == {
        **MERGED,
        "cache_write_5m": 324_500,
        "cache_write_unknown_ttl": 324_500,
        "cache_write_1h": 0,
        "cost_usd": Decimal("1.425444"),
    }
    assert zones(outcome) == STORY_ZONES


def test_fold__transcripts_alone__nine_calls_and_a_lower_bound() -> None:
    outcome = only(story.folded(story.transcripts(), BOOK))
    assert sums(outcome) == {
        "calls": 9,
        "aux_calls": 0,
        "uncached_input": 44,
        "cache_read": 318_600,
        "cache_write_5m": 322_300,
        "cache_write_unknown_ttl": 0,
        "cache_write_1h": 1_500,
        "output": 2_050,
        "cost_usd": Decimal("1.344087"),
    }
    assert [reason["code"] for reason in outcome.summary.fields["lower_bound"]] == ["compaction_call_unseen"]


def test_fold__hooks_alone__a_compaction_and_no_calls() -> None:
    outcome = only(story.folded(story.hooks(), BOOK))
    assert (outcome.summary.fields["calls"], outcome.summary.fields["compactions"]) == (0, 1)
    assert outcome.summary.fields["zone"] == "UNKNOWN"


@pytest.mark.parametrize("without", ["hooks", "telemetry", "transcripts"])
def test_fold__one_source_missing__still_one_compaction(without: str) -> None:
    parts = {"hooks": story.hooks(), "telemetry": story.telemetry(), "transcripts": story.transcripts()}
    outcome = only(story.folded([d for name, part in parts.items() if name != without for d in part], BOOK))
    assert outcome.summary.fields["compactions"] == 1


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(min_value=0, max_value=1 << 32))
def test_fold__any_order_twice_and_cut__one_outcome(seed: int) -> None:
    outcome = only(story.folded(story.shuffled(story.whole_story(), seed), BOOK))
    assert outcome == only(story.folded(story.whole_story(), BOOK))


def test_fold__whole_story__one_tool_use_was_made_again_after_the_compaction() -> None:
    """`seq 1 2000` ran four times before it and once after it, as the recorded hooks tell."""
    (compaction,) = only(story.folded(story.whole_story(), BOOK)).compactions
    assert compaction.rereads == 1


def test_fold__no_hooks__what_was_fetched_again_is_not_known() -> None:
    (compaction,) = only(story.folded([*story.transcripts(), *story.telemetry()], BOOK)).compactions
    assert (compaction.rereads, compaction.reread_bytes) == (None, None)
