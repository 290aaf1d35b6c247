"""The sentences at the head of the pages."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from sessions_app.dashboard import findings
from sessions_app.dashboard.findings import Dearest, Loss, OverviewBefore, OverviewFacts, SessionFacts
from sessions_app.dashboard.ledger import Entry, ledger
from sessions_app.dashboard.sentences import plain

STORY = SessionFacts(
    calls=10,
    cost_usd=Decimal("1.428819"),
    unpriced_calls=0,
    is_lower_bound=False,
    peak_zone="RED",
    peak_percent="76.8%",
    peak_call=6,
    peak_href="#c6",
    losses=(Loss(7, 152_700, 0, Decimal("0.526815")),),
    compactions=(("manual", "76.9%"),),
    is_open_after_compaction=False,
)


def test_session__the_recorded_story__is_told_in_three_sentences() -> None:
    assert plain(findings.of_session(STORY)) == (
        "10 calls, $1.43 at list price."
        " It reached RED at call 6 and then lost its whole cache once, for $0.53 extra."
        " It was compacted once, by hand, at 76.9%."
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"is_lower_bound": True}, "10 calls, at least $1.43 at list price."),
        ({"cost_usd": None}, "10 calls; no price is known for any of them."),
        ({"unpriced_calls": 2}, "at least $1.43 at list price; 2 without a price."),
        ({"peak_zone": "UNKNOWN", "peak_call": None, "losses": ()}, "How full it was is not known."),
        ({"peak_zone": "GREEN", "peak_percent": "41.0%", "losses": ()}, "It stayed GREEN, at most 41.0%."),
        ({"losses": (Loss(3, 9_000, 2_000, None),)}, "It reached RED at call 6 and lost most of its cache once."),
        ({"compactions": (("auto", "?"),)}, "It was compacted once, by the host."),
        ({"compactions": (("manual", "?"),) * 2}, "It was compacted twice, both by hand."),
        ({"compactions": (("manual", "?"), ("auto", "?"))}, "It was compacted twice, 1 of them by hand."),
        ({"is_open_after_compaction": True}, "The context is unknown since the last one, until the next call."),
        ({"calls": 0, "cost_usd": None}, "No call of this session has been seen, so its cost is not known."),
        ({"calls": 0}, "Only counters arrived, no single call: $1.43 at list price."),
    ],
)
def test_session__what_is_known__is_all_that_is_claimed(change: dict[str, Any], words: str) -> None:
    assert words in plain(findings.of_session(replace(STORY, **change)))


TEAM = OverviewFacts(
    sessions=4,
    calls=40,
    cost_usd=Decimal(100),
    is_lower_bound=False,
    avoidable_usd=Decimal("7.5"),
    unexplained_usd=Decimal(3),
    first_cause=("pauses over 5 minutes", Decimal(5)),
    dearest=Dearest("billing · main", "/sessions/1/", Decimal(60)),
    placed_calls=40,
    high_calls=4,
    sessions_href="/sessions/",
    high_href="/sessions/?zone=HIGH",
)


BEFORE = OverviewBefore("the 7 days before", Decimal(50), Decimal(4), Decimal(1))
NOTHING_LOST = {"avoidable_usd": Decimal(0), "unexplained_usd": Decimal(0)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "7.5% of what 4 sessions cost was avoidable: $7.50."),
        ({"unexplained_usd": Decimal(9)}, "9.0% of what 4 sessions cost was sent again without a known cause: $9.00."),
        (NOTHING_LOST, "4 sessions cost $100.00. 60.0% of it is one: billing · main."),
        ({**NOTHING_LOST, "is_lower_bound": True}, "4 sessions cost at least $100.00."),
        ({"cost_usd": None}, "4 sessions without a known price."),
    ],
)
def test_overview__the_largest_loss__is_the_finding(change: dict[str, Any], words: str) -> None:
    assert plain(findings.of_overview(replace(TEAM, **change))).startswith(words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "First of all pauses over 5 minutes: $5.00. 10.0% of calls were made in RED or CRITICAL."),
        ({"first_cause": ("caching is off", Decimal("7.5"))}, "All of it: caching is off. 10.0% of calls"),
        ({"first_cause": None}, "10.0% of calls"),
        ({"first_cause": None, "before": BEFORE}, "In the 7 days before it was 8.0%, $4.00. 10.0% of calls"),
        ({"unexplained_usd": Decimal(9), "before": BEFORE}, "In the 7 days before it was 2.0%, $1.00. 10.0%"),
        ({"first_cause": None, "before": replace(BEFORE, avoidable_usd=Decimal(0))}, "In the 7 days before it was not"),
        ({**NOTHING_LOST, "before": BEFORE}, "10.0% of calls"),
        ({"first_cause": None, "high_calls": 0}, "No call came near the end of its window."),
        ({"first_cause": None, "placed_calls": 0, "high_calls": 0}, "How full their contexts were is not known."),
    ],
)
def test_overview__beside_the_finding__stand_cause_past_and_fullness(change: dict[str, Any], words: str) -> None:
    assert plain(findings.beside_overview(replace(TEAM, **change))).startswith(words)


def test_overview__numbers__are_links_to_their_parts() -> None:
    said = (*findings.of_overview(TEAM), *findings.beside_overview(TEAM))
    links = {piece.text: piece.href for piece in said if piece.href}
    assert links == {"4 sessions": "/sessions/", "$5.00": "#went", "$7.50": "#went", "10.0%": "/sessions/?zone=HIGH"}


def test_ledger__the_recorded_story__has_four_parts_that_sum_to_the_bill() -> None:
    found = ledger(
        Decimal("1.428819"),
        Decimal("0.783462"),
        [
            Entry("compaction_call", "expected", 1, 0, Decimal("0.084732")),
            Entry("compaction", "expected", 1, 9_800, Decimal("0.033810")),
            Entry("prefix_changed_or_evicted", "unexplained", 1, 152_700, Decimal("0.526815")),
        ],
    )
    assert found is not None
    assert found.residual_usd == 0
    assert found.expected.usd == Decimal("0.118542")
    assert found.not_explained.usd == Decimal("0.526815")
    assert sum(found.parts) == found.billed_usd


def test_ledger__compactions_whose_own_call_is_unseen__is_a_bound_and_not_zero() -> None:
    found = ledger(Decimal(1), Decimal("0.9"), [Entry("compaction", "expected", 2, 9, Decimal("0.1"))])
    assert found is not None
    assert found.expected_is_bound
    assert found.summaries.calls == 0


def test_ledger__nothing_priced__is_unknown() -> None:
    assert ledger(None, None, []) is None
