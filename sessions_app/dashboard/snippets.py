"""What a host's settings must hold to report here without any client in between. Pure.

Seen by running the host: SessionStart takes no http hook; a PreCompact hook over http would hand the answer's body
to the summariser, a command's empty output adds nothing; only `$NAME`s that are allowed reach a header.
"""

import json
from collections.abc import Mapping
from typing import Any

#: Where a key goes; the page of keys puts the new one there.
KEY = "YOUR_KEY"
#: Over http; the two others need a command.
HTTP_EVENTS = (
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStop",
    "PostCompact",
    "Stop",
    "SessionEnd",
    "ConfigChange",
)
COMMAND_EVENTS = {"SessionStart": "", "PreCompact": "?as=text"}
HOOKS, STATUS, LOGS = "/api/v1/hooks/claude-code", "/api/v1/statusline/claude-code", "/otlp"
#: Seconds after which the host goes on without us.
PATIENCE = 2

type Settings = dict[str, Any]


def settings(url: str, key: str = KEY) -> Settings:
    """The part of `~/.claude/settings.json` that reports by http hooks, two commands and telemetry."""
    return {"env": _environment(url, key), "hooks": hooks(url)}


def _environment(url: str, key: str) -> dict[str, str]:
    return {"ECM_KEY": key, **telemetry(url, key)}


def telemetry(url: str, key: str = KEY) -> dict[str, str]:
    """The host's own OpenTelemetry switches. Headers are taken literally: no `$NAME` is replaced in them."""
    return {
        "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
        "OTEL_LOGS_EXPORTER": "otlp",
        "OTEL_METRICS_EXPORTER": "otlp",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
        "OTEL_EXPORTER_OTLP_ENDPOINT": url + LOGS,
        "OTEL_EXPORTER_OTLP_HEADERS": f"Authorization=Bearer {key}",
    }


def hooks(url: str) -> dict[str, Any]:
    """Hooks by event; each gives up after PATIENCE and fails open."""
    over_http = {
        "type": "http",
        "url": url + HOOKS,
        "headers": {"Authorization": "Bearer $ECM_KEY"},
        "allowedEnvVars": ["ECM_KEY"],
        "timeout": PATIENCE,
    }
    by_command = {
        event: {"type": "command", "command": _curl(url + HOOKS + query), "timeout": PATIENCE + 1}
        for event, query in COMMAND_EVENTS.items()
    }
    handlers: Mapping[str, Any] = {**by_command, **dict.fromkeys(HTTP_EVENTS, over_http)}
    return {event: [{"hooks": [handler]}] for event, handler in handlers.items()}


def status_line(url: str) -> Settings:
    """A status line that shows nothing and reports the gauge: for those who have none of their own."""
    return {"statusLine": {"type": "command", "command": f"{_curl(url + STATUS)} >/dev/null || true"}}


def _curl(url: str) -> str:
    # Without -f the body of an error would become the hook's output, and so reach the model.
    return (
        f"curl -fsS -m {PATIENCE} -H \"Authorization: Bearer $ECM_KEY\" -H 'Content-Type: application/json'"
        f" --data-binary @- '{url}'"
    )


def managed(url: str) -> Settings:
    """`managed-settings.json` for a fleet: the same, with the place of a team's key left open."""
    return settings(url, "TEAM_KEY")


def collector(url: str) -> str:
    """An exporter for an OpenTelemetry collector that hosts report to already."""
    return "\n".join(
        (
            "exporters:",
            "  otlphttp/ecm:",
            f"    endpoint: {url}{LOGS}",
            "    encoding: json",
            "    headers:",
            "      Authorization: Bearer ${env:ECM_KEY}",
            "service:",
            "  pipelines:",
            "    logs:",
            "      exporters: [otlphttp/ecm]     # beside the ones that are there",
            "    metrics:",
            "      exporters: [otlphttp/ecm]",
        )
    )


def client(url: str, key: str = KEY) -> str:
    """Fetch the client on any machine and let it connect."""
    return f"curl -fsS {url}/connect/ecm -o ecm\npython3 ecm connect --url {url} --key {key}"


def own_format(url: str) -> str:
    """One call of any host, reported by a script."""
    record = {
        "type": "call",
        "session": "build-117",
        "model": "claude-sonnet-4-5",
        "started_at": "2026-11-30T12:00:00Z",
        "uncached_input": 3,
        "cache_read": 28_000,
        "cache_write_5m": 400,
        "output": 120,
    }
    return (
        "curl -fsS -H \"Authorization: Bearer $ECM_KEY\" -H 'Content-Type: application/json' \\\n"
        f"  -d '{json.dumps(record)}' \\\n  {url}/api/v1/ingest"
    )


def pretty(value: Settings) -> str:
    """As one pastes it."""
    return json.dumps(value, indent=2)
