"""Settings in every shape that a user may have left them in: refused with a reason, or given back as they were."""

import json
import os
import shlex
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.connect.client import Home, closed_port, server
from tests.connect.test_hook import payload

THEIRS = '{\n\t"model": "opus",\n\t"statusLine": {"type": "command", "command": "printf \'%s\' \\"$HOME\\""}\n}'


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def connect(home: Home, *flags: str, url: str = "", **environ: str) -> str:
    address = ("--url", url or closed_port(), "--key", "ecmi_secret-key")
    return home.run("connect", *address, "--yes", "--wait", "0", *flags, **environ).stdout


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_disconnect__tabs_and_no_line_end__byte_for_byte(home: Home) -> None:
    home.write_settings(THEIRS)
    connect(home)
    assert "\t" not in home.settings.read_text()
    assert "byte for byte" in home.run("disconnect").stdout
    assert home.settings.read_bytes() == THEIRS.encode()


@pytest.mark.parametrize(
    "text", ["", " \n", "{}", "{}\n", '{"hooks": {}}', '{"env": {}}\r\n', '{"hooks": {"Stop": []}}']
)
def test_disconnect__next_to_nothing_before__byte_for_byte(text: str, home: Home) -> None:
    home.settings.parent.mkdir()
    home.settings.write_bytes(text.encode())
    assert "Backup" in connect(home)
    home.run("disconnect")
    assert home.settings.read_bytes() == text.encode()


@pytest.mark.parametrize(
    "data",
    [b'{"model": "a", "model": "b"}', b'{"model": "\xff"}', b"\xef\xbb\xbf{}", b"[" * 5000, b'{"a": 1} x'],
    ids=["a key twice", "not UTF-8", "byte order mark", "deep", "more behind"],
)
def test_connect__what_would_not_survive_reading__refused(data: bytes, home: Home) -> None:
    home.settings.parent.mkdir()
    home.settings.write_bytes(data)
    said = connect(home)
    assert "I change nothing" in said
    assert home.settings.read_bytes() == data
    assert not (home.folder / ".ecm").exists()


def test_connect__settings_that_are_a_folder__said(home: Home) -> None:
    home.settings.mkdir(parents=True)
    outcome = home.run("connect", "--url", closed_port(), "--key", "k", "--yes", "--wait", "0")
    assert (outcome.returncode, outcome.stderr) == (1, "")
    assert "cannot be read" in outcome.stdout


def test_connect__client_cannot_be_installed__settings_stay(home: Home) -> None:
    home.write_settings(THEIRS)
    (home.folder / ".ecm").write_text("in the way")
    outcome = home.run("connect", "--url", closed_port(), "--key", "k", "--yes", "--wait", "0")
    assert (outcome.returncode, outcome.stderr) == (1, "")
    assert "Your settings are as they were" in outcome.stdout
    assert home.settings.read_text() == THEIRS


def test_connect__key__in_no_line_of_the_screen(home: Home) -> None:
    home.write_settings(THEIRS)
    asked = home.run(
        "connect", "--url", closed_port(), "--key", "ecmi_secret-key", "--wait", "0", given="d\ny\n"
    ).stdout
    assert "OTEL_EXPORTER_OTLP_HEADERS" in asked
    assert "secret-key" not in asked
    assert "secret-key" in home.settings.read_text()


def test_connect__config_folder_of_its_own__that_one_and_no_other(home: Home, tmp_path: Path) -> None:
    home.write_settings(THEIRS)
    other = tmp_path / "other"
    connect(home, CLAUDE_CONFIG_DIR=str(other))
    assert home.settings.read_text() == THEIRS
    assert "hooks" in read(other / "settings.json")
    connect(home)
    assert f"Still connected: {other}" in home.run("disconnect").stdout
    assert home.settings.read_text() == THEIRS
    assert "hooks" in read(other / "settings.json")
    home.run("disconnect", CLAUDE_CONFIG_DIR=str(other))
    assert not (other / "settings.json").exists()


def test_connect__new_key_and_address__one_entry_of_ours_each(home: Home) -> None:
    home.write_settings(THEIRS)
    connect(home)
    connect(home, url="https://ecm.example.com")
    found = read(home.settings)
    assert [len(groups) for groups in found["hooks"].values()] == [1] * len(found["hooks"])
    assert found["statusLine"]["command"].count(" status -- ") == 1
    assert found["env"]["OTEL_EXPORTER_OTLP_ENDPOINT"] == "https://ecm.example.com/otlp"
    home.run("disconnect")
    assert home.settings.read_text() == THEIRS


