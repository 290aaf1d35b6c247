"""Connect for Gemini CLI and OpenCode: settings come back as they were; what is sent tells the same as the files."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from sessions_app.connect.views import OPENCODE
from sessions_app.feeds import gemini_chat, gemini_hooks
from tests.connect.client import Home, closed_port, module, ok, server
from tests.connect.test_codex_copilot import snapshot
from tests.support.inputs import INPUTS, corpus_of_others, joined, parsed

STORY = INPUTS / "hosts" / "gemini-cli-0.61.0"
SAID = ("say hello", "echo hello", "untrusted_context", "/home/dev", "xxxx")
THEIRS = '{"theme": "dark", "hooks": {"AfterAgent": [{"hooks": [{"type": "command", "command": "say done"}]}]}}'


@pytest.fixture(scope="module")
def ecm() -> ModuleType:
    return module()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def connect(home: Home, host: str, url: str) -> str:
    told = home.run("connect", host, "--url", url, "--key", "ecmi_secret-key", "--yes", "--wait", "0")
    assert told.stderr == ""
    return told.stdout


@pytest.mark.parametrize("text", [None, "{}", THEIRS])
def test_gemini__connected_and_not__every_byte_as_before(text: str | None, home: Home) -> None:
    path = home.folder / ".gemini" / "settings.json"
    path.parent.mkdir()
    if text is not None:
        path.write_text(text)
    before = snapshot(path.parent)
    connect(home, "gemini", closed_port())
    settings = json.loads(path.read_text())
    handlers = [h for groups in settings["hooks"].values() for g in groups for h in g["hooks"]]
    ours = [h for h in handlers if h["command"].endswith("hook gemini")]
    # The host counts in milliseconds.
    assert (len(ours), {h["timeout"] for h in ours}) == (4, {5000})
    assert "ecmi_secret-key" not in path.read_text()
    connect(home, "gemini", closed_port())
    assert json.loads(path.read_text()) == settings
    home.run("disconnect", "gemini")
    assert snapshot(path.parent) == before


def test_gemini__hook__sends_the_chat_log_reduced(home: Home) -> None:
    (path,) = (STORY / "chats").iterdir()
    payload = json.loads((STORY / "hooks.jsonl").read_text().splitlines()[-2])["payload"]
    with server() as border:
        home.configure(border.url)
        home.run("hook", "gemini", given=json.dumps({**payload, "transcript_path": str(path)}))
        (bundle,) = border.bundles
        assert [said for said in SAID if said.encode() in border.bodies[0]] == []
    (item,) = parsed(gemini_hooks.FEED, json.dumps(bundle["hooks"][0]).encode()).items
    assert [r.mark for r in item.readings if r.kind == "mark"] == ["stop"]  # type: ignore[attr-defined]
    body = b"\n".join(msgspec.json.encode(line) for line in bundle["lines"])
    assert readings(body) == readings(path.read_bytes())


def readings(body: bytes) -> dict[Any, Any]:
    return joined(r for item in parsed(gemini_chat.FEED, body).items for r in item.readings)


def test_gemini__real_sessions_by_lines__equal_readings(ecm: ModuleType, tmp_path: Path) -> None:
    ecm.use("gemini")
    for number in (8, 12, 13):
        document = json.loads(corpus_of_others()[f"gemini-cli/{number}.json"])
        messages = document.pop("messages")
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(b"\n".join(msgspec.json.encode(record) for record in [document, *messages]))
        lines = path.read_bytes().splitlines()
        small = [s for line in lines if (s := ecm.HOST.reduced_line(line, str(path))) is not None]
        told = b"\n".join(msgspec.json.encode(line) for line in small)
        assert readings(told) == readings(path.read_bytes())


def test_opencode__connected_and_not__a_file_of_its_own(home: Home) -> None:
    path = home.folder / ".config" / "opencode" / "plugin" / "ecm.js"
    with server(ok(OPENCODE.read_bytes())) as border:
        connect(home, "opencode", border.url)
        assert path.read_text().startswith("// ECM for OpenCode")
        assert str(home.folder / ".ecm") in path.read_text()
        assert "ecmi_secret-key" not in path.read_text()
        assert "already" in connect(home, "opencode", border.url)
    home.run("disconnect", "opencode")
    assert not path.exists()


def test_opencode__a_plugin_of_theirs_under_the_name__left_alone(home: Home) -> None:
    path = home.folder / ".config" / "opencode" / "plugin" / "ecm.js"
    path.parent.mkdir(parents=True)
    path.write_text("export const Mine = () => ({})")
    told = home.run("connect", "opencode", "--url", closed_port(), "--key", "k", "--yes", "--wait", "0")
    assert told.returncode == 1
    assert path.read_text() == "export const Mine = () => ({})"


def test_opencode__server_away__nothing_is_changed(home: Home) -> None:
    told = home.run("connect", "opencode", "--url", closed_port(), "--key", "k", "--yes", "--wait", "0")
    assert told.returncode == 1
    assert "does not answer" in told.stdout + told.stderr
    assert not (home.folder / ".config").exists()
