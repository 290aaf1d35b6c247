"""Husks keep figures and names, and nothing that was said."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.feeds.base import Refused
from sessions_app.feeds.husk import husk, size_of
from sessions_app.feeds.husk_keys import BRANCHES, CONTENT, FOLDERS, IDS, MODELS, PROJECTS, REMOTES, TIMES, TOKENS
from tests.support.inputs import corpus_bodies, story_transcripts

#: Keys under which a short string may stay.
NAMED = IDS | TOKENS | MODELS | TIMES | BRANCHES | FOLDERS | REMOTES | PROJECTS | {"name", "command"}

KEYS = st.one_of(
    st.sampled_from(sorted(NAMED | CONTENT | {"content", "message", "usage", "toolUseResult", "~bytes", "~wrap"})),
    st.from_regex(r"[A-Za-z_]{1,12}", fullmatch=True),
    st.text(max_size=12),
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(min_value=-(10**30), max_value=10**30),
    st.floats(),
    st.text(max_size=40),
    st.sampled_from(
        ["<command-name>/x</command-name>", "C:\\Users\\me\\api", "/home/me/api", "git@h.example:o/n.git.git"]
    ),
    st.text(alphabet="ab/.~ \ud800\x00:@-", max_size=20),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=5)),
    max_leaves=25,
)
RECORDS = st.dictionaries(KEYS, VALUES, max_size=8)


@given(RECORDS)
def test_husk__of_a_husk__is_the_same(record: dict[str, Any]) -> None:
    once = husk(record)
    assert husk(once) == once


@given(RECORDS)
def test_husk__of_anything__can_be_stored_and_read_back(record: dict[str, Any]) -> None:
    once = husk(record)
    assert json.loads(json.dumps(once, allow_nan=False).encode()) == once


@given(st.lists(st.one_of(KEYS, st.integers(0, 2)), min_size=1, max_size=6))
def test_husk__canary_anywhere__stays_under_named_keys_only(place: list[str | int]) -> None:
    canary = "CANARY-7d1f"
    record: Any = canary
    for step in reversed(place):
        record = {step: record, "other": 1} if isinstance(step, str) else [*range(step), record]
    assert_only_named(husk({"type": "user", "message": record}), canary, "")


def assert_only_named(value: Any, canary: str, key: str) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            assert canary not in name
            assert_only_named(inner, canary, name)
    elif isinstance(value, list):
        for inner in value:
            assert_only_named(inner, canary, key)
    else:
        assert canary not in str(value) or key in NAMED


@given(st.sampled_from(sorted(IDS | TOKENS | MODELS | TIMES)), st.text(min_size=3, max_size=60))
def test_husk__prose_under_a_named_key__does_not_stay(key: str, text: str) -> None:
    prose = f"please rename {text} for me"
    assert prose not in json.dumps(husk({key: prose}), ensure_ascii=False)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"cwd": "/srv/acme/api"}, {"cwd": "api"}),
        ({"cwd": "C:\\Users\\me\\api\\"}, {"cwd": "api"}),
        ({"git_remote": "https://me:pw@git.example.org:8443/acme/api.git"}, {"git_remote": "git.example.org/acme/api"}),
        ({"git_remote": "git@git.example.org:acme/api.git"}, {"git_remote": "git.example.org/acme/api"}),
        ({"git_remote": "/srv/git/api"}, {"git_remote": {"~bytes": 12}}),
        ({"model": "vendor/claude-opus-4-6[1m]"}, {"model": "vendor/claude-opus-4-6[1m]"}),
        ({"model": "/models/mine/local.gguf"}, {"model": "local.gguf"}),
        ({"model": {"id": "vendor/one"}}, {"model": {"id": "vendor/one"}}),
        ({"gitBranch": "ma\x00in"}, {"gitBranch": "main"}),
        ({"gitBranch": "feature/one"}, {"gitBranch": "feature/one"}),
        ({"gitBranch": "/home/me"}, {"gitBranch": {"~bytes": 8}}),
        ({"type": "us\x00er"}, {"type": "user"}),
        ({"type": "us\ud800er"}, {"type": {"~bytes": 7}}),
        ({"reason": "来週の火曜日に発表する"}, {"reason": {"~bytes": 33}}),
        ({"type": "x" * 201}, {"type": {"~bytes": 201}}),
        ({"reason": "sk-ant-abcdef"}, {"reason": {"~bytes": 13}}),
        ({"k\x00ey": 1, "/etc/passwd": 2, "a b": 3, "secret.py": 4}, {}),
        ({"unknown_figure": 7, "gen_ai.usage.input_tokens": 8}, {"unknown_figure": 7, "gen_ai.usage.input_tokens": 8}),
        ({"input_tokens": "120", "slug": "1,234"}, {"input_tokens": "120", "slug": {"~bytes": 5}}),
        ({"n": float("nan"), "m": 10**19, "k": 10**30}, {"n": {"~bytes": 3}, "m": 10**19, "k": {"~bytes": 33}}),
        ({"tool_input": {"command": "rm -rf x", "n": 4}}, {"tool_input": {"~bytes": 28}}),
        ({"embedding": [1, 2]}, {"embedding": {"~bytes": 5}}),
    ],
)
def test_husk__a_record__keeps_by_key(record: dict[str, Any], expected: dict[str, Any]) -> None:
    assert husk(record) == expected


def test_husk__an_id_that_is_a_path__becomes_a_stable_digest() -> None:
    first, again = husk({"id": "/srv/a"}), husk({"id": "/srv/a"})
    assert first == again
    assert "srv" not in first["id"]
    assert first != husk({"id": "/srv/b"})


def test_husk__keys_that_the_caller_names__stay_as_one_word() -> None:
    keep = frozenset(("flavour",))
    assert husk({"flavour": "mild"}, keep=keep) == {"flavour": "mild"}
    assert husk({"flavour": "very mild"}, keep=keep) == {"flavour": {"~bytes": 9}}


def test_husk__blocks_of_a_message__type_ids_tool_and_sizes() -> None:
    content = [
        {"type": "text", "text": "Grüße"},
        {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls /srv"}},
        {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": False, "content": "äb"},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": [{"type": "text", "text": "abcd"}]},
        {"type": "tool_use", "id": "toolu_3", "name": "memory", "input": {"command": "create", "path": "/memories/a"}},
        {"type": "text", "text": "", "cwd": "to the moon", "branch": "on/tuesday"},
        "bare",
    ]
    assert husk({"message": {"role": "assistant", "content": content}})["message"]["content"] == [
        {"type": "text", "text": {"~bytes": 7}},
        {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"~bytes": 21}},
        {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": False, "content": {"~bytes": 3}},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": {"~bytes": 4}},
        {"type": "tool_use", "id": "toolu_3", "name": "memory", "input": {"~bytes": 41, "command": "create"}},
        {"type": "text", "text": {"~bytes": 0}, "cwd": {"~bytes": 11}, "branch": {"~bytes": 10}},
        {"~bytes": 4},
    ]


def test_husk__an_image_result__is_no_larger_than_what_an_image_costs() -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 500_000}}
    block = {"type": "tool_result", "tool_use_id": "t", "content": [image]}
    assert husk({"content": [block]})["content"][0]["content"] == {"~bytes": 6_400}


def test_husk__result_of_an_agent__says_which_agent_ran() -> None:
    result = {"agentId": "a0d1", "agentType": "Explore", "content": "found it"}
    assert husk({"toolUseResult": result}) == {
        "toolUseResult": {"~bytes": size_of(result), "agentId": "a0d1", "agentType": "Explore"}
    }


@pytest.mark.parametrize("record", [[1], "text", 5, None])
def test_husk__no_object__refused(record: Any) -> None:
    with pytest.raises(Refused) as caught:
        husk(record)
    assert caught.value.code == "not_an_object"


def test_husk__deeper_than_64__refused() -> None:
    record: dict[str, Any] = {"n": 1}
    for _ in range(64):
        record = {"a": record}
    assert husk(record)
    with pytest.raises(Refused) as caught:
        husk({"a": record})
    assert caught.value.code == "too_deep"


def test_husk__real_sessions__no_filler_no_path_and_stable() -> None:
    bodies = [*corpus_bodies().values()][::6] + story_transcripts()
    for line in (line for body in bodies for line in body.split(b"\n") if line):
        record = json.loads(line)
        if isinstance(record, dict):
            once = husk(record)
            text = json.dumps(once)
            assert "xxxxx" not in text
            assert "/w/" not in text
            assert "/home" not in text
            assert husk(once) == once


def test_husk__an_agents_type_that_is_no_name__left_out_and_stays_out() -> None:
    once = husk({"toolUseResult": {"agentId": "a1", "agentType": "not a name"}})
    assert set(once["toolUseResult"]) == {"~bytes", "agentId"}
    assert husk(once) == once