def test_disconnect__edited_since__their_line_and_switches_come_back(home: Home) -> None:
    env = {"OTEL_LOG_USER_PROMPTS": "1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    home.write_settings(json.dumps({**json.loads(THEIRS), "env": env}))
    assert "OTEL_LOG_USER_PROMPTS is turned off" in connect(home)
    found = read(home.settings)
    assert found["env"]["OTEL_LOG_USER_PROMPTS"] == "0"
    home.settings.write_text(json.dumps({**found, "model": "haiku"}))
    home.run("disconnect")
    assert read(home.settings) == {**json.loads(THEIRS), "env": env, "model": "haiku"}


def test_disconnect__with_the_configuration_gone__our_entries_go_all_the_same(home: Home) -> None:
    home.write_settings(THEIRS)
    connect(home)
    (home.folder / ".ecm" / "config.json").unlink()
    home.run("disconnect")
    assert read(home.settings) == json.loads(THEIRS)


def test_disconnect__never_connected__nothing_is_touched(home: Home) -> None:
    assert "nothing to undo" in home.run("disconnect").stdout
    home.write_settings(THEIRS)
    assert "Nothing of ours" in home.run("disconnect").stdout
    assert home.settings.read_text() == THEIRS


def test_disconnect__mode__as_it_was(home: Home) -> None:
    home.write_settings(THEIRS)
    home.settings.chmod(0o664)
    connect(home)
    home.run("disconnect")
    assert stat.S_IMODE(home.settings.stat().st_mode) == 0o664


def test_connect__folder_with_a_space__commands_run_as_the_host_runs_them(tmp_path: Path) -> None:
    home = Home(tmp_path / "with a space")
    home.folder.mkdir()
    home.write_settings(THEIRS)
    with server() as border:
        connect(home, url=border.url)
        command = read(home.settings)["hooks"]["Stop"][0]["hooks"][0]["command"]
        environ = {"HOME": str(home.folder), "PATH": "/usr/bin:/bin", "ECM_BUDGET_SECONDS": home.budget}
        subprocess.run(command, shell=True, input=payload(home).encode(), env=environ, check=True)
        assert len(border.bundles) == 1
        line = read(home.settings)["statusLine"]["command"]
        shown = subprocess.run(line, shell=True, input=b"{}", env=environ, capture_output=True, check=True).stdout
    assert shown.decode().startswith(str(home.folder))
    home.run("disconnect")
    assert home.settings.read_text() == THEIRS


def test_connect__interpreter__by_its_own_path_and_without_what_it_loads_for_others(home: Home) -> None:
    connect(home)
    python, *flags = shlex.split(read(home.settings)["hooks"]["Stop"][0]["hooks"][0]["command"])
    assert os.path.isabs(python)
    assert flags == ["-I", "-S", str(home.folder / ".ecm" / "ecm"), "hook", "claude-code"]


def test_connect__over_http_after_the_client__no_client_is_left(home: Home) -> None:
    home.write_settings(THEIRS)
    connect(home)
    connect(home, "--http")
    assert "/.ecm/ecm" not in home.settings.read_text()
    assert read(home.settings)["statusLine"] == json.loads(THEIRS)["statusLine"]
    home.run("disconnect")
    assert home.settings.read_text() == THEIRS


@pytest.mark.parametrize("arguments", [("emacs",), ("--url",), ("--yess",), ("--url", "ftp://x", "--key", "k")])
def test_connect__arguments_that_are_not_known__said(arguments: tuple[str, ...], home: Home) -> None:
    outcome = home.run("connect", *arguments)
    assert (outcome.returncode, outcome.stderr) == (1, "")
    assert not (home.folder / ".ecm").exists()


def test_doctor__connected_and_answered__no_fault(home: Home) -> None:
    with server_of_arrivals() as url:
        connect(home, url=url)
        outcome = home.run("doctor")
    assert outcome.returncode == 0, outcome.stdout
    assert "FAULT" not in outcome.stdout


def test_doctor__server_gone__the_fault_is_named(home: Home) -> None:
    connect(home)
    outcome = home.run("doctor")
    assert outcome.returncode == 1
    assert "FAULT the server answers" in outcome.stdout
    assert outcome.stdout.count("FAULT") == 1


def test_doctor__hook_taken_out_by_hand__named_with_its_fix(home: Home) -> None:
    connect(home)
    found = read(home.settings)
    del found["hooks"]["PreCompact"]
    home.settings.write_text(json.dumps(found))
    assert "missing: PreCompact" in home.run("doctor").stdout


def server_of_arrivals() -> Any:
    """A server that answers the question for arrivals, which has no body."""
    return _Arrivals()


class _Arrivals:
    def __enter__(self) -> str:
        import http.server
        import threading

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *args: object) -> None:
                """Nothing on the terminal."""

            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Length", "14")
                self.end_headers()
                self.wfile.write(b'{"results":[]}')

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __exit__(self, *args: object) -> None:
        self.server.shutdown()
        self.server.server_close()
