"""The recorded story of Codex, and rollouts made line by line."""

import json
from collections.abc import Sequence
from typing import Any

from tests.support.deliveries import INPUTS, Delivery

STORY = INPUTS / "hosts" / "codex-0.171.0"
STORY_ID = "01a22e8b-3186-7b10-b6c1-74f3e2285998"
FEED = "codex-transcript"


def rollout() -> Delivery:
    """The story's rollout."""
    (path,) = (STORY / "sessions").rglob("*.jsonl")
    return Delivery(FEED, path.read_bytes())


def hooks() -> list[Delivery]:
    """The story's hook payloads with the time at which each was received."""
    return [Delivery("codex-hook", line.encode()) for line in (STORY / "hooks.jsonl").read_text().splitlines()]


def whole_story() -> list[Delivery]:
    """Every part of the story that stands in the feeds."""
    return [*hooks(), *logs(), rollout()]


def logs() -> list[Delivery]:
    """The story's exports of logs."""
    return [Delivery("any-otlp-logs", text.encode()) for text in (STORY / "otlp-logs.jsonl").read_text().splitlines()]


def line(second: float, kind: str, **payload: Any) -> dict[str, Any]:
    """A line so many seconds after 2026-11-02 09:00 UTC."""
    minutes, seconds = divmod(second, 60)
    hours, minutes = divmod(int(minutes), 60)
    at = f"2026-11-02T{9 + hours:02}:{minutes:02}:{seconds:06.3f}Z"
    return {"timestamp": at, "type": kind, "payload": payload}


def meta(thread: str, second: float = 0, **more: Any) -> dict[str, Any]:
    """A first line."""
    return line(second, "session_meta", **{"id": thread, "cwd": "/srv/demo/app", "cli_version": "0.171.0", **more})


def turn(second: float, model: str = "gpt-5") -> dict[str, Any]:
    """A turn that asks a model."""
    return line(second, "turn_context", model=model, cwd="/srv/demo/app")


def used(given: int, read: int = 0, output: int = 10) -> dict[str, Any]:
    """A TokenUsage."""
    return {
        "input_tokens": given,
        "cached_input_tokens": read,
        "output_tokens": output,
        "total_tokens": given + output,
    }


def count(second: float, total: dict[str, Any], last: dict[str, Any] | None) -> dict[str, Any]:
    """A token_count."""
    info = {"total_token_usage": total, "last_token_usage": last, "model_context_window": 258_400}
    return line(second, "event_msg", type="token_count", info={k: v for k, v in info.items() if v is not None})


def record(second: float, response: str, usage: dict[str, Any]) -> dict[str, Any]:
    """A token_usage_record."""
    return line(second, "token_usage_record", response_id=response, usage=usage)


def body(*lines: dict[str, Any]) -> Delivery:
    """A rollout of these lines."""
    return Delivery(FEED, b"".join(json.dumps(one).encode() + b"\n" for one in lines))


def chain(steps: Sequence[tuple[float, dict[str, Any]]]) -> list[dict[str, Any]]:
    """token_count rows of calls one after the other, each with its running total."""
    rows: list[dict[str, Any]] = []
    total = used(0, 0, 0)
    for second, last in steps:
        total = {name: total[name] + last[name] for name in total}
        rows.append(count(second, total, last))
    return rows
