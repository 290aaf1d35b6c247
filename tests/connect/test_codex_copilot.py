"""Connect for Codex and Copilot: their settings in every shape come back as they were; what is sent tells the same."""

import json
import tarfile
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from sessions_app.feeds import codex_hooks, codex_transcript, copilot_hooks, copilot_transcript
from sessions_app.feeds.base import Feed
from tests.connect.client import Home, closed_port, module, server
from tests.support import codex, copilot
from tests.support.inputs import INPUTS, joined, parsed

CODEX, COPILOT = ".codex", ".copilot"
SAID = ("run the checks", "carry on", "echo hello", "seq 1 2000", "look around", "done 2", "done 4")


@pytest.fixture(scope="module")
def ecm() -> ModuleType:
    return module()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def connect(home: Home, host: str, *, url: str = "") -> str:
    told = home.run("connect", host, "--url", url or closed_port(), "--key", "ecmi_secret-key", "--yes", "--wait", "0")
    assert told.stderr == ""
    return told.stdout


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("hooks", "toml"),
    [
        (None, None),
        ("{}", ""),
        ('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}', 'model = "gpt-5"\n'),
        ('{"hooks": {}}\n', "model = 'gpt-5'\n[features]\nhooks = true"),
        ('{"hooks": {}}', '[otel]\nexporter = "none"\n'),
    ],
)
def test_codex__connected_and_not__every_byte_as_before(hooks: str | None, toml: str | None, home: Home) -> None:
    folder = home.folder / CODEX
    folder.mkdir()
    for name, text in (("hooks.json", hooks), ("config.toml", toml)):
        if text is not None:
            (folder / name).write_text(text)
    before = snapshot(folder)
    connect(home, "codex")
    settings, text = read(folder / "hooks.json"), (folder / "config.toml").read_text()
    ours = [h["command"] for groups in settings["hooks"].values() for g in groups for h in g["hooks"]]
    assert sum(command.endswith("hook codex") for command in ours) == 8
    assert ("say done" in ours) == (hooks is not None and "say done" in hooks)
    assert text.startswith(toml or "")
    assert text.count("[otel]") == 1
    assert ("ecmi_secret-key" in text) == ("[otel]" not in (toml or ""))
    connect(home, "codex")
    assert read(folder / "hooks.json") == settings
    home.run("disconnect", "codex")
    assert snapshot(folder) == before


def test_codex__changed_since__only_ours_goes(home: Home) -> None:
    connect(home, "codex")
    path = home.folder / CODEX / "config.toml"
    path.write_text('model = "gpt-5"\n' + path.read_text() + "[features]\nhooks = true\n")
    home.run("disconnect", "codex")
    assert path.read_text() == 'model = "gpt-5"\n[features]\nhooks = true\n'


def test_codex__key_in_the_toml__for_its_owner_only(home: Home) -> None:
    connect(home, "codex")
    assert (home.folder / CODEX / "config.toml").stat().st_mode & 0o077 == 0


def test_copilot__connected_and_not__a_file_of_its_own_comes_and_goes(home: Home) -> None:
    told = connect(home, "copilot")
    assert "deny the tool" in told
    settings = read(home.folder / COPILOT / "hooks" / "ecm.json")
    assert "preToolUse" not in settings["hooks"]
    assert settings["hooks"]["preCompact"][0]["bash"].endswith("hook copilot preCompact")
    home.run("disconnect", "copilot")
    assert snapshot(home.folder / COPILOT) == {}


def test_copilot__a_file_of_theirs_under_our_name__refused(home: Home) -> None:
    path = home.folder / COPILOT / "hooks" / "ecm.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"version": 1, "hooks": {}}')
    assert "not mine" in connect(home, "copilot")
    assert path.read_text() == '{"version": 1, "hooks": {}}'


