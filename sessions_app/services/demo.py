"""The demo team: invented transcripts, read by the same feed as real ones. Never summed with real teams."""

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import msgspec

from sessions_app.feeds import claude_transcript
from sessions_app.feeds.base import Context
from sessions_app.models import Organisation, Session, Team
from sessions_app.services import ingest
from sessions_app.services.ingest import Sender

SLUG = "demo"
SEED = 20_261_130
PROJECTS = ("billing", "acme-api", "web", "infra")
MODELS = ("claude-sonnet-4-5", "claude-opus-4-6", "claude-haiku-4-5")
#: The fixed prefix of a project: tools and instructions before anyone speaks.
PREFIX = {"billing": 24_300, "acme-api": 28_400, "web": 41_700, "infra": 17_900}
AUTO_COMPACT_AT = 168_000


@dataclass(slots=True)
class _Author:
    """Writes one invented transcript, line by line."""

    rng: random.Random
    project: str
    model: str
    now: datetime
    session: str = ""
    parent: str | None = None
    context: int = 0
    lines: list[dict[str, object]] = field(default_factory=list)

    def envelope(self, kind: str, **fields: object) -> dict[str, object]:
        line_id = str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
        line = {
            "parentUuid": self.parent,
            "isSidechain": False,
            "type": kind,
            "uuid": line_id,
            "sessionId": self.session,
            "timestamp": self.now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "cwd": f"/demo/{self.project}",
            "gitBranch": "main",
            "version": "2.1.201",
            **fields,
        }
        self.parent = line_id
        self.lines.append(line)
        return line

    def prompt(self) -> None:
        self.envelope("user", message={"role": "user", "content": "x" * self.rng.randint(40, 400)})
        self.now += timedelta(seconds=self.rng.uniform(1, 4))

    def call(self, *, grows: int, warm: bool) -> None:
        """One response: reads what was held, writes what is new; cold, it writes everything again."""
        held, self.context = self.context, self.context + grows
        read = held if warm else 0
        usage = {
            "input_tokens": self.rng.randint(3, 12),
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": self.context - read,
            "cache_creation": {"ephemeral_5m_input_tokens": self.context - read, "ephemeral_1h_input_tokens": 0},
            "output_tokens": self.rng.randint(60, 1_900),
        }
        tool = f"toolu_{self.rng.getrandbits(64):016x}"
        message_id = f"msg_demo{self.rng.getrandbits(64):016x}"
        self.envelope(
            "assistant",
            requestId=f"req_demo{self.rng.getrandbits(64):016x}",
            message={
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "model": self.model,
                "content": [
                    {"type": "tool_use", "id": tool, "name": self.rng.choice(("Bash", "Read", "Grep")), "input": {}}
                ],
                "stop_reason": "tool_use",
                "usage": usage,
            },
        )
        self.now += timedelta(seconds=self.rng.uniform(3, 40))
        result = {
            "type": "tool_result",
            "tool_use_id": tool,
            "content": "x" * self.rng.randint(200, 3 * max(grows, 200)),
        }
        self.envelope("user", message={"role": "user", "content": [result]})

    def compact(self, trigger: str) -> None:
        before = self.context + self.rng.randint(50, 400)
        last, self.parent = self.parent, None
        self.context = PREFIX[self.project] + self.rng.randint(1_500, 6_000)
        self.envelope(
            "system",
            subtype="compact_boundary",
            logicalParentUuid=last,
            compactMetadata={"trigger": trigger, "preTokens": before, "durationMs": self.rng.randint(9_000, 60_000)},
        )
        self.envelope("user", isCompactSummary=True, message={"role": "user", "content": "x" * 4_000})


def _transcript(rng: random.Random, started: datetime) -> list[dict[str, object]]:
    project = rng.choice(PROJECTS)
    author = _Author(rng, project, rng.choices(MODELS, (6, 3, 1))[0], started)
    author.session = str(uuid.UUID(int=rng.getrandbits(128), version=4))
    author.prompt()
    author.call(grows=PREFIX[project], warm=False)
    for _ in range(rng.randint(4, 60)):
        pause = rng.random()
        if pause < 0.05:
            author.now += timedelta(minutes=rng.uniform(6, 70))
            author.prompt()
        elif pause < 0.2:
            author.prompt()
        warm = pause >= 0.05 and rng.random() > 0.012
        author.call(grows=rng.randint(300, 9_500), warm=warm)
        if author.context > AUTO_COMPACT_AT or (author.context > 110_000 and rng.random() < 0.08):
            author.compact("auto" if author.context > AUTO_COMPACT_AT else "manual")
            author.call(grows=rng.randint(500, 2_000), warm=False)
    return author.lines


def transcripts(now: datetime, sessions: int = 40) -> Iterator[bytes]:
    """Invented transcripts of the last seven days; the same for the same `now`."""
    rng = random.Random(SEED)
    for _ in range(sessions):
        started = now - timedelta(hours=rng.uniform(3, 7 * 24))
        lines = _transcript(rng, started)
        yield b"\n".join(msgspec.json.encode(line) for line in lines) + b"\n"


def load(*, now: datetime) -> Team:
    """Make the demo team anew, with its sessions; folding is left to the worker or the caller."""
    organisation = Organisation.objects.order_by("pk").first()
    if organisation is None:
        raise LookupError("no organisation yet: run make up once")
    drop()
    team = Team.objects.create(organisation=organisation, slug=SLUG, name="Demo", is_demo=True, created_at=now)
    context = Context(received_ms=int(now.timestamp() * 1000))
    for body in transcripts(now):
        ingest.receive(sender=Sender(team.pk), feed=claude_transcript.FEED, body=body, context=context, now=now)
    return team


def drop() -> int:
    """Remove the demo team and all that belongs to it; gives the number of its sessions."""
    teams = Team.objects.filter(is_demo=True)
    sessions = Session.objects.filter(team__in=teams).count()
    teams.delete()
    return sessions
