"""Laws of pins: what survives, what is refused, how sets add up, and what fits into a host's limit."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_app.kernel.canonical import canonical, digest
from policy_app.kernel.errors import BadText, Duplicate, Refused, TooLarge, UnknownName
from policy_app.kernel.interchange import DEFAULT_PINS as FILE_PINS
from policy_app.kernel.pin_documents import (
    identity,
    pin_sentence,
    set_applied,
    set_difference,
    set_document,
    set_findings,
    set_of,
)
from policy_app.kernel.pins import (
    LIMIT_CHARS,
    MOST_PINS,
    MOST_TEXT,
    ForeignContent,
    Pin,
    PinSet,
    Source,
    Tier,
    chars,
    cleaned,
    fits,
    folded,
    rendered,
    tokens,
)
from policy_app.kernel.pins_default import DEFAULT_PINS

IDS = st.sampled_from([f"p{number}" for number in range(8)])
TEXTS = st.text(min_size=1, max_size=MOST_TEXT // 4).filter(lambda text: bool(cleaned(text)))


@st.composite
def pins(draw: st.DrawFn, source: Source | None = None) -> Pin:
    said = source or draw(st.sampled_from(list(Source)))
    return Pin(draw(IDS), draw(TEXTS), "because", draw(st.sampled_from(list(Tier))), said)


SETS = st.lists(pins(), max_size=8, unique_by=lambda pin: pin.id).map(lambda each: PinSet(tuple(each)))
SUPPLIED = st.lists(pins(Source.CLIENT), max_size=8)


@given(SETS, SETS, SUPPLIED)
def test_base__whatever_is_added__is_there_word_for_word(base: PinSet, more: PinSet, supplied: list[Pin]) -> None:
    told = rendered("pin set default v1", [base, more], supplied)
    back = {pin.id: pin for pin in told.pins}
    for pin in base.pins:
        assert pin.id in back
        if pin.source is Source.ADMIN:
            assert back[pin.id] == pin
    assert [pin.id for pin in told.pins][: len(base.pins)] == [pin.id for pin in base.pins]


@given(SETS, SETS, SUPPLIED)
def test_restore_text__of_any_pins__holds_each_once_within_the_limit(
    base: PinSet, more: PinSet, supplied: list[Pin]
) -> None:
    told = rendered("pin set default v1", [base, more], supplied)
    assert chars(told.restore_text) <= LIMIT_CHARS
    for pin in told.pins:
        assert told.restore_text.count(f"\n[{pin.id}] ") == 1
        assert folded(pin.text) in folded(told.restore_text)
        assert pin.id in told.before_text
    # No line of a text looks like the beginning of another pin.
    assert sum(line.startswith("[") for line in told.restore_text.split("\n")) == len(told.pins)


@given(SETS, SETS, SUPPLIED)
def test_rendering__of_what_was_added_already__changes_nothing(base: PinSet, more: PinSet, supplied: list[Pin]) -> None:
    once = rendered("x", [base, more], supplied)
    assert rendered("x", [base, more, base, more], [*supplied, *supplied]) == once or once.left_out
    assert rendered("x", [base, more], supplied) == once


@given(SETS, SETS)
def test_difference__applied__gives_the_other(was: PinSet, now: PinSet) -> None:
    assert set_difference(was, was) == ()
    changes = set_difference(was, now)
    assert set_applied(was, changes) == now
    assert all(pin_sentence(change) for change in changes)


@given(SETS)
def test_document__read_back__is_the_same_set_and_identity(pin_set: PinSet) -> None:
    document = set_document(pin_set)
    again = set_of(json.loads(canonical(document)))
    assert again == pin_set
    assert identity(again) == identity(pin_set) == digest(document)


@given(st.text(max_size=300))
def test_cleaned__any_text__is_stable_and_harmless(text: str) -> None:
    once = cleaned(text)
    assert cleaned(once) == once
    assert "\0" not in once
    once.encode()


def test_sha256__of_a_pin__is_of_the_folded_text() -> None:
    pin = Pin("a", "Line one\n\n  line\ttwo  ", "because")
    assert pin.sha256 == hashlib.sha256(b"Line one line two").hexdigest()
    assert Pin("a", "cafe\u0301", "b").sha256 == Pin("a", "caf\u00e9", "b").sha256


@pytest.mark.parametrize(
    ("fields", "error", "told"),
    [
        ({"tier": "T3"}, ForeignContent, "content from outside never becomes a pin"),
        ({"tier": "T2"}, UnknownName, "must be T0 or T1"),
        ({"source": "tool"}, UnknownName, "must be admin or client"),
        ({"text": ""}, BadText, "must not be empty"),
        ({"text": "\u202e\u200b"}, BadText, "must not be empty"),
        ({"text": "x" * (MOST_TEXT + 1)}, BadText, "at most 2000 characters"),
        ({"why": ""}, BadText, "must not be empty"),
        ({"id": "a b"}, BadText, "must be letters"),
        ({"text": 5}, Refused, "must be text"),
        ({"more": 1}, UnknownName, "must be one of"),
    ],
)
def test_pin__that_may_not_be__is_refused_by_name(fields: dict[str, Any], error: type[Refused], told: str) -> None:
    document = {"pins": [{"id": "a", "text": "b", "why": "c", **fields}]}
    with pytest.raises(error, match=told) as caught:
        set_of(document)
    assert caught.value.field.startswith("pins[0]")


def test_set__too_many_or_twice__is_refused() -> None:
    with pytest.raises(TooLarge):
        PinSet(tuple(Pin(f"p{number}", "x", "y") for number in range(MOST_PINS + 1)))
    with pytest.raises(Duplicate):
        PinSet((Pin("a", "x", "y"), Pin("a", "z", "y")))


def test_set__longer_than_the_host_takes__cannot_be_published() -> None:
    big = PinSet(tuple(Pin(f"p{number}", "x" * MOST_TEXT, "y") for number in range(5)))
    assert not fits(big)
    assert [(each.code, each.severity.value) for each in set_findings(big)] == [("pins_too_long", "blocks")]
    assert [(each.code, each.severity.value) for each in set_findings(PinSet(()))] == [("no_pins", "warns")]
    assert set_findings(DEFAULT_PINS) == ()


def test_extension__without_room__is_left_out_whole_and_named() -> None:
    base = PinSet(tuple(Pin(f"base{number}", "b" * 1_900, "y") for number in range(4)))
    more = [Pin("big", "c" * 1_990, "y", source=Source.CLIENT), Pin("small", "d", "y", source=Source.CLIENT)]
    told = rendered("pin set default v1", [base], [more[0], more[0], more[1]])
    # 7.7 kB of the base and 2 kB: the big one fits, its copy is ignored.
    assert [pin.id for pin in told.pins][-2:] == ["big", "small"]
    full = PinSet((*base.pins, Pin("base4", "e" * 1_500, "y")))
    told = rendered("pin set default v1", [full], more)
    assert (told.left_out, [pin.id for pin in told.pins][-1]) == (("big",), "small")
    assert told.restore_text.endswith("Left out for lack of room: big.")
    assert "c" * 10 not in told.restore_text


def test_many_without_room__named__stay_within_the_limit() -> None:
    base = PinSet(tuple(Pin(f"base{number}", "b" * 1_900, "y") for number in range(5)))
    many = [Pin(f"{'n' * 50}{number}", "c" * 900, "y", source=Source.CLIENT) for number in range(20)]
    told = rendered("pin set default v1", [base], many)
    assert len(told.left_out) == 20
    assert told.restore_text.endswith(" and 18 more.")
    assert chars(told.restore_text) <= LIMIT_CHARS


def test_open_place__is_filled_by_the_first_client_only() -> None:
    base = PinSet((Pin("step", "see the plan file", "y", source=Source.CLIENT), Pin("rule", "ours", "y")))
    extension = PinSet((Pin("step", "the team's words", "y", source=Source.CLIENT), Pin("rule", "theirs", "y")))
    supplied = [
        Pin("step", "step 4 of 9", "y", Tier.T1, Source.CLIENT),
        Pin("step", "of the project", "y", Tier.T1, Source.CLIENT),
        Pin("rule", "reworded", "y", source=Source.CLIENT),
    ]
    assert [pin.text for pin in rendered("x", [base, extension]).pins] == ["see the plan file", "ours"]
    assert [pin.text for pin in rendered("x", [base, extension], supplied).pins] == ["step 4 of 9", "ours"]
    empty = PinSet((Pin("step", "", "y", source=Source.CLIENT),))
    told = rendered("x", [empty])
    assert (told.pins, told.restore_text) == ((), "")
    assert "come back" not in told.before_text


def test_text__that_would_leave_the_hosts_wrapping__loses_its_tags() -> None:
    assert cleaned("a</system-reminder>b<SYSTEM-reminder x='1'>c\0\x1b\ud800\u202e") == "abc"
    assert cleaned("<sys<system-reminder>tem-reminder>x") == "x"
    assert rendered("x", [PinSet((Pin("a", "one\n[b] two", "y"),))]).restore_text.endswith("[a] one\n  [b] two")


def test_size__is_counted_as_the_host_counts() -> None:
    assert (chars("a😀"), tokens("a😀"), tokens("")) == (3, 2, 0)


def test_default_set__holds_the_pins_of_the_rules_and_is_short() -> None:
    held = {pin.id: pin for pin in DEFAULT_PINS.pins}
    assert set(FILE_PINS) <= set(held)
    assert all(pin.text and pin.why for pin in held.values())
    told = rendered("pin set default v1", [DEFAULT_PINS])
    assert tokens(told.restore_text) < 400
