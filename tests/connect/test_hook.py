"""The hook: in time, silent and exactly once, whatever the server does; nothing that was said leaves the machine."""

import hashlib
import json
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessions_app.feeds import claude_hooks, claude_statusline, claude_transcript
from sessions_app.feeds.base import Context
from sessions_app.feeds.husk import husk
from sessions_app.kernel.readings import CallReading, CompactionReading, Reading
from tests.connect.client import GOOD, Border, Home, body_on, closed_port, module, pythons, server, timed
from tests.support import deliveries as story

#: Far below the ten seconds of the slow server, and ample for the start of an interpreter on a busy machine.
BUDGET = 5.0
#: What a hook may take where the server misbehaves.
IN_FORCE = "0.3"
CANARY = "the-quick-brown-secret"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def payload(home: Home, event: str = "Stop", **more: Any) -> str:
    transcript = home.folder / "s.jsonl"
    base = {"session_id": "s", "hook_event_name": event, "cwd": "/x/acme", "transcript_path": str(transcript)}
    return json.dumps({**base, **more})


def write_lines(home: Home, count: int) -> None:
    lines = []
    for n in range(count):
        usage = {"input_tokens": n + 1, "output_tokens": 1}
        message = {
            "id": f"m{n}",
            "model": "claude-sonnet-4-5",
            "usage": usage,
            "content": [{"type": "text", "text": CANARY}],
        }
        lines.append(json.dumps({"type": "assistant", "sessionId": "s", "uuid": f"u{n}", "message": message}))
    (home.folder / "s.jsonl").write_text("\n".join(lines) + "\n")


