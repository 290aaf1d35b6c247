"""What leaves the machine by the client, byte by byte: nothing that was said, whatever carries it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.connect.client import Home, server
from tests.connect.test_hook import payload, wait_until

CANARY = "zebra of the house"
#: Every place of a transcript line in which the host writes what somebody said, read or named.
LINES: list[dict[str, Any]] = [
    {"type": "user", "message": {"role": "user", "content": CANARY}},
    {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": CANARY}]}},
    {
        "type": "user",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"text": CANARY}]}]},
        "toolUseResult": {"stdout": CANARY, "stderr": CANARY, "file": {"content": CANARY, "filePath": f"/{CANARY}"}},
    },
    {
        "type": "assistant",
        "message": {
            "id": "m1",
            "model": "claude-sonnet-4-5",
            "usage": {"input_tokens": 1, "output_tokens": 2},
            "content": [
                {"type": "thinking", "thinking": CANARY, "signature": CANARY},
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": CANARY, CANARY: CANARY}},
            ],
        },
    },
    {"type": "user", "isCompactSummary": True, "message": {"content": f"Summary: {CANARY}"}},
    {"type": "summary", "summary": CANARY, "leafUuid": "u1"},
    {"type": "system", "subtype": "compact_boundary", "content": CANARY, "compactMetadata": {"preTokens": 9}},
    {"type": "attachment", "attachment": {"content": CANARY, "path": f"/home/{CANARY}/x"}},
    {"type": "last-prompt", "lastPrompt": CANARY},
    {"type": "ai-title", "aiTitle": CANARY},
    {"type": "progress", "data": {"message": CANARY, CANARY: 1}, CANARY: 2},
    {"type": "file-history-snapshot", "snapshot": {f"/{CANARY}": {"backup": CANARY}}},
]
SAMPLE: dict[str, Any] = {
    "session_id": "s",
    "session_name": CANARY,
    "transcript_path": f"/home/{CANARY}/s.jsonl",
    "cwd": f"/home/{CANARY}/acme",
    "model": {"id": "claude-sonnet-4-5", "display_name": CANARY},
    "workspace": {"current_dir": f"/{CANARY}/acme", "project_dir": f"/{CANARY}/acme", "added_dirs": [f"/{CANARY}"]},
    "output_style": {"name": CANARY},
    "agent": {"name": CANARY},
    "worktree": {"path": f"/{CANARY}", "name": CANARY},
    "context_window": {"context_window_size": 200_000, "current_usage": {"input_tokens": 50_000}},
    CANARY: {"text": CANARY},
}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_wire__transcript_lines_of_every_kind__no_canary(home: Home) -> None:
    lines = [{"sessionId": "s", "uuid": f"u{n}", "cwd": f"/{CANARY}/acme", **line} for n, line in enumerate(LINES)]
    (home.folder / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with server() as border:
        home.configure(border.url)
        home.run("hook", "claude-code", given=payload(home, "UserPromptSubmit", prompt=CANARY))
        sent = b"".join(border.bodies)
    assert len(border.bundles[0]["lines"]) == len(LINES)
    assert b"zebra" not in sent
    assert b'"input_tokens":1' in sent


def test_wire__sample_of_the_status_line__no_canary(home: Home) -> None:
    with server() as border:
        home.configure(border.url)
        shown = home.run("status", given=json.dumps(SAMPLE))
        assert "50k · 25% of 200k GREEN" in shown.stdout
        wait_until(lambda: border.bodies)
        sent = b"".join(border.bodies)
    assert b"zebra" not in sent
    assert b'"input_tokens":50000' in sent


def test_peek__after_a_hook__the_very_bytes(home: Home) -> None:
    (home.folder / "s.jsonl").write_text(json.dumps({"sessionId": "s", "uuid": "u1", **LINES[3]}) + "\n")
    with server() as border:
        home.configure(border.url)
        home.run("hook", "claude-code", given=payload(home, "UserPromptSubmit", prompt=CANARY))
        assert home.run("peek").stdout.encode() == border.bodies[-1]
