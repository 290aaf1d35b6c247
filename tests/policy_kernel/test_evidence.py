"""The shipped evidence, and arguments that no longer match their number."""

from dataclasses import replace
from decimal import Decimal

import pytest

from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.errors import Refused
from policy_app.kernel.evidence import Status, argument_findings, confirmed_again, number_at, unmatched
from policy_app.kernel.evidence_library import LIBRARY
from policy_app.kernel.table import Argument
from policy_app.kernel.zones import Lines


def test_default_table__everything_that_it_cites__is_in_the_library() -> None:
    cited = {name for rule in DEFAULT_TABLE.rules for name in rule.evidence}
    cited |= {argument.evidence for argument in DEFAULT_TABLE.arguments}
    assert cited <= set(LIBRARY)
    assert all(rule.reason and rule.evidence for rule in DEFAULT_TABLE.rules)


def test_default_table__every_line_and_argument__speaks_of_the_number_that_stands_there() -> None:
    assert unmatched(DEFAULT_TABLE) == ()
    argued = {argument.subject for argument in DEFAULT_TABLE.arguments}
    assert {"zones.amber", "zones.red", "zones.critical", "limits.compaction_depth_cap"} <= argued


def test_library__every_record__has_a_claim_a_source_and_a_status() -> None:
    assert all(record.claim and record.source and record.status in Status for record in LIBRARY.values())
    assert all(name == record.id for name, record in LIBRARY.items())


def test_library__source_that_nobody_could_find__is_not_cited() -> None:
    assert not [record.id for record in LIBRARY.values() if "2605.05117" in record.source]


def test_argument__line_moved__no_longer_matches_until_it_is_confirmed_again() -> None:
    moved = replace(DEFAULT_TABLE, lines=Lines(red=Decimal("0.65")))
    (argument,) = unmatched(moved)
    assert (argument.subject, argument.evidence, argument.number) == ("zones.red", "ecm-mechanical-trigger", "0.75")
    (finding,) = argument_findings(moved)
    assert "0.75" in finding.text
    assert "0.65" in finding.text
    confirmed = confirmed_again(moved, "zones.red", "ecm-mechanical-trigger")
    assert unmatched(confirmed) == ()
    assert unmatched(replace(confirmed, lines=DEFAULT_TABLE.lines)) != ()


def test_number__of_a_place_that_is_gone__is_none() -> None:
    places = ("zones.blue", "limits.mood", "rules.P9.depth", "rules.P3.idle_seconds", "anything")
    assert [number_at(DEFAULT_TABLE, subject) for subject in places] == [None] * len(places)


def test_table__same_evidence_twice_for_one_number__is_refused() -> None:
    twice = (Argument("zones.red", "a", "0.75"), Argument("zones.red", "a", "0.6"))
    with pytest.raises(Refused) as caught:
        replace(DEFAULT_TABLE, arguments=twice)
    assert caught.value.field == "arguments"
