"""For every feed: small records of recorded stories and traps, and how several of them make one body."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tests.cases.test_claude_sdk import LINES
from tests.feeds_live.test_canonical import RECORDS
from tests.feeds_open.test_provider_usage import VECTORS, record
from tests.support.inputs import INPUTS, STORY, TRAPS, corpus_of_others, story_transcripts, trap_bodies, traps

HOSTS = INPUTS / "hosts"
#: Longer records only cost time.
LONGEST = 20_000

type Records = list[Any]


@dataclass(frozen=True, slots=True)
class Samples:
    """Records of one feed. `head`: a record that must stand first; `is_alone`: each is read without its neighbours."""

    records: Records
    assemble: Callable[[Sequence[Any]], bytes]
    head: Any = None
    is_alone: bool = True

    def body(self, records: Sequence[Any]) -> bytes:
        """One body of these records."""
        return self.assemble([*([] if self.head is None else [self.head]), *records])


def by_line(records: Sequence[Any]) -> bytes:
    """One a line; bytes stand for themselves, as damaged ones do."""
    return b"".join((r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in records)


def as_export(top: str) -> Callable[[Sequence[Any]], bytes]:
    """Exports of one record each, as one export."""

    def assemble(exports: Sequence[Any]) -> bytes:
        if any(isinstance(export, bytes) for export in exports):
            return b'{"%s":[' % top.encode() + b",".join(map(_inner, exports)) + b"]}"
        members = [export.get(top) if isinstance(export, dict) else export for export in exports]
        return json.dumps({top: [m for held in members for m in (held if isinstance(held, list) else [held])]}).encode()

    def _inner(export: Any) -> bytes:
        return export if isinstance(export, bytes) else json.dumps(export[top][0]).encode()

    return assemble


def as_csv(records: Sequence[Any]) -> bytes:
    """Rows under a head; what is no row stands as it is."""
    names = list(records[0]) if records and isinstance(records[0], dict) else []
    rows = [",".join(json.dumps(str(v)) for v in r.values()) if isinstance(r, dict) else str(r) for r in records]
    return "\n".join([",".join(names), *rows]).encode("utf-8", "replace")


def _lines(*paths: str) -> Records:
    bodies = (path.read_bytes() for name in paths for path in sorted(HOSTS.glob(name)))
    return [json.loads(line) for body in bodies for line in body.splitlines() if 0 < len(line) < LONGEST]


def _traps(kind: str) -> Iterator[Any]:
    """Records of the traps of one format; lines, lists and single documents."""
    for number, trap in traps().items():
        if trap["format"] != kind:
            continue
        for body in trap_bodies(number):
            for line in body.splitlines() if _has_lines(body) else [body]:
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                yield from value if isinstance(value, list) else [value]


def _has_lines(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return True
    return False


def _apart(exports: Sequence[Any], top: str, scopes: str, items: str) -> Iterator[Any]:
    """Exports of one record each, with its resource."""
    for export in exports:
        for resource in export[top]:
            for scope in resource[scopes]:
                for item in scope[items]:
                    yield {top: [{**resource, scopes: [{**scope, items: [item]}]}]}


def _telemetry(top: str, scopes: str, items: str, exports: Sequence[Any]) -> Samples:
    return Samples([e for e in _apart(exports, top, scopes, items) if len(json.dumps(e)) < LONGEST], as_export(top))


def _story(pattern: str) -> Records:
    return [json.loads(path.read_bytes()) for path in sorted(STORY.glob(pattern))]


def _of_lines(records: Sequence[Any], **more: Any) -> Samples:
    return Samples([r for r in records if len(json.dumps(r)) < LONGEST], by_line, **more)


@lru_cache(maxsize=1)
def samples() -> dict[str, Samples]:
    """By name of feed."""
    logs = [*_story("otlp-logs-[34].json"), *_lines("codex-*/otlp-logs.jsonl", "gemini-*/otlp-logs.jsonl")]
    metrics = [*_story("otlp-metrics-1.json"), *_traps("otlp_metrics")]
    spans = [*_traps("otlp_traces"), *_lines("copilot-*/otlp-traces.jsonl")]
    log_names, point_names = ("resourceLogs", "scopeLogs", "logRecords"), ("resourceMetrics", "scopeMetrics", "metrics")
    claude = [json.loads(line) for body in story_transcripts() for line in body.splitlines() if line]
    rollout, events = _lines("codex-*/sessions/**/*.jsonl"), _lines("copilot-*/session-state/**/*.jsonl")
    chat = _lines("gemini-*/chats/*.jsonl")
    exported = json.loads(corpus_of_others()["opencode/22.json"])
    row = {"id": 1, "session_id": "s", "model": "m", "input_tokens": 9, "output_tokens": 2, "created_at": 1796081112401}
    return {
        "canonical": _of_lines(list(RECORDS)),
        "claude-code-hook": _of_lines(_lines("claude-code-2.1.197/hooks.jsonl")),
        "claude-code-otlp-logs": _telemetry(*log_names, _story("otlp-logs-[34].json")),
        "claude-code-otlp-metrics": _telemetry(*point_names, _story("otlp-metrics-1.json")),
        "claude-code-statusline": _of_lines(_lines("claude-code-2.1.197-statusline/*.jsonl")),
        "claude-code-transcript": _of_lines([*claude, *_traps("claude_transcript")]),
        "claude-sdk-transcript": _of_lines(LINES, is_alone=False),
        "cursor-hook": _of_lines([json.loads(x) for x in corpus_of_others()["cursor-hooks/1.jsonl"].splitlines()]),
        "gemini-hook": _of_lines(_lines("gemini-*/hooks.jsonl")),
        "gemini-transcript": _of_lines(chat[1:], head=chat[0], is_alone=False),
        "codex-hook": _of_lines(_lines("codex-*/hooks.jsonl")),
        "codex-transcript": _of_lines(rollout[1:], head=rollout[0], is_alone=False),
        "copilot-hook": _of_lines(_lines("copilot-*/hooks.jsonl")),
        "copilot-store": _of_lines([{"table": "assistant_usage_events", "row": row}]),
        "copilot-transcript": _of_lines(events[1:], head=events[0], is_alone=False),
        "opencode-hook": _of_lines(_lines("opencode-*/plugin-events.jsonl")),
        "opencode-transcript": _of_lines(exported["messages"]),
        "any-otlp-logs": _telemetry(*log_names, logs),
        "any-otlp-metrics": _telemetry(*point_names, metrics),
        "any-otlp-traces": _telemetry("resourceSpans", "scopeSpans", "spans", spans),
        "cursor-csv": Samples(list(csv.DictReader(io.StringIO((TRAPS / "T43.csv").read_text()))), as_csv),
        "usage-proxy": _of_lines([json.loads(record(json.loads(v[0]), provider=v[1])) for v in VECTORS.values()]),
        "litellm-proxy": _of_lines(list(_traps("litellm_callback"))),
    }
