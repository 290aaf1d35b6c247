"""What a summary kept: pins word for word or not, specifics by class; counted here, and nothing but counts leaves."""

import json
import stat
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from tests.connect.client import Home, module
from tests.connect.loop import RULE, STEP, TEXTS, bring, has_kept, hook, loop_server, pins, settled, sha
from tests.connect.test_hook import wait_until

ecm = module()
#: Keeps the first pin (in other white space), has the second in other words, and forgets the third.
SUMMARY = """Summary.
- Never write to the production   database.
Ask first.
- We are at step 3 of the plan of 7: the queue moves to the new broker; the old worker is deleted later.
- The parser failed with ValueError: bad literal zebra in src/shop/cart.py:88; docs are in docs/adr/0007-queue.md.
"""
SAID: list[dict[str, Any]] = [
    {"type": "user", "message": {"content": "Look at src/old/gone.py before DEC-1"}},
    {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"preTokens": 9}},
    {"type": "user", "message": {"content": "See docs/adr/0007-queue.md and ADR-7; we need redis 7.2.4, not v6.2.14."}},
    {
        "type": "assistant",
        "message": {
            "content": [
                {"type": "text", "text": "It is in src/shop/cart.py:88 and lib/net/http/client.go."},
                {"type": "tool_use", "name": "Bash", "input": {"command": "pytest -q tests/shop\necho zebra"}},
                {"type": "tool_use", "name": "Read", "input": {"file_path": "/srv/zebra/app.toml"}},
            ]
        },
    },
    {
        "type": "user",
        "message": {
            "content": [
                {
                    "type": "tool_result",
                    "content": [
                        {"text": "src/a/listing.py\n1.1.1\nE   ValueError: bad literal zebra\nKeyError: 'x-1'"}
                    ],
                }
            ]
        },
    },
    {"type": "user", "isMeta": True, "message": {"content": "src/meta/only.py"}},
]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def write_transcript(home: Home, records: list[dict[str, Any]]) -> None:
    lines = [json.dumps({"sessionId": "s", "uuid": f"u{n}", **record}) for n, record in enumerate(records)]
    (home.folder / "s.jsonl").write_text("\n".join(lines) + "\n")


def compact(home: Home, summary: str | None = SUMMARY) -> None:
    """The hooks of a compaction in the order in which the host runs them."""
    hook(home, "PreCompact", trigger="manual", custom_instructions="")
    wait_until(lambda: list((home.folder / ".ecm" / "state").glob("probe-*.json")))
    hook(home, "SessionStart", source="compact")
    more = {} if summary is None else {"compact_summary": summary}
    hook(home, "PostCompact", trigger="manual", **more)


def test_post_compact__kept_altered_and_dropped__each_with_its_word(home: Home) -> None:
    write_transcript(home, SAID)
    with loop_server() as border:
        bring(home, border)
        compact(home)
        told = border.bundles[-1]
        sent = b"".join(border.bodies)
    assert told["hooks"][0]["payload"]["hook_event_name"] == "PostCompact"
    (survival,) = told["survival"]
    assert survival["pins"] == {"no_production": "present", "plan_step": "altered", "budget": "absent"}
    assert (survival["compaction"]["trigger"], survival["pins_digest"]) == ("manual", "d1")
    assert survival["specifics"] == {
        "path": {"before": 4, "kept": 2},
        "line_number": {"before": 1, "kept": 1},
        "error_string": {"before": 2, "kept": 1},
        "version": {"before": 2, "kept": 0},
        "command": {"before": 1, "kept": 0},
        "decision_id": {"before": 1, "kept": 0},
    }
    assert sum("survival" in bundle for bundle in border.bundles) == 1
    for word in (b"zebra", b"database", b"broker", b"cart", b"pytest", b"ADR-7", b"7.2.4"):
        assert word not in sent
    assert not list((home.folder / ".ecm" / "state").glob("probe-*"))


def test_post_compact__no_summary__unknown_and_never_a_pass(home: Home) -> None:
    write_transcript(home, SAID)
    with loop_server() as border:
        bring(home, border)
        compact(home, None)
        (survival,) = border.bundles[-1]["survival"]
    assert survival["pins"] == dict.fromkeys(TEXTS, "unknown")
    assert survival["specifics"] == {}


def test_post_compact__server_away__told_once_later(home: Home) -> None:
    write_transcript(home, SAID)
    has_kept(home)
    compact(home)
    (home.folder / ".ecm" / "state" / "away.json").unlink(missing_ok=True)
    with loop_server() as border:
        home.configure(border.url)
        hook(home, "UserPromptSubmit")
        hook(home, "UserPromptSubmit")
        settled(home)
        told = [each for bundle in border.bundles for each in bundle.get("survival", ())]
    assert [survival["pins"]["no_production"] for survival in told] == ["present"]


def test_post_compact__no_pins_known__specifics_alone(home: Home) -> None:
    write_transcript(home, SAID)
    with loop_server() as border:
        home.configure(border.url)
        compact(home)
        (survival,) = border.bundles[-1]["survival"]
    assert (survival["pins"], survival["pins_digest"]) == ({}, "")
    assert survival["specifics"]["path"] == {"before": 4, "kept": 2}


