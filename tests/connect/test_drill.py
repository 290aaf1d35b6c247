"""The drill, note files, and what the status line takes from the policy in force."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.connect.client import Home, ok, server
from tests.connect.loop import bring, hook, loop_server, settled
from tests.connect.test_hook import samples, wait_until
from tests.connect.test_kept import POLICY
from tests.connect.test_status import live


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def drill(home: Home, folder: Path, *flags: str) -> str:
    """`ecm drill` in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return home.run("drill", *flags, folder=folder).stdout


def test_drill__this_folder_and_below__its_lines_in_each_bundle(home: Home) -> None:
    place = home.folder / "acme"
    with loop_server() as border:
        home.configure(border.url)
        said = drill(home, place)
        for folder in (place, place / "src", home.folder / "acme2", home.folder):
            hook(home, "UserPromptSubmit", cwd=str(folder))
        told = [bundle.get("drill") for bundle in border.bundles]
    assert "For 10 minutes, in this folder only: AMBER at 10%, RED at 14%, CRITICAL at 60%" in said
    assert [bool(lines) for lines in told] == [True, True, False, False]
    lines = told[0] or {}
    until = datetime.fromisoformat(lines.pop("until"))
    assert timedelta(minutes=9) < until - datetime.now(UTC) <= timedelta(minutes=10)
    assert lines == {"amber": 10, "red": 14, "critical": 60}


def test_drill__over_or_called_off__gone(home: Home) -> None:
    with loop_server() as border:
        home.configure(border.url)
        drill(home, home.folder / "acme")
        drill(home, home.folder / "acme", "--off")
        path = home.folder / ".ecm" / "drills.json"
        past, far = datetime.now(UTC).timestamp() - 1, datetime.now(UTC).timestamp() + 7200
        path.write_text(json.dumps({**json.loads(path.read_text()), "/x/acme": past, "/x": far, "/": "soon"}))
        hook(home, "UserPromptSubmit", cwd="/x/acme")
    assert "drill" not in border.bundles[-1]


@pytest.mark.parametrize("minutes", ["0", "61", "-1", "ten", "nan"])
def test_drill__minutes_beyond_an_hour_or_none__refused(minutes: str, home: Home) -> None:
    home.configure("http://127.0.0.1:9")
    assert "--minutes is a number up to 60" in drill(home, home.folder, "--minutes", minutes)


def test_drill__not_connected__said(home: Home) -> None:
    assert "Connect first" in drill(home, home.folder)


def test_status__while_a_drill_runs__by_its_lines_and_says_so(home: Home) -> None:
    place = home.folder / "acme"
    home.configure("http://127.0.0.1:9")
    drill(home, place)
    sample = {**json.loads(samples()[3]), "cwd": str(place)}
    assert "14% of 200k DRILL RED" in home.run("status", given=json.dumps(sample)).stdout


def test_status__while_a_drill_runs__its_lines_in_what_it_sends(home: Home) -> None:
    place = home.folder / "acme"
    with loop_server() as border:
        home.configure(border.url)
        drill(home, place)
        home.run("status", given=json.dumps({**json.loads(samples()[3]), "cwd": str(place)}))
        wait_until(lambda: border.bodies)
        assert border.bundles[0]["drill"]["red"] == 14


def test_status__policy_in_force_is_known__its_lines(home: Home) -> None:
    sample = json.loads(samples()[3])
    sample["workspace"] = {"project_dir": "/x/acme"}
    with loop_server() as border:
        border.policy = POLICY
        bring(home, border)
        border.keeps("p7", "d1")
        hook(home, "UserPromptSubmit")
        settled(home)
        assert "14% of 200k AMBER" in home.run("status", given=json.dumps(sample)).stdout


@pytest.mark.parametrize("zones", [None, [], {"amber": "x", "red": None, "critical": 5}, {"amber": float("inf")}])
def test_status__lines_of_another_kind__the_default_ones(zones: Any, home: Home) -> None:
    with loop_server() as border:
        border.policy = {**POLICY, "table": {"zones": zones}}
        bring(home, border)
        said = home.run("status", given=samples()[1]).stdout
    assert "76% of 200k RED" in said