def test_codex__hook__sends_the_new_lines_reduced_and_once(home: Home) -> None:
    path = home.folder / CODEX / "sessions" / f"rollout-{codex.STORY_ID}.jsonl"
    path.parent.mkdir(parents=True)
    lines = codex.rollout().body.splitlines(keepends=True)
    with server() as border:
        home.configure(border.url)
        for part in (lines[:20], lines):
            path.write_bytes(b"".join(part))
            payload = {"session_id": codex.STORY_ID, "hook_event_name": "Stop", "transcript_path": str(path)}
            home.run("hook", "codex", given=json.dumps({**payload, "last_assistant_message": "done 2"}))
        told = b"\n".join(msgspec.json.encode(line) for bundle in border.bundles for line in bundle["lines"])
        assert {bundle["session_id"] for bundle in border.bundles} == {codex.STORY_ID}
        assert [said for said in SAID if said.encode() in b"".join(border.bodies)] == []
    found = joined(r for item in parsed(codex_transcript.FEED, told).items for r in item.readings)
    assert found == joined(
        r for item in parsed(codex_transcript.FEED, codex.rollout().body).items for r in item.readings
    )


def test_copilot__hook__names_its_event_and_sends_the_events(home: Home) -> None:
    path = home.folder / COPILOT / "session-state" / copilot.STORY_ID / "events.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(copilot.events().body)
    with server() as border:
        home.configure(border.url)
        given = {"sessionId": copilot.STORY_ID, "timestamp": 1_796_081_112_665, "cwd": "/home/dev/acme-api"}
        home.run("hook", "copilot", "sessionEnd", given=json.dumps({**given, "reason": "complete"}))
        (bundle,) = border.bundles
        assert [said for said in SAID if said.encode() in border.bodies[0]] == []
    assert bundle["hooks"][0]["payload"]["hookEventName"] == "sessionEnd"
    (item,) = parsed(copilot_hooks.FEED, json.dumps(bundle["hooks"][0]).encode()).items
    assert [r.mark for r in item.readings if r.kind == "mark"] == ["end"]  # type: ignore[attr-defined]
    body = b"\n".join(msgspec.json.encode(line) for line in bundle["lines"])
    whole = parsed(copilot_transcript.FEED, copilot.events().body)
    assert joined(r for i in parsed(copilot_transcript.FEED, body).items for r in i.readings) == joined(
        r for i in whole.items for r in i.readings
    )


@pytest.mark.parametrize(
    ("slug", "feed", "folder", "every"),
    [("codex", codex_transcript.FEED, "codex/", 7), ("copilot", copilot_transcript.FEED, "copilot-cli/", 3)],
)
def test_reduction__real_sessions__equal_readings(
    slug: str, feed: Feed, folder: str, every: int, ecm: ModuleType, tmp_path: Path
) -> None:
    ecm.use(slug)
    with tarfile.open(INPUTS / "corpus-codex-copilot.tar.xz") as archive:
        for member in archive:
            opened = archive.extractfile(member) if member.name.startswith(folder) else None
            if opened is None:
                continue
            lines = opened.read().splitlines()
            lines = [*lines[:60], *lines[60::every]]
            path = tmp_path / "rollout.jsonl"
            path.write_bytes(b"\n".join(lines))
            ecm.HOST.owners.clear()
            small = [s for line in lines if (s := ecm.HOST.reduced_line(line, str(path))) is not None]
            body = b"\n".join(msgspec.json.encode(line) for line in small)
            expected = joined(r for i in parsed(feed, path.read_bytes()).items for r in i.readings)
            found = joined(r for i in parsed(feed, body).items for r in i.readings)
            assert found == expected, member.name


def test_hook__codex_payloads__equal_readings(ecm: ModuleType) -> None:
    ecm.use("codex")
    for delivery in codex.hooks():
        record = json.loads(delivery.body)
        small = {**record, "payload": ecm.HOST.reduced(record["payload"])}
        whole = parsed(codex_hooks.FEED, delivery.body).items[0].readings
        assert [r.kind for r in parsed(codex_hooks.FEED, json.dumps(small).encode()).items[0].readings] == [
            r.kind for r in whole
        ]
