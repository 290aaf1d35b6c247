"""Deliveries of recorded sessions: in the order in which they happened, cut, doubled and shuffled."""

import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sessions_app.feeds.base import Context
from sessions_app.feeds.registry import FEEDS
from sessions_app.kernel.charges import Prices
from sessions_app.kernel.facts import FoldInput, SessionFold
from sessions_app.kernel.fold import fold
from sessions_app.kernel.readings import Reading
from sessions_app.models import Session, Team
from sessions_app.services import folding, ingest
from sessions_app.services.ingest import Receipt, Sender

INPUTS = Path(__file__).parents[1] / "inputs"
STORY = INPUTS / "hosts" / "claude-code-2.1.197"
NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
NOW_MS = int(NOW.timestamp() * 1000)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One body for one feed; `session` is what the address says beside it."""

    feed: str
    body: bytes
    session: str = ""


def hooks() -> list[Delivery]:
    """The story's hook payloads, one delivery each, as the host posts them."""
    lines = (STORY / "hooks.jsonl").read_text().splitlines()
    return [Delivery("claude-code-hook", json.dumps(json.loads(line)["payload"]).encode()) for line in lines]


def telemetry() -> list[Delivery]:
    """The story's four exports of logs and of metrics."""
    logs = [Delivery("claude-code-otlp-logs", p.read_bytes()) for p in sorted(STORY.glob("otlp-logs-*.json"))]
    metrics = [Delivery("claude-code-otlp-metrics", p.read_bytes()) for p in sorted(STORY.glob("otlp-metrics-*.json"))]
    return logs + metrics


def logs_only() -> list[Delivery]:
    """The story's logs without its metrics."""
    return [d for d in telemetry() if d.feed.endswith("logs")]


def transcripts() -> list[Delivery]:
    """The story's transcript and its subagent's."""
    paths = sorted((STORY / "projects").rglob("*.jsonl"))
    return [Delivery("claude-code-transcript", path.read_bytes()) for path in paths]


def whole_story() -> list[Delivery]:
    """Every part of the story, in one of its natural orders."""
    return hooks() + telemetry() + transcripts()


def shuffled(deliveries: list[Delivery], seed: int) -> list[Delivery]:
    """The same deliveries cut at arbitrary lines and records, some of them twice, in any order."""
    rng = random.Random(seed)
    pieces = [piece for delivery in deliveries for piece in _cut(delivery, rng)]
    pieces += [piece for piece in pieces if rng.random() < 0.4]
    rng.shuffle(pieces)
    return pieces


def _cut(delivery: Delivery, rng: random.Random) -> Iterator[Delivery]:
    if delivery.feed.endswith("-transcript"):
        lines = delivery.body.splitlines(keepends=True)
        # Only the first line of these files says whose they are; a client sends it with every piece.
        head = lines[:1] if delivery.feed.startswith(("codex", "copilot", "gemini")) else []
        cuts = sorted({0, len(lines), *(rng.randrange(len(lines)) for _ in range(rng.randint(0, 9)))})
        for start, end in itertools.pairwise(cuts):
            yield Delivery(delivery.feed, b"".join([*(head if start else []), *lines[start:end]]))
    elif delivery.feed == "claude-code-otlp-logs":
        yield from _cut_logs(delivery, rng)
    else:
        yield delivery


def _cut_logs(delivery: Delivery, rng: random.Random) -> Iterator[Delivery]:
    for resource in json.loads(delivery.body)["resourceLogs"]:
        for scope in resource["scopeLogs"]:
            records = scope["logRecords"]
            cuts = sorted({0, len(records), *(rng.randrange(len(records)) for _ in range(rng.randint(0, 3)))})
            for start, end in itertools.pairwise(cuts):
                part = {**resource, "scopeLogs": [{**scope, "logRecords": records[start:end]}]}
                yield Delivery(delivery.feed, json.dumps({"resourceLogs": [part]}).encode())


def folded(deliveries: list[Delivery], prices: Prices) -> dict[str, SessionFold]:
    """Read, join and fold in memory, by host session id; no kin."""
    held: dict[str, dict[tuple[str, str, str], Reading]] = {}
    for delivery in deliveries:
        parsed = FEEDS[delivery.feed].parse(delivery.body, Context(received_ms=NOW_MS, session=delivery.session))
        for reading in (r for item in parsed.items for r in item.readings):
            name = (reading.kind, str(reading.source), reading.key)
            stored = held.setdefault(reading.session, {})
            stored[name] = stored[name].merge(reading) if name in stored else reading
    return {
        session: fold(FoldInput(session=session, readings=tuple(readings.values()), received_ms=NOW_MS), prices)
        for session, readings in held.items()
    }


def deliver(team: Team, deliveries: list[Delivery], *, final: bool = False) -> list[Receipt]:
    """Store deliveries through the ingest service."""
    return [
        ingest.receive(
            sender=Sender(team.pk),
            feed=FEEDS[d.feed],
            body=d.body,
            context=Context(received_ms=NOW_MS + number, final=final, session=d.session),
            now=NOW + timedelta(milliseconds=number),
        )
        for number, d in enumerate(deliveries)
    ]


def fold_everything() -> None:
    """Fold until nothing is dirty; a fold may make kin dirty."""
    for _ in range(10):
        ids = folding.dirty_ids(limit=10_000)
        if not ids:
            return
        for session_id in ids:
            folding.fold_session(session_id=session_id, now=NOW)
    raise AssertionError(f"still dirty: {Session.objects.dirty().count()}")
