"""Copies of pins and policy on the machine: fetched behind the host's back, used when the server says nothing."""

import json
import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tests.connect.client import Home, closed_port, ok, server
from tests.connect.loop import TEXTS, bring, has_kept, hook, kept, loop_server, pins, settled
from tests.connect.test_hook import half, slow, wait_until

POLICY = {
    "policy": "default",
    "number": 7,
    "digest": "p7",
    "table": {"zones": {"amber": "0.10", "red": "0.70", "critical": "0.90"}},
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def restored(printed: str) -> str:
    told = json.loads(printed)["hookSpecificOutput"]
    assert told["hookEventName"] == "SessionStart"
    text: str = told["additionalContext"]
    return text


def test_hook__server_keeps_another_version__fetched_once_and_for_its_owner_only(home: Home) -> None:
    with loop_server() as ecm:
        home.configure(ecm.url)
        ecm.pins, ecm.policy = pins(), POLICY
        ecm.keeps("p7", "d1")
        hook(home, "UserPromptSubmit")
        wait_until(lambda: kept(home) and "policy" in kept(home)[0])
        settled(home)
        hook(home, "UserPromptSubmit")
        settled(home)
        assert [path for path, _, _ in ecm.asked] == ["/api/v1/pins/live", "/api/v1/policies/live", "/api/v1/pins/live"]
        assert [query for _, query, _ in ecm.asked] == [
            {"host": "claude-code", "project": "acme"},
            {"host": "claude-code", "project": "acme"},
            {"host": "claude-code", "project": "acme", "session": "s"},
        ]
    (record,) = kept(home)
    assert record["pins"]["digest"] == "d1"
    assert record["policy"]["zones"]["amber"] == "0.10"
    (path,) = (home.folder / ".ecm" / "kept").iterdir()
    assert path.stat().st_mode & 0o077 == 0


def test_hook__new_version__asked_with_the_tag_and_replaced(home: Home) -> None:
    has_kept(home)
    with loop_server() as ecm:
        # Another address is another server: nothing of the first one is used for it.
        home.configure(ecm.url)
        ecm.pins = pins()
        ecm.keeps(None, "d1")
        hook(home, "UserPromptSubmit")
        wait_until(lambda: len(kept(home)) == 2)
        settled(home)
        ecm.pins = pins({"other": "Another rule."}, "d2")
        ecm.keeps(None, "d2")
        hook(home, "UserPromptSubmit")
        wait_until(lambda: any(each["pins"]["digest"] == "d2" for each in kept(home)))
        assert '"d1"' in [tag for _, _, tag in ecm.asked]


def test_hook__server_has_none_any_more__the_copy_goes(home: Home) -> None:
    with loop_server() as ecm:
        home.configure(ecm.url)
        ecm.pins = pins()
        ecm.keeps(None, "d1")
        hook(home, "UserPromptSubmit")
        wait_until(lambda: kept(home))
        settled(home)
        ecm.pins = None
        ecm.keeps(None, None)
        hook(home, "UserPromptSubmit")
        wait_until(lambda: not kept(home))


def test_hook__session_with_pins_of_its_own__its_copy_beside_that_of_the_project(home: Home) -> None:
    with loop_server() as ecm:
        home.configure(ecm.url)
        ecm.pins, ecm.session_pins = pins(), {"s": pins({"mine": "Only here."}, "own")}
        ecm.keeps(None, "own")
        hook(home, "UserPromptSubmit")
        wait_until(lambda: len(kept(home)) == 2)
        settled(home)
    assert "Only here." in restored(hook(home, "SessionStart", source="compact"))
    assert "production" in restored(hook(home, "SessionStart", source="compact", session_id="another"))


def silent_503(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n")


@pytest.mark.parametrize(
    "behaviour",
    [slow, half, silent_503, b"garbage\r\n\r\n", ok(b"[]"), ok(b'{"answer": "no object"}'), ok(b'{"answer": 5}')],
    ids=["slow", "half", "503", "garbage", "no object", "answer of no use", "answer of a kind"],
)
def test_session_start__after_a_compaction_without_a_word_of_the_server__pins_come_back(
    behaviour: Any, home: Home
) -> None:
    with loop_server() as ecm:
        bring(home, ecm)
        ecm.misbehaves, home.budget = behaviour, "0.3"
        assert restored(hook(home, "SessionStart", source="compact")) == pins()["restore_text"]


def test_session_start__server_away_after_a_compaction__pins_come_back(home: Home) -> None:
    has_kept(home)
    home.budget = "0.3"
    assert restored(hook(home, "SessionStart", source="compact")) == pins()["restore_text"]


def test_pre_compact__server_away__ids_for_the_summariser_as_plain_text(home: Home) -> None:
    has_kept(home)
    assert hook(home, "PreCompact", trigger="manual") == pins()["before_text"]


@pytest.mark.parametrize(
    ("event", "more"),
    [("SessionStart", {"source": "startup"}), ("SessionStart", {}), ("UserPromptSubmit", {}), ("PostCompact", {})],
)
def test_hook__any_other_while_the_server_is_away__silent(event: str, more: dict[str, str], home: Home) -> None:
    has_kept(home)
    assert hook(home, event, **more) == ""


def test_session_start__server_says_nothing_on_purpose__nothing_is_printed(home: Home) -> None:
    with loop_server() as ecm:
        bring(home, ecm)
        assert hook(home, "SessionStart", source="compact") == ""


def test_session_start__copy_of_weeks_ago__not_used(home: Home) -> None:
    has_kept(home)
    (path,) = (home.folder / ".ecm" / "kept").iterdir()
    record = json.loads(path.read_text())
    record["pins"]["at"] = time.time() - 15 * 86400
    path.write_text(json.dumps(record))
    assert hook(home, "SessionStart", source="compact") == ""


@pytest.mark.parametrize(
    "found",
    [
        {"digest": "d1"},
        {**pins(), "restore_text": "x" * 10_001},
        {**pins(), "digest": 5},
        {**pins(), "before_text": None},
        {"padding": "x" * (1 << 18), **pins()},
    ],
    ids=["half", "too long", "digest of a kind", "no text", "large"],
)
def test_hook__pins_of_another_kind__not_kept(found: dict[str, Any], home: Home) -> None:
    with loop_server() as ecm:
        home.configure(ecm.url)
        ecm.pins = found
        ecm.keeps(None, "d1")
        hook(home, "UserPromptSubmit")
        wait_until(lambda: len(ecm.asked) == 3)
        settled(home)
        # It is not asked for at each hook.
        hook(home, "UserPromptSubmit")
        settled(home)
        assert len(ecm.asked) == 3
    assert kept(home) == []


def test_kept__copies_of_many_projects__the_oldest_go(home: Home) -> None:
    has_kept(home)
    folder = home.folder / ".ecm" / "kept"
    for number in range(80):
        path = folder / f"of-{number}.json"
        path.write_text("{}")
        os.utime(path, (number, number))
    with loop_server() as ecm:
        home.configure(ecm.url)
        ecm.pins = pins(TEXTS, "d2")
        ecm.keeps(None, "d2")
        hook(home, "UserPromptSubmit")
        wait_until(lambda: len(list(folder.iterdir())) <= 64)


def test_doctor__kept_copies__their_age_and_digest(home: Home) -> None:
    has_kept(home)
    said = home.run("doctor").stdout
    assert "kept for acme: 3 pins, d1, fetched just now" in said


def test_hook__printed_answer__confirmed_once_with_the_next_delivery(home: Home) -> None:
    with loop_server() as ecm:
        home.configure(ecm.url)
        ecm.answer = json.dumps({"systemMessage": "RED"})
        ecm.pins = pins()
        ecm.keeps(None, "d1")
        assert hook(home, "SessionStart", source="compact") == ecm.answer
        ecm.answer = ""
        hook(home, "UserPromptSubmit", session_id="another")
        hook(home, "UserPromptSubmit")
        hook(home, "UserPromptSubmit")
        told = [(b["session_id"], each) for b in ecm.bundles for each in b.get("printed", ())]
    ((session, printed),) = told
    assert (session, printed["event"], printed["digest"], printed["by"]) == ("s", "SessionStart", "d1", "server")


def test_hook__printed_by_the_copy_and_the_session_ended__confirmed_later(home: Home) -> None:
    has_kept(home)
    assert hook(home, "SessionStart", source="compact")
    away = home.folder / ".ecm" / "state" / "away.json"
    away.unlink(missing_ok=True)
    with loop_server() as ecm:
        home.configure(ecm.url)
        hook(home, "SessionStart", session_id="next", source="startup")
        wait_until(lambda: [b for b in ecm.bundles if "printed" in b])
        settled(home)
        (told,) = [b for b in ecm.bundles if "printed" in b]
    assert told["session_id"] == "s"
    assert [(each["by"], each["digest"]) for each in told["printed"]] == [("kept", "d1")]


def test_hook__never_connected_to_a_server_with_pins__silent(home: Home) -> None:
    home.configure(closed_port())
    assert hook(home, "SessionStart", source="compact") == ""


def test_hook__server_without_pins__asked_for_nothing(home: Home) -> None:
    with server() as border:
        home.configure(border.url)
        hook(home, "UserPromptSubmit")
    assert kept(home) == []


def test_hook__server_too_slow_for_hooks__copies_come_with_what_the_background_sends(home: Home) -> None:
    def late(connection: socket.socket) -> None:
        time.sleep(0.6)
        connection.sendall(ok(json.dumps({"answer": "", "keep": {"pins": {"digest": "d1"}}}).encode()))

    with loop_server() as ecm:
        home.configure(ecm.url)
        ecm.pins, ecm.misbehaves, home.budget = pins(), late, "0.3"
        hook(home, "UserPromptSubmit")
        wait_until(lambda: kept(home))
