"""Records of Claude Code as tests need them: transcript lines, telemetry, hooks; only what the test is about."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.deliveries import Delivery

START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
SONNET = "claude-sonnet-4-5"

type Line = dict[str, Any]


def at(seconds: float) -> str:
    """A moment, in seconds after the start of every story told here."""
    return moment(seconds).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment(seconds: float) -> datetime:
    """The same as an aware datetime."""
    return START + timedelta(seconds=seconds)


def nanos(seconds: float) -> str:
    """The same as nanoseconds since the epoch, as telemetry writes it."""
    return str(round((START.timestamp() + seconds) * 1000) * 1_000_000)


def usage(given: int = 0, read: int = 0, written: int = 0, out: int = 0) -> dict[str, Any]:
    """A usage object as the API gives it; all writes live 5 minutes."""
    return {
        "input_tokens": given,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
        "output_tokens": out,
    }


def call(session: str, message: str | None, seconds: float, used: Any, **fields: Any) -> Line:
    """One line of a response; `fields` replace those of the line, `model` and `stop` those of the message."""
    spoken = {
        "id": message,
        "type": "message",
        "role": "assistant",
        "model": fields.pop("model", SONNET),
        "stop_reason": fields.pop("stop", "end_turn"),
        "content": [{"type": "text", "text": "done"}],
        "usage": used,
    }
    line = {
        "type": "assistant",
        "sessionId": session,
        "uuid": f"{session}-{message}-{seconds}",
        "timestamp": at(seconds),
        "requestId": f"req_{message}" if message else None,
        "message": {name: value for name, value in spoken.items() if value is not None},
    }
    line.update(fields)
    return {name: value for name, value in line.items() if value is not None}


def asked(session: str, seconds: float, **fields: Any) -> Line:
    """A line of the user."""
    line = {"type": "user", "sessionId": session, "uuid": f"{session}-user-{seconds}", "timestamp": at(seconds)}
    return {**line, "message": {"role": "user", "content": "go on"}, **fields}


def compacted(session: str, seconds: float, metadata: Any = None, **fields: Any) -> Line:
    """A boundary."""
    line = {"type": "system", "subtype": "compact_boundary", "sessionId": session, "timestamp": at(seconds)}
    return {**line, "uuid": f"{session}-boundary-{seconds}", "compactMetadata": metadata, **fields}


def transcript(*lines: Line) -> Delivery:
    """Lines as one delivery."""
    return Delivery("claude-code-transcript", b"".join(json.dumps(line).encode() + b"\n" for line in lines))


def request(session: str, seconds: float, used: Line, **attributes: Any) -> Line:
    """A log record of one API request that ended at this moment."""
    told = {
        "model": SONNET,
        "duration_ms": 1_000,
        "query_source": "repl_main_thread",
        "input_tokens": used["input_tokens"],
        "cache_read_tokens": used["cache_read_input_tokens"],
        "cache_creation_tokens": used["cache_creation_input_tokens"],
        "output_tokens": used["output_tokens"],
        **attributes,
    }
    return event(session, seconds, "api_request", **told)


def event(session: str, seconds: float, name: str, **attributes: Any) -> Line:
    """A log record of anything else."""
    told = {"event.name": name, "session.id": session, **attributes}
    return {"timeUnixNano": nanos(seconds), "body": _value(f"claude_code.{name}"), "attributes": _pairs(told)}


def logs(*records: Line) -> Delivery:
    """Log records as one export."""
    scope = {"scope": {"name": "com.anthropic.claude_code.events"}, "logRecords": list(records)}
    resource = {"attributes": _pairs({"service.name": "claude-code", "service.version": "2.1.197"})}
    export = {"resourceLogs": [{"resource": resource, "scopeLogs": [scope]}]}
    return Delivery("claude-code-otlp-logs", json.dumps(export).encode())


def hook(session: str, event: str, **fields: Any) -> Delivery:
    """One hook payload."""
    return Delivery(
        "claude-code-hook", json.dumps({"session_id": session, "hook_event_name": event, **fields}).encode()
    )


def gauge(
    session: str, uptime_ms: int, used: Any, *, window: int = 200_000, model: str = SONNET, cost: float = 0
) -> Line:
    """A sample of the status line."""
    return {
        "session_id": session,
        "model": {"id": model},
        "cost": {"total_cost_usd": cost, "total_duration_ms": uptime_ms},
        "context_window": {"context_window_size": window, "current_usage": used},
    }


def gauged(sample: Line, received_s: float) -> Delivery:
    """A sample in a spool's envelope, so that the test says when it was received."""
    envelope = {"received_at": at(received_s), "payload": sample}
    return Delivery("claude-code-statusline", json.dumps(envelope).encode())


def _pairs(attributes: dict[str, Any]) -> list[Line]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items() if value is not None]


def _value(value: Any) -> Line:
    return {"intValue": value} if isinstance(value, int) else {"stringValue": str(value)}
