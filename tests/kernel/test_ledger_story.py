"""The recorded story's bill in four parts: the figures of its host and of its served usage."""

from collections import defaultdict
from decimal import Decimal

from sessions_app.kernel import parts
from sessions_app.kernel.causes import Cause, Confidence, Part, Standing
from sessions_app.kernel.misses import Explained
from tests.support import deliveries as story
from tests.support.ledgers import explained, sent_calls
from tests.support.pins import BOOK


def _story() -> dict[str, Explained]:
    (outcome,) = story.folded(story.whole_story(), BOOK).values()
    return explained(outcome, BOOK)


def _sums(found: dict[str, Explained]) -> dict[str, Decimal]:
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for entry in found.values():
        sums["needed"] += entry.needed_usd or 0
        if entry.miss is not None:
            sums[entry.miss.part] += entry.extra_usd or 0
    return dict(sums)


def test_ledger__whole_story__the_hosts_total_in_its_parts() -> None:
    sums = _sums(_story())
    assert sums == {
        "needed": Decimal("0.783462"),
        Part.EXPECTED: Decimal("0.118542"),
        Part.UNEXPLAINED: Decimal("0.526815"),
    }
    assert sum(sums.values()) == Decimal("1.428819")


def test_ledger__whole_story__saved_against_no_cache_by_its_own_formula() -> None:
    (outcome,) = story.folded(story.whole_story(), BOOK).values()
    calls = sent_calls(outcome, BOOK)
    saved = [parts.saved(call.leaves, call.price) for call in calls if call.price]
    assert sum(amount for amount in saved if amount is not None) == Decimal("1.02819")
    assert outcome.summary.fields["no_cache_cost_usd"] == Decimal("2.457009")


def test_ledger__call_7__not_explained_and_what_was_ruled_out() -> None:
    miss = _story()["m:msg_mock00007"].miss
    assert miss is not None
    assert (miss.expected_tokens, miss.missed_tokens) == (152_700, 152_700)
    assert (miss.cause, miss.confidence) == (Cause.UNKNOWN, Confidence.GUESS)
    out = {check.cause: check for check in miss.others(Standing.RULED_OUT)}
    assert {Cause.COMPACTION, Cause.MODEL_SWITCH, Cause.TTL_5M, Cause.NOT_ADVANCING} <= set(out)
    assert out[Cause.TTL_5M].limit == 300_000
    assert (out[Cause.TTL_5M].measured or 0) < 10_000
    assert {check.cause for check in miss.others(Standing.OPEN)} == {Cause.TOOLS, Cause.SYSTEM, Cause.MESSAGES}


def test_ledger__after_the_compaction__writing_again_is_expected() -> None:
    found = _story()
    rebuilt, summary = found["m:msg_mock00009"], found["r:req_mock00008"]
    assert rebuilt.miss is not None
    assert summary.miss is not None
    assert (rebuilt.miss.cause, rebuilt.miss.missed_tokens) == (Cause.COMPACTION, 9_800)
    assert rebuilt.extra_usd == Decimal("0.03381")
    assert summary.miss.cause is Cause.SUMMARY
    assert (summary.needed_usd, summary.extra_usd) == (Decimal(), Decimal("0.084732"))
