#!/usr/bin/env python3
"""Claude Code as far as this product sees it, for machines that have none. Standard library only.

It reads the user's settings when it starts, runs their hooks and status line as the host was seen to run them, asks
the model behind ANTHROPIC_BASE_URL, writes a transcript and exports telemetry. What it lacks: everything else.
Orders of hooks, fields and lines are those of the recorded story (tests/inputs/hosts/claude-code-2.1.197).
"""

import json
import os
import subprocess
import sys
import time
import urllib.request
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

VERSION, MODEL, WINDOW = "2.1.197", "claude-sonnet-4-5", 200_000
TOOLS = [{"name": name, "input_schema": {"type": "object"}} for name in ("Bash", "Agent")]
#: USD per million: input, read, write for five minutes, for an hour, output.
PRICES = (3.0, 0.3, 3.75, 6.0, 15.0)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Host:
    """One interactive session."""

    def __init__(self) -> None:
        self.settings: dict[str, Any] = json.loads((Path.home() / ".claude" / "settings.json").read_text())
        self.env = {**os.environ, **self.settings.get("env", {})}
        self.session, self.cwd = str(uuid.uuid4()), str(Path.cwd())
        self.prompt_id, self.parent, self.spent = "", None, 0.0
        self.usage: dict[str, Any] | None = None
        self.context: list[str] = []
        self.sequence = 0
        folder = Path.home() / ".claude" / "projects" / "".join(c if c.isalnum() else "-" for c in self.cwd)
        folder.mkdir(parents=True, exist_ok=True)
        self.transcript = folder / f"{self.session}.jsonl"

    # ── What the host does at its borders ──

    def hook(self, event: str, **more: Any) -> str:
        """Run the hooks of an event; what they say to the human is shown, what they say to the model kept."""
        base = {"session_id": self.session, "transcript_path": str(self.transcript), "cwd": self.cwd}
        if self.prompt_id:
            base["prompt_id"] = self.prompt_id
        given = json.dumps({**base, "hook_event_name": event, **more})
        printed = ""
        for group in self.settings.get("hooks", {}).get(event, []):
            for handler in group["hooks"]:
                printed += self.heard(event, self.run(handler["command"], given))
        return printed

    def run(self, command: str, given: str) -> str:
        """What a command of the settings, or of the model, prints."""
        line = ["/bin/sh", "-c", command]
        return subprocess.run(line, input=given, capture_output=True, text=True, env=self.env, timeout=60).stdout

    def heard(self, event: str, stdout: str) -> str:
        try:
            told = json.loads(stdout)
        except ValueError:
            return stdout
        if told.get("systemMessage"):
            print(f"  ⎿  {event} says: " + told["systemMessage"].replace("\n", "\n     "))
        if context := told.get("hookSpecificOutput", {}).get("additionalContext"):
            self.context.append(context)
        return ""

    def status(self) -> None:
        """Draw the status line; some time later again, as the host does while it waits."""
        gauge = {"context_window_size": WINDOW, "total_input_tokens": 0, "current_usage": self.usage}
        sample = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": self.cwd,
            "version": VERSION,
            "model": {"id": MODEL, "display_name": "Sonnet 4.5"},
            "workspace": {"current_dir": self.cwd, "project_dir": self.cwd},
            "cost": {"total_cost_usd": round(self.spent, 6)},
            "context_window": gauge,
        }
        for _ in range(2):
            line = self.run(self.settings["statusLine"]["command"], json.dumps(sample))
            time.sleep(1)
        print("─" * 60 + f"\n  {line.strip()}\n", flush=True)

    def write(self, record: dict[str, Any], path: Path | None = None) -> None:
        base = {"parentUuid": self.parent, "isSidechain": path is not None, "uuid": str(uuid.uuid4())}
        known = {"timestamp": now(), "userType": "external", "entrypoint": "cli", "cwd": self.cwd}
        line = {**base, **known, "sessionId": self.session, "version": VERSION, "gitBranch": "main", **record}
        if path is None:
            self.parent = line["uuid"]
        with (path or self.transcript).open("a") as handle:
            handle.write(json.dumps(line) + "\n")

    def export(self, name: str, **fields: Any) -> None:
        """One record of telemetry to where the settings say."""
        endpoint = self.env.get("OTEL_EXPORTER_OTLP_ENDPOINT")
        if not endpoint:
            return
        self.sequence += 1
        known = {"session.id": self.session, "event.name": name, "event.timestamp": now(), "prompt.id": self.prompt_id}
        values = {**known, "event.sequence": self.sequence, "model": MODEL, **fields}
        kinds = {int: "intValue", float: "doubleValue", str: "stringValue"}
        attributes = [{"key": key, "value": {kinds[type(value)]: value}} for key, value in values.items()]
        body = {"stringValue": f"claude_code.{name}"}
        record = {"timeUnixNano": str(time.time_ns()), "body": body, "attributes": attributes}
        about = [{"key": "service.name", "value": {"stringValue": "claude-code"}}]
        about.append({"key": "service.version", "value": {"stringValue": VERSION}})
        scopes = [{"scope": {"name": "com.anthropic.claude_code.events"}, "logRecords": [record]}]
        export = {"resourceLogs": [{"resource": {"attributes": about}, "scopeLogs": scopes}]}
        pairs = self.env.get("OTEL_EXPORTER_OTLP_HEADERS", "").split(",")
        headers = {"Content-Type": "application/json", **dict(pair.split("=", 1) for pair in pairs if "=" in pair)}
        post(f"{endpoint}/v1/logs", export, headers)

    # ── Calls ──

    def call(self, source: str, said: str, side: Path | None = None) -> dict[str, Any]:
        """One model call: asked, written down unless it is a compaction's own, exported."""
        asked = {"model": MODEL, "tools": TOOLS, "messages": [{"role": "user", "content": [*self.context, said]}]}
        answer, request_id = post(f"{os.environ['ANTHROPIC_BASE_URL']}/v1/messages", asked, {})
        usage = answer["usage"]
        split = usage["cache_creation"]
        leaves = (
            usage["input_tokens"],
            usage["cache_read_input_tokens"],
            split["ephemeral_5m_input_tokens"],
            split["ephemeral_1h_input_tokens"],
            usage["output_tokens"],
        )
        cost = sum(count * price for count, price in zip(leaves, PRICES, strict=True)) / 1_000_000
        self.spent += cost
        if source != "compact":
            for block in answer["content"]:
                message = {**answer, "content": [block]}
                self.write({"type": "assistant", "requestId": request_id, "message": message}, side)
        if source == "repl_main_thread":
            self.usage = usage
        self.export(
            "api_request",
            input_tokens=leaves[0],
            output_tokens=leaves[4],
            cache_read_tokens=leaves[1],
            cache_creation_tokens=leaves[2] + leaves[3],
            cost_usd=cost,
            duration_ms=40,
            request_id=request_id,
            query_source=source,
        )
        return dict(answer)

    def turn(self, prompt: str) -> None:
        """A prompt, the calls and tools that follow, and the end of the turn."""
        self.prompt_id = str(uuid.uuid4())
        self.hook("UserPromptSubmit", prompt=prompt)
        self.write({"type": "user", "promptId": self.prompt_id, "message": {"role": "user", "content": prompt}})
        while True:
            answer = self.call("repl_main_thread", prompt)
            print(f"● {answer['content'][0]['text']}", flush=True)
            used = [block for block in answer["content"] if block["type"] == "tool_use"]
            if not used:
                break
            self.tool(used[0])
        self.hook("Stop", stop_hook_active=False, last_assistant_message=answer["content"][0]["text"])

    def tool(self, used: dict[str, Any]) -> None:
        name, given = used["name"], used["input"]
        print(f"● {name}({given['description']})", flush=True)
        if name == "Agent":
            result: Any = self.agent(given)
        else:
            result = self.run(given["command"], "")
        told = {"tool_name": name, "tool_input": given, "tool_use_id": used["id"]}
        self.hook("PostToolUse", **told, tool_response={"stdout": result}, duration_ms=50)
        content = [{"type": "tool_result", "tool_use_id": used["id"], "content": result}]
        self.write({"type": "user", "message": {"role": "user", "content": content}})

    def agent(self, given: dict[str, Any]) -> str:
        name = uuid.uuid4().hex[:17]
        folder = self.transcript.with_suffix("") / "subagents"
        folder.mkdir(parents=True, exist_ok=True)
        path, kind = folder / f"agent-{name}.jsonl", given["subagent_type"]
        said = {"role": "user", "content": given["prompt"]}
        self.write({"type": "user", "agentId": name, "message": said}, path)
        answer = self.call(f"agent:builtin:{kind}", given["prompt"], path)
        ends = {"agent_id": name, "agent_type": kind, "agent_transcript_path": str(path)}
        self.hook("SubagentStop", **ends, stop_hook_active=False)
        return str(answer["content"][0]["text"])

    def compact(self) -> None:
        """As seen: PreCompact, the call, SubagentStop of an agent without a type, SessionStart, PostCompact."""
        self.prompt_id = str(uuid.uuid4())
        wanted = self.hook("PreCompact", trigger="manual", custom_instructions="")
        held = sum(v for k, v in (self.usage or {}).items() if k.endswith("input_tokens") and isinstance(v, int))
        summary = self.call("compact", wanted)["content"][0]["text"]
        self.hook("SubagentStop", agent_id=uuid.uuid4().hex[:17], agent_type="", stop_hook_active=False)
        self.context, self.usage = (
            [],
            dict.fromkeys(
                ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"), 0
            ),
        )
        self.hook("SessionStart", source="compact", model=MODEL)
        self.hook("PostCompact", trigger="manual", compact_summary=summary)
        about = {"trigger": "manual", "preTokens": held, "postTokens": 600, "durationMs": 300}
        boundary = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}
        self.write({**boundary, "compactMetadata": about, "logicalParentUuid": self.parent})
        self.write({"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": summary}})
        self.export("compaction", trigger="manual", success="true", pre_tokens=str(held // 10), duration_ms=300)
        print("✻ Conversation compacted", flush=True)


def post(url: str, body: Any, headers: dict[str, str]) -> tuple[dict[str, Any], str]:
    """The answer and its request id; an empty one where telemetry finds nobody."""
    # Loopback addresses only.
    request = urllib.request.Request(  # noqa: S310
        url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers}
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
            return json.loads(answer.read() or b"{}"), answer.headers.get("request-id", "")
    except OSError:
        if url.endswith("/v1/messages"):
            raise
        return {}, ""


def main() -> None:
    if "--version" in sys.argv:
        print(f"{VERSION} (scripted)")
        return
    host = Host()
    host.hook("SessionStart", source="startup")
    print(f"Scripted host, as Claude Code {VERSION} was seen\n")
    host.status()
    while (prompt := input("❯ ").strip()) != "/exit":
        host.compact() if prompt == "/compact" else host.turn(prompt)
        host.status()
    host.hook("SessionEnd", reason="prompt_input_exit")


if __name__ == "__main__":
    main()
