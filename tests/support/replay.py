"""The recorded story played by event time: each hook sees the transcript as far as its host had written it by then."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from policy_app.services import inforce, installing
from sessions_app.feeds.base import Context
from sessions_app.feeds.registry import FEEDS
from sessions_app.models import Session, Team, Verdict
from sessions_app.services import answering, deliveries, folding, ingest, judging
from sessions_app.services.answering import Answered
from sessions_app.services.deliveries import Delivery
from sessions_app.services.ingest import Sender
from tests.support.deliveries import STORY

#: A line is in the file so long after the time that it bears. Seen: at the PostToolUse of call 6 its line of 127 ms
#: before was not there, that of call 5 of 239 ms before was (hosts-live, Claude Code 15).
LAG_MS = 150
LINK = "https://ecm.example.com/v/{}"


@dataclass(frozen=True, slots=True)
class Moment:
    """A hook of the story, when it fired, and the lines that were in the files by then."""

    at: datetime
    payload: dict[str, Any]
    lines: list[bytes]

    @property
    def name(self) -> str:
        """The hook, with what tells it from others of its kind."""
        more = self.payload.get("tool_use_id") or self.payload.get("source") or ""
        return f"{self.payload['hook_event_name']} {more}".strip()


def moments(lag_ms: int = LAG_MS) -> Iterator[Moment]:
    """The story's hooks in their order."""
    lines = sorted(_lines(), key=lambda pair: pair[0])
    for record in (STORY / "hooks.jsonl").read_text().splitlines():
        hook = json.loads(record)
        at = datetime.fromtimestamp(hook["received_at"], UTC)
        seen = [line for stamp, line in lines if stamp <= at - timedelta(milliseconds=lag_ms)]
        lines = lines[len(seen) :]
        yield Moment(at, hook["payload"], seen)


def _lines() -> Iterator[tuple[datetime, bytes]]:
    for path in sorted((STORY / "projects").rglob("*.jsonl")):
        stamp = datetime.fromtimestamp(0, UTC)
        for line in path.read_bytes().splitlines():
            told = json.loads(line).get("timestamp")
            stamp = datetime.fromisoformat(told) if told else stamp
            yield stamp, line


@dataclass(slots=True)
class Player:
    """Delivers moments of a team as its client does, and keeps the answers."""

    team: Team
    session: str = "eb347c87-64e2-4c4e-bfb1-f72eb54605cc"
    #: What the client has to confirm with its next delivery.
    printed: list[dict[str, Any]] = field(default_factory=list)
    confirms: bool = True

    def __post_init__(self) -> None:
        inforce.forget(self.team.organisation_id)
        installing.ensure_default(organisation_id=self.team.organisation_id, four_eyes=False, now=NOW)
        installing.ensure_pins(organisation_id=self.team.organisation_id, four_eyes=False, now=NOW)
        inforce.forget(self.team.organisation_id)

    def play(self, moment: Moment, *, fold: bool = False, **more: Any) -> Answered:
        """One delivery; with `fold`, the fold ran before the answer was made."""
        if moment.lines:
            self._take("claude-code-transcript", b"\n".join(moment.lines) + b"\n", moment.at)
        entry = {"received_at": moment.at.timestamp(), "payload": moment.payload}
        self._take("claude-code-hook", json.dumps(entry).encode(), moment.at)
        if fold:
            for session_id in folding.dirty_ids(limit=100):
                folding.fold_session(session_id=session_id, now=moment.at)
        return self.ask(moment, **more)

    def ask(self, moment: Moment, **more: Any) -> Answered:
        """The answer alone."""
        entry = {"received_at": moment.at.timestamp(), "payload": moment.payload}
        delivery = Delivery(
            team_id=self.team.pk,
            organisation_id=self.team.organisation_id,
            host="claude-code",
            session=self.session,
            entries=tuple(deliveries.entries_of([entry], 0)),
            link=LINK,
            session_link="https://ecm.example.com/s/{}",
            started=deliveries.started(),
            **{"waits": True, "printed": tuple(self.printed), **more},
        )
        answered = answering.answer(delivery=delivery, now=moment.at)
        self.printed = []
        if answered.text and self.confirms:
            digest = judging.digest_of(answered.text)
            self.printed = [{"event": moment.payload["hook_event_name"], "sha256": digest, "by": "server"}]
        return answered

    def _take(self, feed: str, body: bytes, at: datetime) -> None:
        context = Context(received_ms=int(at.timestamp() * 1000))
        ingest.receive(sender=Sender(self.team.pk), feed=FEEDS[feed], body=body, context=context, now=at)

    @property
    def row(self) -> Session:
        """The session."""
        return Session.objects.get(team=self.team, host_session_id=self.session)

    def last(self) -> Verdict | None:
        """The newest verdict."""
        return Verdict.objects.filter(session__team=self.team).order_by("-pk").first()


NOW = datetime(2026, 11, 30, tzinfo=UTC)