def test_probe__what_was_collected__only_its_owner_reads_it_and_it_ends_with_the_session(home: Home) -> None:
    write_transcript(home, SAID)
    with loop_server() as border:
        home.configure(border.url)
        hook(home, "PreCompact", trigger="auto")
        folder = home.folder / ".ecm" / "state"
        wait_until(lambda: list(folder.glob("probe-*.json")))
        (path,) = folder.glob("probe-*.json")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        hook(home, "SessionEnd")
        assert not path.exists()


def pin(text: str, name: str = "rule_of_test", **more: str) -> dict[str, str]:
    return {"id": name, "tier": "T0", "text": text, "sha256": sha(text), **more}


@pytest.mark.parametrize(
    ("text", "summary", "said"),
    [
        (RULE, RULE, "present"),
        (RULE, f"Rules: {RULE.replace(chr(10), ' ')} And more.", "present"),
        (RULE, RULE.replace("Never", "Always"), "altered"),
        (RULE, "The user likes tea. " * 300, "absent"),
        (RULE, "rule_of_test comes back by itself.", "altered"),
        (RULE, "rule_of_tests", "absent"),
        (RULE, "", "unknown"),
        ("Ünïcode naïve café", unicodedata.normalize("NFD", "Ünïcode naïve café"), "present"),
        # The words of a rule here and there in a long text are no rule.
        (STEP, " ".join(f"{word} {'other words of it ' * 30}" for word in STEP.split()), "absent"),
    ],
)
def test_fate__pin_and_summary__one_of_four_words(text: str, summary: str, said: str) -> None:
    assert ecm.fate(pin(text), ecm.folded(summary)) == said


def test_fate__copy_that_was_changed_on_disk__unknown() -> None:
    assert ecm.fate(pin(RULE, sha256="0" * 64), ecm.folded(RULE)) == "unknown"


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("path", "read ./a/b.py, /etc/hosts.d/x.conf and ~/.claude/settings.json.", 3),
        ("path", "either/or, http://example.com/a/b.html, 3/4 and 1/2/2026", 1),
        ("line_number", "a.py:12, web/x.tsx:3 and 12:30:45, example.com:443", 2),
        ("version", "1.2.3 v10.0.1-rc.1 127.0.0.1 3.14", 2),
        ("decision_id", "ADR-12, PROJ-7 but UTF-8 and SHA-256 and x-1", 2),
        (
            "error_string",
            "TypeError: x is not a function\nfatal: not a git repository\nno Error here\nerror[E0382]: moved",
            3,
        ),
    ],
)
def test_collect__texts__what_is_an_identifier_and_what_is_not(name: str, text: str, wanted: int) -> None:
    found: dict[str, dict[str, None]] = {each: {} for each in ecm.CLASSES}
    ecm.collect(found, "said", text)
    assert len(found[name]) == wanted, found


@pytest.mark.parametrize(
    "text",
    ["a" * 16_384, "a/" * 8_192, "a." * 8_192, "1." * 8_192, "A-" * 8_192, "E " * 8_192, "/" * 16_384, "E: " * 5_000],
    ids=lambda text: text[:3],
)
def test_collect__texts_made_to_be_slow__are_not(text: str) -> None:
    found: dict[str, dict[str, None]] = {each: {} for each in ecm.CLASSES}
    started = time.process_time()
    ecm.collect(found, "said", text)
    assert time.process_time() - started < 2


def test_specifics__many_of_them__bounded_and_the_newest_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    lines = [json.dumps({"message": {"content": f"src/many/file{number}.py"}}) for number in range(1_000)]
    path.write_text("\n".join([*lines, "{broken", "[]", "5", '{"message": 5}', '{"message": {"content": 5}}']))
    found = ecm.specifics_in(str(path))["path"]
    assert (len(found), found[0]) == (200, "src/many/file999.py")
    assert ecm.specifics_in(str(tmp_path / "gone")) == {name: [] for name in ecm.CLASSES}


@pytest.mark.parametrize(
    ("word", "text", "is_there"),
    [
        ("1.2.3", "at 1.2.3.", True),
        ("1.2.3", "at 1.2.34", False),
        ("1.2.3", "1.2.3.4 and 11.2.3", False),
        ("a.py:8", "a.py:88", False),
        ("ADR-7", "(ADR-7)", True),
        ("x", "", False),
    ],
)
def test_is_word_in__longer_words__are_others(word: str, text: str, is_there: bool) -> None:
    assert ecm.is_word_in(word, text) is is_there


def test_pins__of_another_kind_beside_good_ones__left_out() -> None:
    body = json.dumps(pins(more=5) | {"pins": [pin(RULE), "text", {"id": 5}, {"id": "half"}]}).encode()
    assert [each["id"] for each in ecm.pins_in((200, body, b""))["pins"]] == ["rule_of_test"]