def shown(home: Home, advice: Any, number: int = 1) -> str:
    sample = json.loads(samples()[number])
    answer = ok(json.dumps({"answer": "", "live": {"advice": advice}}).encode())
    with server(answer) as border:
        home.configure(border.url)
        hook(home, "UserPromptSubmit", session_id=sample["session_id"])
        return home.run("status", given=json.dumps(sample)).stdout


def test_status__advice_of_the_policy__last_in_the_line(home: Home) -> None:
    assert shown(home, "checkpoint now (P6 v7)").rstrip().endswith("│ checkpoint now (P6 v7)")


@pytest.mark.parametrize("advice", [None, 5, "", "\x1b[31m\n", {"text": "x"}])
def test_status__advice_of_another_kind__the_rest_is_shown(advice: Any, home: Home) -> None:
    said = shown(home, advice)
    assert "76% of 200k RED" in said
    assert "\x1b" not in said
    assert said.count("\n") == 1


def test_status__right_after_a_compaction__no_advice_of_before(home: Home) -> None:
    assert "compact now" not in shown(home, "compact now (P3 v1)", number=2)


def test_status__compaction_while_the_server_is_away__no_live_state_of_before(home: Home) -> None:
    sample = json.loads(samples()[3])
    with server(live(230)) as border:
        home.configure(border.url)
        hook(home, "UserPromptSubmit", session_id=sample["session_id"])
    hook(home, "SessionStart", source="compact", session_id=sample["session_id"])
    assert "cache" not in home.run("status", given=json.dumps(sample)).stdout


@pytest.mark.parametrize(
    ("tool", "given", "is_told"),
    [
        ("Write", {"file_path": "/home/dev/acme/NOTES.md", "content": "x"}, True),
        ("Edit", {"file_path": "/home/dev/acme/docs/plan/today.md"}, True),
        ("NotebookEdit", {"notebook_path": "/home/dev/NOTES.md"}, True),
        ("Write", {"file_path": "/home/dev/acme/notes.txt"}, False),
        ("Read", {"file_path": "/home/dev/acme/NOTES.md"}, False),
        ("Write", {"file_path": 5}, False),
        ("Write", "text", False),
    ],
)
def test_notes__file_of_theirs_is_written__said_without_its_name(
    tool: str, given: Any, is_told: bool, home: Home
) -> None:
    with loop_server() as border:
        home.configure(border.url)
        assert "NOTES.md  plan/*.md" in home.run("notes", "NOTES.md", "plan/*.md").stdout
        hook(home, "PostToolUse", tool_name=tool, tool_input=given, tool_use_id="t1")
        (entry,) = border.bundles[-1]["hooks"]
        sent = border.bodies[-1]
    assert entry["payload"].get("externalizes") == ("file" if is_told else None)
    assert b"NOTES" not in sent
    assert b"plan" not in sent


def test_notes__none_wanted__nothing_is_said_of_files(home: Home) -> None:
    with loop_server() as border:
        home.configure(border.url)
        home.run("notes", "*.md")
        assert "Note files: none" in home.run("notes", "--none").stdout
        hook(home, "PostToolUse", tool_name="Write", tool_input={"file_path": "a.md"})
        assert "externalizes" not in border.bundles[-1]["hooks"][0]["payload"]


def test_hook__calls_of_the_memory_service__named_without_their_input(home: Home) -> None:
    with loop_server() as border:
        home.configure(border.url)
        for tool in ("mcp__crystalium__plan_checkpoint", "memory"):
            given = {"command": "create", "plan": "zebra"}
            hook(home, "PostToolUse", tool_name=tool, tool_input=given, tool_use_id=tool)
        told = [bundle["hooks"][0]["payload"] for bundle in border.bundles]
        assert b"zebra" not in b"".join(border.bodies)
    assert [each["tool_name"] for each in told] == ["mcp__crystalium__plan_checkpoint", "memory"]
    assert told[1]["tool_input"]["command"] == "create"
