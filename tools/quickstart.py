"""The first ten minutes, really done in a terminal and written down: `python tools/quickstart.py [--foreign]`.

A clone of this repository, a fresh home, Claude Code in tmux, and a scripted model behind it. What the terminal
showed becomes docs/quickstart.md; what the model served is compared with what the server counted, and any difference
ends the run with an error. With --foreign the home has a collector of its own: the figures lack the calls that the
host made for itself, until the collector forwards to the server too.
Needs tmux and git. Where there is no `claude` (or --claude PATH), or with --scripted, a scripted host takes its
place; such a run writes no document but the one that --out names.
"""

import argparse
import contextlib
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from model_standin import Model, Turn, start

ROOT = Path(__file__).parents[1]
DOC = ROOT / "docs" / "quickstart.md"
CORPUS = ROOT / "tests" / "inputs" / "corpus-claude-code.tar.xz"
WIDTH, HEIGHT = 118, 42
#: How variables begin that say where a server or a host of ours is.
OURS = ("ECM_", "DATABASE_URL", "REDIS_URL", "DJANGO_", "OTEL_", "CLAUDE", "ANTHROPIC_")
STEPS = {"command": "for step in lint types tests; do echo $step ok; done", "description": "run the checks"}
LOOK = {"description": "look around", "prompt": "Look for dead code.", "subagent_type": "general-purpose"}
#: One pin of the default set, word for word, stands in the summary.
PIN = "ECM advises and blocks nothing. Advice does not become a block, nor a block advice, by a compaction."
SUMMARY = f"<summary>The checks pass. Dead code is gone. {PIN}</summary>"
TURNS = [
    Turn(6, 0, 28_400, 40, "Hello."),
    Turn(4, 28_400, 200, 30, "There are checks to run."),
    Turn(4, 28_600, 300, 120, "I run the checks.", ("Bash", STEPS)),
    Turn(4, 28_900, 8_600, 210, "Now the types.", ("Bash", STEPS)),
    Turn(4, 37_500, 64_200, 330, "A second pair of eyes.", ("Agent", LOOK)),
    Turn(8, 9_000, 3_200, 480, "No dead code."),
    Turn(4, 101_700, 2_100, 260, "And the tests.", ("Bash", STEPS)),
    Turn(4, 103_800, 48_900, 190, "Once more.", ("Bash", STEPS)),
    Turn(4, 0, 153_600, 220, "All checks pass."),
    Turn(9, 153_600, 700, 2_400, SUMMARY),
    Turn(5, 14_200, 9_800, 150, "I go on.", ("Bash", STEPS)),
    Turn(5, 24_000, 3_000, 90, "All done.", None, 1_500),
    # Only of the second compaction of a home with a collector of its own. Telemetry does not split lifetimes.
    Turn(9, 28_500, 600, 900, SUMMARY),
]
COMPACTION = 9
TITLE = Turn(310, 0, 0, 12, '{"title": "Run the checks"}')
OWN = {
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "echo stop >> ~/mine.log"}]}],
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo prompt >> ~/mine.log"}]}],
    },
    "statusLine": {"type": "command", "command": "echo 'my own line'"},
}


class Collector:
    """A collector of theirs: keeps what it gets, and once told so sends it on as its ECM exporter would."""

    def __init__(self) -> None:
        self.onward: tuple[str, str] | None = None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *args: object) -> None:
                """Nothing on the terminal."""

            def do_POST(self) -> None:
                body = b""
                if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                    while size := int(self.rfile.readline().strip() or b"0", 16):
                        body += self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()
                else:
                    body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                outer.take(self.path, body, self.headers)
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

        self.got = 0
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_address[1]}"

    def take(self, path: str, body: bytes, headers: Any) -> None:
        self.got += 1
        if self.onward:
            url, key = self.onward
            sent = {"Authorization": f"Bearer {key}", "Content-Type": headers["Content-Type"]}
            if headers["Content-Encoding"]:
                sent["Content-Encoding"] = headers["Content-Encoding"]
            request = urllib.request.Request(f"{url}/otlp{path}", body, sent)  # noqa: S310 - loopback
            with contextlib.suppress(OSError):
                urllib.request.urlopen(request, timeout=5).close()  # noqa: S310


