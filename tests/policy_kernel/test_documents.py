"""Tables as documents, and the one canonical form and hash of a document."""

import hashlib
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_app.kernel.canonical import canonical, digest
from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.documents import identity, table_document, table_of
from policy_app.kernel.errors import (
    BadText,
    Duplicate,
    LimitMismatch,
    NotANumber,
    OutOfRange,
    Refused,
    TooLarge,
    UnknownName,
    WrongOrder,
    WrongType,
)
from policy_app.kernel.operations import PruneToolResults
from tests.policy_kernel.tables import TWELVE, random_table, small_table

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abxyzé\u0301", max_size=4), inner, max_size=4),
    max_leaves=12,
)


def shuffled(value: Any, rng: random.Random) -> Any:
    """The same value with the keys of every object in another order."""
    if isinstance(value, dict):
        keys = list(value)
        rng.shuffle(keys)
        return {key: shuffled(value[key], rng) for key in keys}
    return [shuffled(each, rng) for each in value] if isinstance(value, list) else value


def document() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(table_document(DEFAULT_TABLE)))
    return made


@given(st.integers(0, 10**9))
def test_document__of_any_table__gives_the_table_back(seed: int) -> None:
    rng = random.Random(seed)
    table = random_table(rng, names=TWELVE, rules=8, conditions=(0, 5)) if seed % 2 else small_table(rng)
    through_json = json.loads(json.dumps(table_document(table)))
    assert table_of(through_json) == table
    assert identity(table_of(through_json)) == identity(table)


@given(st.integers(0, 10**9))
def test_identity__keys_in_another_order__same_hash(seed: int) -> None:
    assert identity(table_of(shuffled(document(), random.Random(seed)))) == identity(DEFAULT_TABLE)


def test_identity__numbers_written_otherwise__same_hash() -> None:
    other = document()
    other["zones"] = {"amber": 0.5, "red": "0.750", "critical": "9e-1"}
    other["rules"][2]["when"]["depth"].pop("to_inclusive")
    assert identity(table_of(other)) == identity(DEFAULT_TABLE)


def test_identity__another_number__another_hash() -> None:
    other = document()
    other["zones"]["red"] = "0.76"
    assert identity(table_of(other)) != identity(DEFAULT_TABLE)


@given(JSON, st.integers(0, 10**9))
def test_canonical__any_value__blind_to_key_order_and_read_back_equal(value: Any, seed: int) -> None:
    try:
        form = canonical(value)
    except Duplicate:
        return
    assert canonical(shuffled(value, random.Random(seed))) == form
    assert canonical(json.loads(form)) == form
    assert digest(value) == hashlib.sha256(form).hexdigest()


