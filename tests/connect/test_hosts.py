"""A further host: several files of any kind, one question, one undo; a place of its own for what is kept."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.connect.client import closed_port, module

OURS = "# ours: {url}\n"


@pytest.fixture
def ecm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The client with a host that has a text file of theirs and a plugin of ours."""
    monkeypatch.setenv("ECM_HOME", str(tmp_path / ".ecm"))
    loaded = module()
    folder = tmp_path / "editor"

    class Editor(loaded.Host):  # type: ignore[name-defined, misc]
        slug, name, command = "editor", "Editor", "editor"

        def paths(self) -> list[str]:
            return [str(folder / "editor.conf"), str(folder / "plugin.js")]

        def changes(self, conf: dict[str, Any], over_http: bool, environ: Any) -> list[Any]:
            text, plugin = self.paths()
            data = loaded.read_bytes(text)
            theirs = self.without_ours(text, (data or b"").decode(), {}) or ""
            ours = OURS.format(url=conf["url"])
            return [
                loaded.Change(text, data, theirs + ours, "a line", lines=[f"  + {ours.strip()}"]),
                loaded.Change(plugin, loaded.read_bytes(plugin), "plugin()", "a plugin"),
            ]

        def without_ours(self, path: str, text: str, before: dict[str, Any]) -> str | None:
            if path.endswith(".js"):
                return None if text == "plugin()" else text
            return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("# ours"))

    loaded.HOSTS["editor"] = Editor()
    return loaded


def connect(ecm: ModuleType) -> int:
    outcome: int = ecm.connect(["editor", "--url", closed_port(), "--key", "k", "--yes", "--wait", "0"])
    return outcome


def write_theirs(tmp_path: Path) -> Path:
    theirs = tmp_path / "editor" / "editor.conf"
    theirs.parent.mkdir()
    theirs.write_text("mine = 1\n")
    return theirs


def test_connect__host_with_two_files__both_changed_and_both_given_back(ecm: ModuleType, tmp_path: Path) -> None:
    theirs = write_theirs(tmp_path)
    assert connect(ecm) == 0
    assert theirs.read_text().startswith("mine = 1\n# ours: http://")
    assert (tmp_path / "editor" / "plugin.js").read_text() == "plugin()"
    assert ecm.disconnect(["editor"]) == 0
    assert theirs.read_text() == "mine = 1\n"
    assert [path.name for path in theirs.parent.iterdir()] == ["editor.conf"]
    assert json.loads((tmp_path / ".ecm" / "config.json").read_text())["off"] == ["editor"]


def test_disconnect__edited_since__our_line_and_our_file_go(ecm: ModuleType, tmp_path: Path) -> None:
    theirs = write_theirs(tmp_path)
    connect(ecm)
    theirs.write_text(theirs.read_text() + "newer = 2\n")
    ecm.disconnect(["editor"])
    assert theirs.read_text() == "mine = 1\nnewer = 2\n"
    assert not (tmp_path / "editor" / "plugin.js").exists()


def test_connect__second_file_cannot_be_written__the_first_is_as_it_was(
    ecm: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = write_theirs(tmp_path)
    blocked = tmp_path / "in the way"
    blocked.write_text("a file where a folder should be")
    editor = ecm.HOSTS["editor"]
    monkeypatch.setattr(editor, "paths", lambda: [str(theirs), str(blocked / "plugin.js")])
    monkeypatch.setattr(ecm, "read_bytes", lambda path: Path(path).read_bytes() if path == str(theirs) else None)
    with pytest.raises(ecm.Trouble, match="as they were"):
        connect(ecm)
    assert theirs.read_text() == "mine = 1\n"
    assert ecm.config() == {}


def test_disconnect__one_host_of_two__the_other_goes_on(
    ecm: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    write_theirs(tmp_path)
    connect(ecm)
    ecm.connect(["--url", closed_port(), "--key", "k", "--yes", "--wait", "0"])
    ecm.disconnect(["editor"])
    conf = ecm.config()
    assert list(conf["files"]) == [str(tmp_path / "claude" / "settings.json")]
    ecm.use("claude-code")
    assert ecm.is_on(conf)
    ecm.use("editor")
    assert not ecm.is_on(conf)
    assert str(tmp_path / ".ecm" / "editor") == ecm.PLACE
