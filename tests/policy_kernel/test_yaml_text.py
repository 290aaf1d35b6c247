"""YAML of strangers: nothing guessed, nothing grown, refusals with their line."""

import pytest

from policy_app.kernel.errors import BadText, Duplicate, NotANumber, Refused, TooLarge, WrongType
from policy_app.kernel.fields import text
from policy_app.kernel.numbers import decimal_of, plain
from policy_app.kernel.yaml_text import MOST_BYTES, read_yaml
from tests.support.inputs import trap_bodies, traps


def test_yaml__words_that_yaml_turns_into_other_things__stay_text() -> None:
    expected = traps()["T145"]["expectation"]
    document = read_yaml(trap_bodies("T145")[0])
    assert isinstance(document, dict)
    assert list(document) == expected["keys"]
    assert document["version"] == expected["version"]
    names = [rule["name"] for rule in document["rules"]]
    assert names == expected["rule_names"]
    refused = []
    for index, name in enumerate(names):
        try:
            text(f"rules[{index}].name", name)
        except WrongType as error:
            refused.append(error.field)
    assert refused == expected["refused"]


def test_yaml__nan_and_infinities__refused_by_name() -> None:
    expected = traps()["T146"]["expectation"]
    document = read_yaml(trap_bodies("T146")[0])
    assert isinstance(document, dict)
    accepted, refused = {}, []
    for name, raw in document["thresholds"].items():
        try:
            accepted[name] = plain(decimal_of(name, raw))
        except NotANumber as error:
            refused.append(error.field)
    assert (accepted, refused) == (expected["accepted"], expected["refused"])


#: Nine lists of nine references each: three billion words out of 400 bytes.
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("source", "refusal", "field"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2\n", Duplicate, "line 4"),
        ("a: {b: 1, b: 2}", Duplicate, "line 1"),
        (BOMB, BadText, "line 1"),
        ("a: *x", BadText, "line 1"),
        ("a: !!float .nan", BadText, "line 1"),
        ("a: !!python/object/apply:os.system [ls]", BadText, "line 1"),
        ("? [a]\n: 1", WrongType, "line 1"),
        ("~: 1", WrongType, "line 1"),
        ("a: 1\n---\nb: 2\n", BadText, "line 2"),
        ("a: 'x", BadText, "line 1"),
        ("a: \x00", BadText, "yaml"),
        (b"\xff\xfea", BadText, "yaml"),
        ("[" * 100_000, TooLarge, "line 1"),
        ("- a\n" * 30_000, TooLarge, "line 20000"),
        ("#" * (10 * 1024 * 1024), TooLarge, "yaml"),
        (b" " * (MOST_BYTES + 1), TooLarge, "yaml"),
    ],
)
def test_yaml__hostile_source__refused_with_its_place(source: str | bytes, refusal: type[Refused], field: str) -> None:
    with pytest.raises(refusal) as caught:
        read_yaml(source)
    assert caught.value.field == field


def test_yaml__merge_key__is_a_key_like_any_other() -> None:
    assert read_yaml("<<: {a: 1}\n0x10: 1_000\n") == {"<<": {"a": "1"}, "0x10": "1_000"}


def test_yaml__nothing__is_none() -> None:
    assert (read_yaml(""), read_yaml("a:\nb: ~\nc: 'null'")) == (None, {"a": None, "b": None, "c": "null"})
