"""Small exports and readings for these tests."""

import json
from collections.abc import Mapping
from typing import Any

from sessions_app.feeds.base import Feed, Parsed
from sessions_app.kernel.readings import Reading
from tests.support.inputs import NOW_MS, parsed

SESSION = "00000000-0000-4000-8000-00000000ecm1"
AT_NS = 1_796_077_195_850_000_000


def attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Attributes as an exporter writes them: numbers bare, texts as stringValue."""
    names = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}
    return [{"key": key, "value": {names[type(value)]: value}} for key, value in values.items()]


def log(name: str = "api_request", at_ns: int = AT_NS, **values: Any) -> dict[str, Any]:
    """A log record; double underscores in names are dots."""
    told = {"event.name": name, "session.id": SESSION, **{k.replace("__", "."): v for k, v in values.items()}}
    return {
        "timeUnixNano": str(at_ns),
        "body": {"stringValue": f"claude_code.{name}"},
        "attributes": attributes(told),
    }


def logs(*records: Any, resource: Mapping[str, Any] | None = None) -> bytes:
    """An export of log records."""
    shared = attributes({"service.name": "claude-code", "service.version": "2.1.197"} if resource is None else resource)
    entry = {"resource": {"attributes": shared}, "scopeLogs": [{"logRecords": list(records)}]}
    return json.dumps({"resourceLogs": [entry]}).encode()


def points(*data: dict[str, Any], name: str = "claude_code.token.usage", temporality: Any = 1) -> bytes:
    """An export of points of one counter."""
    metric = {"name": name, "sum": {"aggregationTemporality": temporality, "dataPoints": list(data)}}
    entry = {
        "resource": {"attributes": attributes({"service.name": "claude-code"})},
        "scopeMetrics": [{"metrics": [metric]}],
    }
    return json.dumps({"resourceMetrics": [entry]}).encode()


def point(value: Any, *, start: int = AT_NS, end: int = AT_NS + 10**10, **values: Any) -> dict[str, Any]:
    """A data point of token usage."""
    told = {"session.id": SESSION, "type": "input", "model": "claude-sonnet-4-5"}
    told |= {key.replace("__", "."): v for key, v in values.items()}
    return {
        "attributes": attributes(told),
        "startTimeUnixNano": str(start),
        "timeUnixNano": str(end),
        "asInt": value,
    }


def read[R: Reading](feed: Feed, body: bytes, kind: type[R], *, received_ms: int = NOW_MS) -> list[R]:
    """Readings of one kind from a body that is read without refusal."""
    outcome = parsed(feed, body, received_ms=received_ms)
    assert outcome.refusals == []
    return [reading for item in outcome.items for reading in item.readings if isinstance(reading, kind)]


def only[R: Reading](feed: Feed, body: bytes, kind: type[R], *, received_ms: int = NOW_MS) -> R:
    """The one reading of a kind."""
    (reading,) = read(feed, body, kind, received_ms=received_ms)
    return reading


def refused(outcome: Parsed) -> list[tuple[int, str, str]]:
    """Position, pointer and code of each refusal."""
    return [(refusal.position, refusal.pointer, refusal.code) for refusal in outcome.refusals]
