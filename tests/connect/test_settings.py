"""Connect and disconnect: the user's own settings stay the user's."""

import json
from pathlib import Path
from typing import Any

import pytest

from sessions_app.dashboard import snippets
from tests.connect.client import Home, closed_port, module

THEIRS = """{
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo theirs"}]}]},
    "statusLine": {"type": "command", "command": "echo 'my line'", "padding": 2},
    "model": "opus"
}
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def connect(home: Home, *flags: str) -> str:
    outcome = home.run("connect", "--url", closed_port(), "--key", "the-key", "--yes", "--wait", "0", *flags)
    return outcome.stdout + outcome.stderr


def settings(home: Home) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(home.settings.read_text())
    return found


def commands(home: Home, event: str) -> list[str]:
    return [hook.get("command") or hook["url"] for group in settings(home)["hooks"][event] for hook in group["hooks"]]


def test_connect__foreign_hooks_and_status_line__stay_and_are_wrapped(home: Home) -> None:
    home.write_settings(THEIRS)
    said = connect(home)
    assert "1 hook of yours stays, in front" in said
    stop = commands(home, "Stop")
    assert stop[0] == "echo theirs"
    assert stop[1].endswith("ecm hook claude-code")
    line = settings(home)["statusLine"]
    assert line["command"].endswith("""ecm status -- 'echo '"'"'my line'"'"''""")
    assert (line["padding"], settings(home)["model"]) == (2, "opus")


def test_disconnect__unchanged_since__byte_for_byte(home: Home) -> None:
    home.write_settings(THEIRS)
    connect(home)
    home.run("disconnect")
    assert home.settings.read_text() == THEIRS


def test_disconnect__no_settings_before__gone_again(home: Home) -> None:
    connect(home)
    assert home.settings.exists()
    home.run("disconnect")
    assert not home.settings.exists()


def test_disconnect__edited_since__only_our_entries_go(home: Home) -> None:
    home.write_settings(THEIRS)
    connect(home)
    edited = settings(home)
    edited["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "echo newer"}]})
    edited["env"]["MINE"] = "1"
    home.settings.write_text(json.dumps(edited))
    home.run("disconnect")
    left = settings(home)
    assert [h["command"] for g in left["hooks"]["Stop"] for h in g["hooks"]] == ["echo theirs", "echo newer"]
    assert list(left["hooks"]) == ["Stop"]
    assert left["env"] == {"MINE": "1"}
    assert left["statusLine"] == {"type": "command", "command": "echo 'my line'", "padding": 2}


def test_connect__twice__the_backup_is_still_the_first_file(home: Home) -> None:
    home.write_settings(THEIRS)
    connect(home)
    assert "Nothing to change" in connect_again(home)
    home.run("disconnect")
    assert home.settings.read_text() == THEIRS


def connect_again(home: Home) -> str:
    url = json.loads((home.folder / ".ecm" / "config.json").read_text())["url"]
    return home.run("connect", "--url", url, "--key", "the-key", "--yes", "--wait", "0").stdout


def test_connect__reconnected_after_a_disconnect__the_backup_is_of_today(home: Home) -> None:
    home.write_settings(THEIRS)
    connect(home)
    home.run("disconnect")
    changed = THEIRS.replace("opus", "haiku")
    home.write_settings(changed)
    connect(home)
    home.run("disconnect")
    assert home.settings.read_text() == changed


def test_connect__edited_and_connected_again__the_edit_survives_the_undo(home: Home) -> None:
    home.write_settings(THEIRS)
    connect(home)
    edited = settings(home)
    edited["model"] = "haiku"
    home.settings.write_text(json.dumps(edited))
    connect(home)
    home.run("disconnect")
    assert settings(home)["model"] == "haiku"
    assert list(settings(home)["hooks"]) == ["Stop"]
    assert "env" not in settings(home)


def test_connect__foreign_endpoint__left_alone_with_the_snippet(home: Home) -> None:
    home.write_settings('{"env": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel.corp:4318"}}')
    said = connect(home)
    assert "points at otel.corp:4318. I leave it alone" in said
    assert "otlphttp/ecm" in said
    assert settings(home)["env"] == {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel.corp:4318"}


@pytest.mark.parametrize(
    "env",
    [
        {"OTEL_METRICS_EXPORTER": "prometheus"},
        {"CLAUDE_CODE_ENABLE_TELEMETRY": "1", "OTEL_LOGS_EXPORTER": "otlp"},
        {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://otel.corp:4318/v1/logs"},
    ],
    ids=["prometheus", "otlp by default", "logs only"],
)
def test_connect__telemetry_of_theirs_in_any_form__left_alone(env: dict[str, str], home: Home) -> None:
    home.write_settings(json.dumps({"env": env}))
    assert "I leave it alone" in connect(home)
    assert settings(home)["env"] == env
    assert "Nothing to change" in connect_again(home)


@pytest.mark.parametrize("text", ["{not json", "[1, 2]", '{"a": 1,}', "// comment\n{}"])
def test_connect__settings_that_are_no_object__nothing_is_changed(text: str, home: Home) -> None:
    home.write_settings(text)
    assert "I change nothing" in connect(home)
    assert home.settings.read_text() == text


@pytest.mark.parametrize(
    "text",
    ['{"hooks": []}', '{"hooks": {"Stop": {}}}', '{"statusLine": "x"}', '{"env": []}', '{"hooks": {"Stop": ["x"]}}'],
)
def test_connect__odd_shapes__said_and_nothing_is_changed(text: str, home: Home) -> None:
    home.write_settings(text)
    said = connect(home)
    assert "Traceback" not in said
    assert "I change nothing" in said
    assert home.settings.read_text() == text


def test_connect__asked_and_not_agreed__nothing_is_changed(home: Home) -> None:
    home.write_settings(THEIRS)
    outcome = home.run("connect", "--url", closed_port(), "--key", "k", "--wait", "0", given="d\nn\n")
    assert "Nothing was changed" in outcome.stdout
    assert '+  "statusLine"' in outcome.stdout.replace("  +", "+") or "statusLine" in outcome.stdout
    assert home.settings.read_text() == THEIRS


def test_connect__a_link_to_the_file__stays_a_link(home: Home, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text(THEIRS)
    home.settings.parent.mkdir()
    home.settings.symlink_to(real)
    connect(home)
    assert home.settings.is_symlink()
    assert "ecm hook" in real.read_text()
    home.run("disconnect")
    assert home.settings.is_symlink()
    assert real.read_text() == THEIRS


def test_connect__file_mode__kept(home: Home) -> None:
    home.write_settings(THEIRS)
    home.settings.chmod(0o640)
    connect(home)
    assert home.settings.stat().st_mode & 0o777 == 0o640


def test_connect__key__only_its_owner_reads_it(home: Home) -> None:
    connect(home)
    assert (home.folder / ".ecm" / "config.json").stat().st_mode & 0o777 == 0o600


def test_connect__http__no_client_in_the_path(home: Home) -> None:
    said = connect(home, "--http")
    assert "whole hook bodies" in said
    assert commands(home, "Stop")[0].endswith("/api/v1/hooks/claude-code")
    assert "curl -fsS" in commands(home, "SessionStart")[0]
    assert commands(home, "PreCompact")[0].endswith("?as=text'")
    assert settings(home)["env"]["ECM_KEY"] == "the-key"


def test_doctor__not_connected__faults_with_fixes(home: Home) -> None:
    outcome = home.run("doctor")
    assert outcome.returncode == 1
    assert "fix: ecm connect" in outcome.stdout


def test_connect__form_without_the_client__as_the_pages_show_it() -> None:
    ecm = module()
    conf = {"url": "https://ecm.example.com", "key": "k"}
    shown = snippets.hooks(conf["url"])
    assert set(ecm.EVENTS) == set(shown)
    for event in ecm.EVENTS:
        handler = ecm.handler(event, conf, True)
        handler.get("headers", {}).pop("X-ECM-Machine", None)
        assert [{"hooks": [handler]}] == shown[event]