def test_canonical__known_values__bytes_of_the_rfc() -> None:
    """Key order by UTF-16 code units (a surrogate pair before U+FF21), and the escapes, after RFC 8785, 3.2."""
    value = {"\u20ac": 1, "\r": 2, "\uff21": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
    names = [next(iter(json.loads("{" + part + "}"))) for part in canonical(value).decode()[1:-1].split(",")]
    assert names == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\uff21"]
    assert canonical(['\u20ac$\u000f\nA\'B"\\\\"/', None, True, -0]) == (
        '["\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/",null,true,0]'.encode()
    )


def test_canonical__composed_and_decomposed_text__same_bytes() -> None:
    assert canonical("e\u0301") == canonical("\u00e9")


@pytest.mark.parametrize(
    ("value", "refusal"),
    [
        (0.5, WrongType),
        ({1: 2}, WrongType),
        (b"x", WrongType),
        (2**53, OutOfRange),
        ("\ud800", BadText),
        ({"\u00e9": 1, "e\u0301": 2}, Duplicate),
    ],
)
def test_canonical__value_without_one_form__refused(value: object, refusal: type[Refused]) -> None:
    with pytest.raises(refusal):
        canonical(value)


def test_canonical__deep_nesting__refused() -> None:
    value: object = 1
    for _ in range(100):
        value = [value]
    with pytest.raises(TooLarge):
        canonical(value)


def _set(*path: str | int) -> Callable[[dict[str, Any], object], None]:
    def change(document: dict[str, Any], value: object) -> None:
        place: Any = document
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("path", "value", "refusal", "field"),
    [
        (("zones", "amber"), "nan", NotANumber, "zones.amber"),
        (("zones", "red"), float("inf"), NotANumber, "zones.red"),
        (("zones", "red"), "0.4", WrongOrder, "zones.red"),
        (("zones", "critical"), "1.5", OutOfRange, "zones.critical"),
        (("zones", "info"), "0.1", UnknownName, "zones.info"),
        (("limits", "compaction_depth_cap"), -1, OutOfRange, "limits.compaction_depth_cap"),
        (("limits", "handoff_digest_max_tokens"), True, WrongType, "limits.handoff_digest_max_tokens"),
        (("hit_policy",), "collect", UnknownName, "hit_policy"),
        (("format",), "ecm-table/9", UnknownName, "format"),
        (("rules", 0, "id"), "has space", BadText, "rules.id"),
        (("rules", 0, "id"), "P2", Duplicate, "rules.id"),
        (("rules", 0, "operation"), "explode", UnknownName, "rules[0].operation"),
        (("rules", 0, "surprise"), 1, UnknownName, "rules[0].surprise"),
        (("rules", 0, "when", "mood"), {"is": True}, UnknownName, "rules[0].when.mood"),
        (("rules", 1, "when", "zone"), {"in": ["PURPLE"]}, UnknownName, "zone"),
        (("rules", 1, "when", "zone"), {"in": []}, Refused, "zone"),
        (("rules", 1, "when", "zone"), {"from": 1}, WrongType, "zone"),
        (("rules", 2, "when", "depth"), {"from": 3, "to": 3}, Refused, "depth"),
        (("rules", 2, "when", "depth"), {"to": "1.5"}, WrongType, "depth"),
        (("rules", 2, "when", "depth"), {"from": 1, "or": ["unknown"]}, OutOfRange, "depth"),
        (("rules", 2, "when", "depth"), {"from": {"limit": "no_such"}}, UnknownName, "limits"),
        (("rules", 2, "parameters"), {"keep": 3}, UnknownName, "rules[2].parameters.keep"),
        (("rules", 4, "parameters", "keep"), -1, OutOfRange, "rules[4].parameters.keep"),
        (("rules", 6, "reason"), "x" * 3_000, BadText, "rules.P7.reason"),
        (("rules", 6, "enabled"), "no", WrongType, "rules[6].enabled"),
        (("remap", "handoff_fresh"), "vanish", UnknownName, "remap.handoff_fresh"),
        (("working_windows",), [{"model": "a*b", "tokens": 1}], BadText, "model"),
        (("working_windows",), [{"model": "a", "tokens": 0}], OutOfRange, "working_windows.tokens"),
        (("rules",), [], OutOfRange, "rules"),
    ],
)
def test_table__wrong_field__refused_with_its_path(
    path: tuple[str | int, ...], value: object, refusal: type[Refused], field: str
) -> None:
    raw = document()
    _set(*path)(raw, value)
    with pytest.raises(refusal) as caught:
        table_of(raw)
    assert caught.value.field == field


def test_table__bound_that_refers_to_a_limit__holds_its_number() -> None:
    raw = document()
    raw["limits"]["compaction_depth_cap"] = 5
    rule = table_of(raw).rule("P4")
    assert rule.on("depth") is not None
    assert table_document(table_of(raw))["rules"] == document()["rules"]
    with pytest.raises(LimitMismatch):
        type(DEFAULT_TABLE)((DEFAULT_TABLE.rule("P4"),), limits=table_of(raw).limits)


def test_prune__by_default__leaves_the_memory_tool_alone() -> None:
    takes = DEFAULT_TABLE.rule("P5").takes
    assert isinstance(takes, PruneToolResults)
    assert takes.exclude_tools == ("memory",)