class Stage:
    """A folder with a clone, a home and a project, and a tmux server of its own."""

    def __init__(self, claude: str, foreign: bool) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="ecm-quickstart-"))
        # The private PostgreSQL may run as a user of its own.
        self.folder.chmod(0o755)
        self.home, self.clone = self.folder / "home", self.folder / "home" / "ecm-server"
        self.project, self.data = self.home / "acme-api", self.folder / "data"
        self.socket, self.port = f"ecm-quickstart-{os.getpid()}", free_port()
        self.claude = claude or self._scripted()
        self.model = Model(TURNS, TITLE)
        self.model_url = start(self.model)
        self.collector = Collector() if foreign else None
        self.settings = self.home / ".claude" / "settings.json"
        self.text: list[str] = []
        self._furnish()

    def _scripted(self) -> str:
        """A `claude` that is the scripted host."""
        path = self.folder / "bin" / "claude"
        path.parent.mkdir()
        host = shlex.join([sys.executable, str(ROOT / "tools" / "host_standin.py")])
        path.write_text(f'#!/bin/sh\nexec {host} "$@"\n')
        path.chmod(0o755)
        return str(path)

    def _furnish(self) -> None:
        run("git", "clone", "--quiet", str(ROOT), str(self.clone))
        for name in run("git", "-C", str(ROOT), "ls-files", "-mo", "--exclude-standard").splitlines():
            # What is not committed yet is tried, too.
            if (ROOT / name).is_file():
                (self.clone / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, self.clone / name)
        if (ROOT / ".venv").exists():
            (self.clone / ".venv").symlink_to(ROOT / ".venv")
        run("git", "init", "--quiet", "--initial-branch", "main", str(self.project))
        own: dict[str, Any] = dict(OWN)
        if self.collector:
            own["env"] = {
                "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
                "OTEL_LOGS_EXPORTER": "otlp",
                "OTEL_METRICS_EXPORTER": "otlp",
                "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
                "OTEL_EXPORTER_OTLP_ENDPOINT": self.collector.url,
            }
        old = self.home / ".claude" / "projects" / "old"
        old.mkdir(parents=True)
        with tarfile.open(CORPUS) as archive:
            for member in archive.getmembers():
                opened = archive.extractfile(member)
                if opened:
                    (old / Path(member.name).name).write_bytes(opened.read())
        self.settings.write_text(json.dumps(own, indent=4))
        self.settings.chmod(0o600)
        known = {
            "hasCompletedOnboarding": True,
            "lastOnboardingVersion": "2.1.197",
            "theme": "dark",
            "customApiKeyResponses": {"approved": ["local"], "rejected": []},
            "projects": {str(self.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
        }
        (self.home / ".claude.json").write_text(json.dumps(known))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def tmux(self, *arguments: str) -> str:
        return run("tmux", "-L", self.socket, *arguments)

    def window(self, name: str, folder: Path) -> None:
        path = f"{Path(self.claude).parent}:{os.environ['PATH']}"
        environ = {
            "HOME": str(self.home),
            "PATH": path,
            "PS1": "$ ",
            "HISTFILE": os.devnull,
            "ECM_DATA": str(self.data),
            "ECM_PORT": str(self.port),
            "ECM_DEMO": "0",
            # A machine that does much else meanwhile changes nothing in what is shown.
            "ECM_BUDGET_SECONDS": "3",
            "ANTHROPIC_BASE_URL": self.model_url,
            "ANTHROPIC_API_KEY": "local",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
        }
        shell = ["env", *(f"{k}={v}" for k, v in environ.items()), "bash", "--norc", "--noprofile"]
        fresh = ["new-session", "-d", "-x", str(WIDTH), "-y", str(HEIGHT)]
        if subprocess.run(["tmux", "-L", self.socket, "has-session"], capture_output=True).returncode == 0:
            fresh = ["new-window", "-d"]
        self.tmux(*fresh, "-n", name, "-c", str(folder), shlex.join(shell))
        self.tmux("set-option", "-g", "focus-events", "on")
        self.wait(name, lambda screen: "$" in screen)

    def screen(self, name: str, lines: int = 0) -> str:
        """What a window shows; with `lines` also what it showed before, wrapped lines joined again."""
        more = ["-J", "-S", f"-{lines}"] if lines else []
        text = self.tmux("capture-pane", "-p", "-t", f":{name}", *more)
        return "\n".join(line.rstrip() for line in text.splitlines()).rstrip()

    def since(self, typed: str) -> str:
        """What the host shows from this prompt on."""
        text = self.screen("claude", 400)
        return text[max(text.rfind(f"❯ {typed}"), 0) :]

    def type(self, name: str, text: str) -> None:
        self.tmux("send-keys", "-t", f":{name}", "-l", text)
        time.sleep(0.7)
        self.tmux("send-keys", "-t", f":{name}", "Enter")

    def wait(self, name: str, is_there: Callable[[str], bool], seconds: float = 90) -> str:
        end = time.monotonic() + seconds
        while not is_there(screen := self.screen(name, 400)):
            if time.monotonic() > end:
                raise SystemExit(f"{name}: waited {seconds:.0f} s in vain. The screen:\n{screen}")
            time.sleep(0.3)
        return screen

    def key(self, name: str) -> str:
        lines = (self.data / "first-run.txt").read_text().splitlines()
        return next(line.partition("=")[2] for line in lines if line.startswith(name))

    def session(self) -> dict[str, Any]:
        """The live session as the server tells it, when it has folded all of it."""
        request = urllib.request.Request(f"{self.url}/api/v1/sessions?project=acme-api")  # noqa: S310 - loopback
        request.add_header("Authorization", f"Bearer {self.key('ECM_ADMIN_KEY')}")
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
            found = [s for s in json.load(answer)["results"] if s["project"] == "acme-api"]
        return found[0] if found else {}

    def show(self, title: str, text: str) -> None:
        """One more piece of the document; places of this machine get the names that everybody has."""
        text = text.replace(str(self.clone), "~/ecm-server").replace(str(self.home), "~").replace(str(self.data), "var")
        text = text.replace(f":{self.port}", ":8717").replace(str(self.folder), "~")
        text = re.sub(r"/enter/\S+", "/enter/4jq8-zk2m", text)
        text = re.sub(r"/\S+/bin/python(3[\d.]*)?(?=\s)", "/usr/bin/python3", text)
        check(f"no place of this machine in '{title}'", tempfile.gettempdir() not in text)
        text = re.sub(r"ecmi_\w*", "ecmi_…", text)
        self.text.append(f"## {title}\n\n```text\n{text.strip()}\n```\n")

    def end(self) -> None:
        subprocess.run(["tmux", "-L", self.socket, "send-keys", "-t", ":server", "C-c"], capture_output=True)
        end = time.monotonic() + 30
        # PostgreSQL ends last, and takes this file with it.
        while (self.data / "pg" / "postmaster.pid").exists() and time.monotonic() < end:
            time.sleep(0.3)
        time.sleep(1)
        subprocess.run(["tmux", "-L", self.socket, "kill-server"], capture_output=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--claude", default=shutil.which("claude"))
    parser.add_argument("--foreign", action="store_true", help="with a collector of their own; writes no document")
    parser.add_argument("--scripted", action="store_true", help="the scripted host, also where there is Claude Code")
    parser.add_argument("--out", type=Path, help="where the document goes")
    given = parser.parse_args()
    for name in [name for name in os.environ if name.startswith(OURS)]:
        # A clean home knows nothing of the server that somebody runs here, or that tests use.
        del os.environ[name]
    missing = [name for name in ("tmux", "git") if not shutil.which(name)]
    if missing:
        raise SystemExit(f"Needs {' and '.join(missing)}.")
    is_real = bool(given.claude) and not given.scripted
    stage = Stage(str(Path(given.claude).absolute()) if is_real else "", given.foreign)
    try:
        play(stage)
        version = run(stage.claude, "--version").split()[0]
    finally:
        stage.end()
    out = given.out or (DOC if is_real and not given.foreign else None)
    if out:
        out.write_text(document(stage, version))
        print(f"Wrote {out}")


def play(stage: Stage) -> None:
    before = stage.settings.read_bytes()
    stage.window("server", stage.clone)
    stage.type("server", "make up")
    up = stage.wait("server", lambda s: "Ctrl-C stops everything" in s, 180)
    stage.show("Start it", from_command(up, "make up"))
    stage.window("work", stage.clone)
    stage.type("work", "make import")
    brought = stage.wait("work", lambda s: s.rstrip().endswith("\n$"), 120)
    stage.show("What your old sessions tell", from_command(brought, "make import").removesuffix("$"))
    stage.tmux("clear-history", "-t", ":work")
    connect(stage)
    talk(stage)
    if stage.collector:
        return
    stage.tmux("send-keys", "-t", ":work", "clear", "Enter")
    stage.type("work", "make disconnect")
    undone = stage.wait("work", lambda s: "send nothing more" in s)
    stage.show("Take it back", from_command(undone, "make disconnect").rstrip("$\n "))
    check("settings.json after disconnect", stage.settings.read_bytes() == before)
    check("their hooks ran beside ours", (stage.home / "mine.log").read_text().count("prompt") >= 2)


def connect(stage: Stage) -> None:
    stage.tmux("send-keys", "-t", ":work", "clear", "Enter")
    stage.type("work", "make connect")
    stage.wait("work", lambda s: "Apply? [y/N/d]" in s)
    stage.type("work", "y")
    asked = stage.wait("work", lambda s: "Waiting" in s)
    if stage.collector:
        check("the collector's snippet is shown", "otlphttp/ecm" in asked)


def talk(stage: Stage) -> None:
    stage.window("claude", stage.project)
    command = "claude --model claude-sonnet-4-5 --allowedTools Bash,Agent"
    stage.tmux("send-keys", "-t", ":claude", "clear", "Enter")
    stage.type("claude", command)
    stage.wait("claude", lambda s: "my own line" in s, 60)
    stage.type("claude", "hello")
    stage.wait("claude", lambda s: "● Hello" in s and "28.4k" in lines_below(s), 120)
    if not stage.collector:
        drill(stage)
    else:
        stage.type("claude", "what is there to do")
        stage.wait("claude", lambda s: "There are checks" in s)
    stage.type("claude", "run the checks")
    seen = stage.wait("claude", lambda s: "All checks pass" in s and "153.6k" in s, 120)
    stage.show("In Claude Code: your line, and ours behind it", stage.since("run the checks"))
    check("the line says RED", "76% of 200k RED" in seen)
    if stage.collector:
        time.sleep(3)
    else:
        spoken = stage.wait("work", lambda s: "All three speak" in s, 90)
        stage.show("Connect, and see it speak", from_command(spoken, "make connect").removesuffix("$"))
    stage.type("claude", "/compact")
    stage.wait("claude", lambda s: "● ? until the next call" in lines_below(s), 90)
    time.sleep(2)
    stage.show("Right after /compact: nothing old is shown as current", stage.since("/compact"))
    check("after /compact no old reading on the server", stage.session()["current"]["occupancy"] is None)
    compare(stage, first_of_theirs=bool(stage.collector))
    if stage.collector:
        # What the host exports every five seconds: the first compaction goes to their collector alone.
        time.sleep(8)
        stage.collector.onward = (stage.url, stage.key("ECM_INGEST_KEY"))
    stage.type("claude", "carry on")
    stage.wait("claude", lambda s: "All done" in s and "28.5k" in lines_below(s), 90)
    stage.show("And on", stage.since("carry on"))
    if stage.collector:
        # Once the snippet is applied, a compaction of then is whole.
        stage.type("claude", "/compact")
        stage.wait("claude", lambda s: "● ? until the next call" in lines_below(s), 90)
        check("their collector still gets everything", stage.collector.got > 0)
    else:
        check("the pins came back once", stage.model.asked[-1].count("Pinned context (ECM") == 1)
    compare(stage, first_of_theirs=bool(stage.collector))
    stage.type("claude", "/exit")
    stage.wait("claude", lambda s: s.rstrip().endswith("$"), 30)


def drill(stage: Stage) -> None:
    """Low lines in this folder, a verdict by them, and off again."""
    stage.window("drill", stage.project)
    stage.type("drill", "~/.ecm/ecm drill")
    said = stage.wait("drill", lambda s: "Marked DRILL" in s)
    stage.show("Lower the lines for ten minutes", from_command(said, "~/.ecm/ecm drill").rstrip("$\n "))
    stage.type("claude", "what is there to do")
    stage.wait("claude", lambda s: "There are checks" in s and "says: DRILL" in s and "DRILL RED" in lines_below(s))
    stage.show("A verdict, where you are", stage.since("what is there to do"))
    stage.type("drill", "~/.ecm/ecm drill --off")
    stage.wait("drill", lambda s: "No drill in this folder" in s)


def lines_below(screen: str) -> str:
    """The last lines of a screen, where the status line is."""
    return "\n".join(screen.rstrip().splitlines()[-6:])


def from_command(screen: str, command: str) -> str:
    at = screen.rfind(f"$ {command}")
    return screen[max(at, 0) :].strip()


def compare(stage: Stage, *, first_of_theirs: bool) -> None:
    """What was served against what is counted; telemetry may be some seconds late.

    What the host asked for itself while telemetry went elsewhere is in no transcript: the title, a compaction.
    """
    served = [*stage.model.served, *stage.model.served_aside]
    if first_of_theirs:
        served = stage.model.served[:COMPACTION] + stage.model.served[COMPACTION + 1 :]
    wanted = {"calls": len(served)}
    leaves = ("uncached_input", "cache_read", "cache_write_5m", "cache_write_1h", "output")
    for ours, theirs in zip(leaves, ("input", "read", "write_5m", "write_1h", "output"), strict=True):
        wanted[ours] = sum(getattr(turn, theirs) for turn in served)
    end, counted = time.monotonic() + 40, {}
    while counted != wanted and time.monotonic() < end:
        time.sleep(1)
        session = stage.session()
        counted = {name: session.get(name, 0) for name in wanted}
        counted["calls"] += session.get("aux_calls", 0)
    print(f"  served  {wanted}\n  counted {counted}   lower bound: {session.get('lower_bound')}")
    check("served and counted are equal", counted == wanted)
    if first_of_theirs:
        check("and said to be a lower bound", bool(session["lower_bound"]))


def check(what: str, is_so: bool) -> None:
    print(f"  {'ok   ' if is_so else 'WRONG'} {what}")
    if not is_so:
        raise SystemExit(1)


HEAD = """# The first ten minutes

What a terminal really showed: `tools/quickstart.py` clones this repository into a fresh home, runs `make up` there and
Claude Code {version} in tmux, and writes down the screens. The model behind Claude Code is a scripted one on this
machine, so that what it served can be compared with what the server counted: the run fails when a token differs. The
old sessions are those of the tests. The Python packages were there already; without them `make up` takes longer.
Folders, the port and the sign-in link have been replaced by the usual ones. A hook may take 3 s here (0.3 s otherwise),
so that a machine that does much else meanwhile changes nothing.

"""


def document(stage: Stage, version: str) -> str:
    names = ("Start it", "What your old", "Connect", "Lower the lines", "A verdict")
    names += ("In Claude Code", "Right after", "And on", "Take it back")
    order = {text: next(i for i, n in enumerate(names) if text.startswith(f"## {n}")) for text in stage.text}
    return HEAD.format(version=version) + "\n".join(sorted(stage.text, key=order.__getitem__))


if __name__ == "__main__":
    sys.exit(main())
