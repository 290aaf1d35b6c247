"""The recorded story of Copilot CLI, and events made line by line."""

import json
from typing import Any

from tests.support.deliveries import INPUTS, Delivery

STORY = INPUTS / "hosts" / "copilot-1.0.102"
STORY_ID = "1ea544b3-8815-4b0c-989d-fc0ec29cf85a"
FEED = "copilot-transcript"


def events() -> Delivery:
    """The story's events.jsonl."""
    (path,) = (STORY / "session-state").rglob("events.jsonl")
    return Delivery(FEED, path.read_bytes())


def hooks() -> list[Delivery]:
    """The story's hook payloads with the time at which each was received."""
    return [Delivery("copilot-hook", line.encode()) for line in (STORY / "hooks.jsonl").read_text().splitlines()]


def store() -> Delivery:
    """The rows that the store of the same session holds, as its schema has them."""
    rows: list[dict[str, Any]] = [{"table": "sessions", "row": {"id": STORY_ID, "cwd": "/home/dev/acme-api"}}]
    for text in events().body.splitlines():
        record = json.loads(text)
        if record["type"] == "session.usage_record":
            usage = record["data"]["usage"]
            row = {
                "id": len(rows),
                "session_id": STORY_ID,
                "model": usage["model"],
                "input_tokens": usage["inputTokens"],
                "output_tokens": usage["outputTokens"],
                "cache_read_tokens": usage["cacheReadTokens"],
                "cache_write_tokens": usage["cacheWriteTokens"],
                "initiator": usage["initiator"],
                "created_at": record["timestamp"],
            }
            rows.append({"table": "assistant_usage_events", "row": row})
    return Delivery("copilot-store", b"".join(json.dumps(row).encode() + b"\n" for row in rows))


def traces() -> list[Delivery]:
    """The story's export of spans."""
    texts = (STORY / "otlp-traces.jsonl").read_text().splitlines()
    return [Delivery("any-otlp-traces", text.encode()) for text in texts]


def line(second: float, kind: str, **data: Any) -> dict[str, Any]:
    """An event so many seconds after 2026-11-02 09:00 UTC."""
    minutes, seconds = divmod(second, 60)
    at = f"2026-11-02T{9 + int(minutes) // 60:02}:{int(minutes) % 60:02}:{seconds:06.3f}Z"
    return {"id": f"e-{kind}-{second}", "timestamp": at, "type": kind, "data": data}


def start(session: str = "s1", **more: Any) -> dict[str, Any]:
    """A first line."""
    return line(0, "session.start", sessionId=session, copilotVersion="1.0.74", **more)


def message(second: float, output: int, **more: Any) -> dict[str, Any]:
    """A message with its output."""
    return line(second, "assistant.message", messageId=f"m{second}", outputTokens=output, **more)


def counts(given: int, read: int, written: int, output: int) -> dict[str, int]:
    """Usage as the events have it."""
    return {"inputTokens": given, "cacheReadTokens": read, "cacheWriteTokens": written, "outputTokens": output}


def shutdown(second: float, requests: int, usage: dict[str, int], model: str = "claude-sonnet-4-5") -> dict[str, Any]:
    """The sums of a leg."""
    return line(second, "session.shutdown", modelMetrics={model: {"requests": {"count": requests}, "usage": usage}})


def body(*lines: dict[str, Any]) -> Delivery:
    """A file of these events."""
    return Delivery(FEED, b"".join(json.dumps(one).encode() + b"\n" for one in lines))