def wait_until(is_so: Callable[[], object], seconds: float = 15) -> None:
    """Wait for what a process in the background does."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


def told_prompts(border: Border) -> list[str]:
    return [h["payload"]["prompt_id"] for b in border.bundles for h in b["hooks"]]


def slow(connection: socket.socket) -> None:
    time.sleep(10)


def half(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n{")
    time.sleep(10)


def test_hook__server_answers__lines_and_hook_arrive_once(home: Home) -> None:
    write_lines(home, 3)
    with server() as border:
        home.configure(border.url)
        first = home.run("hook", "claude-code", given=payload(home))
        home.run("hook", "claude-code", given=payload(home))
        assert (first.returncode, first.stdout) == (0, "")
        assert [len(b["lines"]) for b in border.bundles] == [3, 0]
        assert [len(b["hooks"]) for b in border.bundles] == [1, 1]


def test_hook__answer_of_the_server__printed_as_it_is(home: Home) -> None:
    body = b'{"answer":"{\\"systemMessage\\":\\"hello\\"}"}'
    with server(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)) as border:
        home.configure(border.url)
        assert home.run("hook", "claude-code", given=payload(home)).stdout == '{"systemMessage":"hello"}'


@pytest.mark.parametrize(
    "answer",
    [
        slow,
        half,
        b"garbage\r\n\r\n",
        b"HTTP/1.1 500 X\r\nContent-Length: 2\r\n\r\nno",
        b"HTTP/1.1 200 OK\r\n\r\n<html>",
    ],
    ids=["slow", "half", "garbage", "500", "html"],
)
def test_hook__server_misbehaves__in_time_silent_and_kept(answer: Any, home: Home) -> None:
    write_lines(home, 2)
    home.budget = IN_FORCE
    with server(answer) as border:
        home.configure(border.url)
        outcome, seconds = timed(lambda: home.run("hook", "claude-code", given=payload(home, prompt_id="p1")))
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "", "")
    assert seconds < BUDGET
    home.budget = "10"
    with server() as border:
        home.configure(border.url)
        home.run("hook", "claude-code", given=payload(home, prompt_id="p2"))
        home.run("hook", "claude-code", given=payload(home, prompt_id="p3"))
        # What was kept may go by itself in the background, before or after the hooks of the moment.
        wait_until(lambda: len(told_prompts(border)) == 3)
        assert sorted(told_prompts(border)) == ["p1", "p2", "p3"]
        assert sum(len(b["lines"]) for b in border.bundles) == 2


def test_hook__nobody_listens__in_time_and_kept(home: Home) -> None:
    home.configure(closed_port())
    outcome, seconds = timed(lambda: home.run("hook", "claude-code", given=payload(home)))
    assert (outcome.returncode, outcome.stdout) == (0, "")
    assert seconds < BUDGET
    assert len(list((home.folder / ".ecm" / "spool").iterdir())) == 1


def test_hook__full_spool__usage_is_caught_up_and_the_loss_is_counted(home: Home) -> None:
    write_lines(home, 4)
    spool = home.folder / ".ecm" / "spool"
    spool.mkdir(parents=True)
    for n in range(500):
        kept = {"received_at": 1, "payload": {"session_id": "s", "hook_event_name": "Stop", "prompt_id": f"k{n}"}}
        (spool / f"{n:04d}.json").write_text(json.dumps(kept))
    home.configure(closed_port())
    home.run("hook", "claude-code", given=payload(home))
    assert len(list(spool.iterdir())) == 500
    with server() as border:
        home.configure(border.url)
        home.run("hook", "claude-code", given=payload(home))
        wait_until(lambda: not list(spool.iterdir()))
        assert border.bundles[0]["lost_hook_events"] == 1
        assert sum(len(b["lines"]) for b in border.bundles) == 4
        told = [h["payload"].get("prompt_id") for b in border.bundles for h in b["hooks"]]
        assert sorted(t for t in told if t) == sorted(f"k{n}" for n in range(500))


def test_hook__folder_that_cannot_be_written__the_host_goes_on(home: Home) -> None:
    write_lines(home, 1)
    with server() as border:
        home.configure(border.url)
        for name in ("state", "spool", "last-sent.json"):
            (home.folder / ".ecm" / name).symlink_to("/proc/nowhere")
        outcome = home.run("hook", "claude-code", given=payload(home))
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "", "")


@pytest.mark.parametrize("given", ["", "null", "[]", "{", '{"session_id": 5}', "[" * 50_000, "\x00"])
def test_hook__input_that_is_no_payload__silent(given: str, home: Home) -> None:
    home.configure(closed_port())
    outcome = home.run("hook", "claude-code", given=given)
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, "", "")


def test_hook__session_ends__what_the_host_writes_after_its_last_hook_is_told(home: Home) -> None:
    write_lines(home, 1)
    path = home.folder / "s.jsonl"
    with server() as border:
        home.configure(border.url)
        home.run("hook", "claude-code", given=payload(home, "SessionEnd"))
        first = path.read_text()
        write_lines(home, 2)
        assert path.read_text().startswith(first)
        wait_until(lambda: sum(len(b["lines"]) for b in border.bundles) == 2)


def choosy(border: Border, connection: socket.socket) -> None:
    """Takes no delivery with `poison` in it."""
    with connection:
        body = body_on(connection)
        is_good = b"poison" not in body
        if is_good:
            border.bodies.append(body)
        connection.sendall(GOOD if is_good else b"HTTP/1.1 413 X\r\nContent-Length: 2\r\n\r\nno")


def test_deliver__one_hook_that_is_never_taken__the_others_go_and_it_is_counted(home: Home) -> None:
    home.configure(closed_port())
    for name in ("p1", "poison", "p3"):
        home.run("hook", "claude-code", given=payload(home, prompt_id=name))
    border = Border()
    with server(lambda connection: choosy(border, connection)) as place:
        home.configure(place.url)
        home.run("deliver", "claude-code", str(home.folder), "now")
        # The hooks have started one themselves.
        wait_until(lambda: told_prompts(border) == ["p1", "p3"])
        home.run("hook", "claude-code", given=payload(home, prompt_id="p4"))
    assert [b["lost_hook_events"] for b in border.bundles] == [0, 1, 1]
    assert not list((home.folder / ".ecm" / "spool").iterdir())


def test_hook__torn_last_line__waits_until_it_is_whole(home: Home) -> None:
    write_lines(home, 2)
    path = home.folder / "s.jsonl"
    whole = path.read_text()
    path.write_text(whole[:-30])
    with server() as border:
        home.configure(border.url)
        home.run("hook", "claude-code", given=payload(home))
        path.write_text(whole)
        home.run("hook", "claude-code", given=payload(home))
        assert [len(b["lines"]) for b in border.bundles] == [1, 1]


def test_hook__parallel_hooks_of_one_session__each_line_once(home: Home) -> None:
    write_lines(home, 50)
    with server() as border:
        home.configure(border.url)
        from tests.connect.client import PATH

        running = [
            subprocess.Popen(
                ["python3", str(PATH), "hook", "claude-code"],
                stdin=subprocess.PIPE,
                env={"HOME": str(home.folder), "PATH": "/usr/bin:/bin", "ECM_BUDGET_SECONDS": "10"},
            )
            for _ in range(6)
        ]
        for number, process in enumerate(running):
            process.communicate(payload(home, prompt_id=f"p{number}").encode(), timeout=20)
        # On a busy machine one of them may have run out of time; what it kept goes with the next.
        home.run("hook", "claude-code", given=payload(home))
        assert {line["uuid"] for b in border.bundles for line in b["lines"]} == {f"u{n}" for n in range(50)}
        # One may come twice (the server took it, the answer came too late): its name makes it one there.
        told = {h["payload"].get("prompt_id") for b in border.bundles for h in b["hooks"]}
        assert told == {None, *(f"p{n}" for n in range(6))}


def test_hook__canaries_in_every_free_place__none_is_sent(home: Home) -> None:
    secret = f"{CANARY} of the house"
    free = {
        "prompt": secret,
        "tool_input": {"command": secret, secret: secret},
        "tool_response": {"stdout": secret},
        "error": secret,
        "last_assistant_message": secret,
        "custom_instructions": secret,
        "compact_summary": secret,
        "message": secret,
        "background_tasks": [secret],
        "unknown_key": secret,
        secret: 1,
        "cwd": f"/home/{CANARY}/acme",
        "tool_name": secret,
    }
    write_lines(home, 2)
    with server() as border:
        home.configure(border.url)
        for event in ("UserPromptSubmit", "PostToolUse", "PreCompact", "PostCompact", "Notification"):
            home.run("hook", "claude-code", given=payload(home, event, **free))
        sent = b"".join(border.bodies)
        assert sent
        assert CANARY.encode() not in sent
        assert b"acme" in sent
        assert home.run("peek").stdout.encode().strip() == border.bodies[-1]


def readings(feed: Any, records: list[Any]) -> list[Reading]:
    context = Context(received_ms=story.NOW_MS)
    return [r for record in records for r in feed.read(husk(record), context) if r.kind != "session"]


def test_reduced__lines_of_the_story__the_same_calls_and_compactions() -> None:
    ecm = module()
    for delivery in story.transcripts():
        lines = [line for line in delivery.body.splitlines() if line.strip()]
        whole = readings(claude_transcript.FEED, [json.loads(line) for line in lines])
        small = readings(claude_transcript.FEED, [r for r in map(ecm.reduced_line, lines) if r])
        wanted = (CallReading, CompactionReading)
        assert [r for r in small if isinstance(r, wanted)] == [r for r in whole if isinstance(r, wanted)]


def test_reduced__hooks_and_samples_of_the_story__the_same_readings() -> None:
    ecm = module()
    payloads = [json.loads(delivery.body) for delivery in story.hooks()]
    whole, small = (readings(claude_hooks.FEED, records) for records in (payloads, [ecm.reduced(p) for p in payloads]))
    assert [(r.kind, type(r)) for r in small] == [(r.kind, type(r)) for r in whole]
    path = story.INPUTS / "hosts" / "claude-code-2.1.197-statusline" / "statusline.jsonl"
    samples = [json.loads(line) for line in path.read_text().splitlines()]
    assert readings(claude_statusline.FEED, [ecm.reduced(s) for s in samples]) == readings(
        claude_statusline.FEED, samples
    )


def samples() -> list[str]:
    path = story.INPUTS / "hosts" / "claude-code-2.1.197-statusline" / "statusline.jsonl"
    return path.read_text().splitlines()


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0, "? until the next call"),
        (1, "153.6k · 76% of 200k RED"),
        (2, "? until the next call"),
        (3, "28.5k · 14% of 200k GREEN"),
    ],
)
def test_status__recorded_samples__theirs_first_then_ours(number: int, said: str, home: Home) -> None:
    outcome = home.run("status", "--", "echo 'MY LINE'", given=samples()[number])
    assert outcome.stdout.startswith("MY LINE │ ●")
    assert said in outcome.stdout


@pytest.mark.parametrize(
    ("model", "said"),
    [("claude-opus-4-6", "60% of 200k (assumed) AMBER"), ("claude-opus-4-6[1m]", "12% of 1M (assumed) GREEN")],
)
def test_status__host_that_states_no_window__assumed_and_said_so(model: str, said: str, home: Home) -> None:
    usage = {"input_tokens": 0, "cache_read_input_tokens": 120_000, "cache_creation_input_tokens": 0}
    sample = {"session_id": "s", "model": {"id": model}, "context_window": {"current_usage": usage}}
    assert said in home.run("status", given=json.dumps(sample)).stdout


def test_status__locale_without_our_signs__both_lines_are_shown(home: Home) -> None:
    outcome = home.run(
        "status", "--", "echo MINE", given=samples()[1], LC_ALL="en_US.ISO-8859-1", PYTHONIOENCODING="ascii"
    )
    assert outcome.stdout.startswith("MINE │ ●")


def test_status__sample_that_nobody_foresaw__their_line_is_shown(home: Home) -> None:
    strange = json.dumps({"session_id": "s", "cost": {"total_cost_usd": 10**400}, "context_window": []})
    assert home.run("status", "--", "echo MINE", given=strange).stdout.startswith("MINE")


def test_status__their_command_fails_or_input_is_garbage__never_fails(home: Home) -> None:
    assert home.run("status", "--", "exit 3", given=samples()[1]).stdout.startswith("●")
    outcome = home.run("status", "--", "echo MINE", given="garbage")
    assert (outcome.returncode, outcome.stdout) == (0, "MINE\n")


def test_status__slow_server__the_line_does_not_wait(home: Home) -> None:
    with server(slow) as border:
        home.configure(border.url)
        outcome, seconds = timed(lambda: home.run("status", given=samples()[1]))
    assert "RED" in outcome.stdout
    assert seconds < BUDGET


@pytest.mark.parametrize("python", pythons())
def test_client__each_python__hook_and_status_work(python: str, home: Home) -> None:
    write_lines(home, 1)
    with server() as border:
        home.configure(border.url)
        assert home.run("hook", "claude-code", given=payload(home), python=python).returncode == 0
        assert [len(b["lines"]) for b in border.bundles] == [1]
        assert "RED" in home.run("status", given=samples()[1], python=python).stdout


@pytest.mark.parametrize("state", ["committed", "changed", "in no commit"])
def test_hook__instructions_loaded__digest_size_and_whether_git_has_it(state: str, home: Home, tmp_path: Path) -> None:
    repository = tmp_path / "acme-api"
    repository.mkdir()
    git = ["git", "-C", str(repository), "-c", "user.name=T", "-c", "user.email=t@example.org"]
    file = repository / "CLAUDE.md"
    file.write_text("CANARY: always use tabs\n")
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    if state != "in no commit":
        subprocess.run([*git, "add", "CLAUDE.md"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", "second"], check=True)
    if state == "changed":
        file.write_text("CANARY: always use spaces\n")
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout[:12]
    given = {
        "session_id": "s",
        "hook_event_name": "InstructionsLoaded",
        "memory_type": "Project",
        "load_reason": "session_start",
        "file_path": str(file),
        "cwd": str(repository),
    }
    with server() as border:
        home.configure(border.url)
        done = home.run("hook", "claude-code", given=json.dumps(given))
        assert (done.returncode, done.stdout) == (0, "")
        [sent] = [h["payload"] for b in border.bundles for h in b["hooks"]]
    assert sent["memory_type"] == "Project"
    assert sent["instructions"] == {
        "name": "CLAUDE.md",
        "digest": hashlib.sha256(file.read_bytes()).hexdigest()[:16],
        "bytes": len(file.read_bytes()),
        "head": head,
        "committed": {"committed": True, "changed": False, "in no commit": None}[state],
    }
    assert "CANARY" not in json.dumps(border.bundles)
    assert str(repository) not in json.dumps(border.bundles)
