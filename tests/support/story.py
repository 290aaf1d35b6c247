"""The recorded story as readings, from what the model served; for tests of what comes after the feeds.

Its truth is in `served-usage.json` (ten calls) and the recordings' README; costs are at 3/15/0.30/3.75/6.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User

from sessions_app.kernel.readings import (
    CallReading,
    CompactionReading,
    Purpose,
    Reading,
    SessionReading,
    Signal,
    Source,
    encode,
)
from sessions_app.models import Membership, Organisation, PriceRow, ReadingRow, Role, Session, Team
from sessions_app.services import folding
from sessions_app.services.store import mark_dirty

INPUTS = Path(__file__).parents[1] / "inputs"
NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
STARTED = datetime(2026, 11, 30, 14, 2, tzinfo=UTC)
STORY_ID = "eb347c87-64e2-4c4e-bfb1-f72eb54605cc"
AGENT = "a0d10d8256c788f5f"
MODEL = "claude-sonnet-4-5"
COST = Decimal("1.428819")
AGENT_TURN, SUMMARY_TURN = 3, 7


def ms(at: datetime) -> int:
    """Milliseconds since the epoch."""
    return int(at.timestamp() * 1000)


def team_of(slug: str = "platform", *, is_demo: bool = False) -> Team:
    """A team of the one organisation."""
    organisation, _ = Organisation.objects.get_or_create(slug="acme", defaults={"name": "Acme", "created_at": NOW})
    team, _ = Team.objects.get_or_create(
        organisation=organisation,
        slug=slug,
        defaults={"name": slug.capitalize(), "is_demo": is_demo, "created_at": NOW},
    )
    return team


def viewer_of(*teams: Team, name: str = "vera") -> User:
    """A user who may look at these teams."""
    user = User.objects.create_user(name, password="a long pass phrase")
    for team in teams:
        Membership.objects.create(user=user, organisation=team.organisation, team=team, role=Role.VIEWER)
    return user


def price(window: int | None = 200_000, model: str = MODEL) -> PriceRow:
    """The price row of the story's model."""
    row, _ = PriceRow.objects.get_or_create(
        model=model,
        provider="anthropic",
        valid_from=datetime(2025, 9, 1, tzinfo=UTC),
        defaults={
            "input": Decimal(3),
            "output": Decimal(15),
            "cache_read": Decimal("0.30"),
            "cache_write_5m": Decimal("3.75"),
            "cache_write_1h": Decimal(6),
            "window": window,
            "source": "test",
        },
    )
    return row


def served() -> list[dict[str, Any]]:
    """What the model served, call by call."""
    turns = json.loads((INPUTS / "hosts" / "claude-code-2.1.197" / "served-usage.json").read_text())["turns"]
    return list(turns)


def call(session: str, number: int, *, at: datetime, source: Source = Source.TRANSCRIPT, **fields: Any) -> CallReading:
    """One call as one source tells it."""
    return CallReading(
        session=session,
        source=source,
        key=f"m{number}",
        message_id=f"msg_{session[:8]}_{number}",
        first_ms=ms(at),
        ended_ms=ms(at + timedelta(seconds=4)),
        received_ms=ms(at),
        model=(1, fields.pop("model", MODEL)),
        **fields,
    )


def story(session: str = STORY_ID, started: datetime = STARTED) -> list[Reading]:
    """Every reading of the story that bears figures: telemetry of ten calls, transcripts of nine."""
    found: list[Reading] = []
    for number, turn in enumerate(served()):
        at = started + timedelta(seconds=12 * number)
        written_5m, written_1h = turn["w5"], turn.get("w1h", 0)
        common: dict[str, Any] = {
            "uncached_input": turn["in"],
            "cache_read": turn["r"],
            "output": turn["out"],
            "write_total": written_5m + written_1h,
            "thread": (1, AGENT) if number == AGENT_TURN else (0, ""),
            "purpose": (1, Purpose.COMPACTION) if number == SUMMARY_TURN else (0, Purpose.TURN),
        }
        dollars = (
            Decimal(3 * turn["in"] + 15 * turn["out"] + 6 * written_1h)
            + Decimal("0.30") * turn["r"]
            + Decimal("3.75") * written_5m
        ) / 1_000_000
        telemetry = {**common, "host_cost_nanousd": int(dollars.scaleb(9))}
        found.append(call(session, number, at=at, source=Source.OTLP_LOG, **telemetry))
        if number != SUMMARY_TURN:
            split = {"write_5m": written_5m, "write_1h": written_1h, "stop_reason": (1, "end_turn")}
            found.append(call(session, number, at=at, **common, **split))
    return [*found, *_compaction(session, started), _facts(session, started)]


def _compaction(session: str, started: datetime) -> list[Reading]:
    at = started + timedelta(seconds=12 * SUMMARY_TURN + 5)
    manual = (1, "manual")
    common: dict[str, Any] = {"session": session, "trigger": manual, "at_ms": ms(at), "duration_ms": 4_120}
    return [
        CompactionReading(
            source=Source.TRANSCRIPT,
            key="b1",
            signal=Signal.BOUNDARY,
            before_tokens=153_824,
            after_tokens=651,
            **common,
        ),
        CompactionReading(
            source=Source.OTLP_LOG,
            key="t1",
            signal=Signal.TELEMETRY,
            before_tokens=10_923,
            succeeded=(1, "true"),
            **common,
        ),
    ]


def _facts(session: str, started: datetime, **changes: Any) -> SessionReading:
    fields: dict[str, Any] = {
        "version": (1, "2.1.197"),
        "branch": (1, "main"),
        "project": (1, "acme-api"),
        "agents": {AGENT: "Explore"},
        "first_ms": ms(started),
    }
    return SessionReading(session=session, source=Source.TRANSCRIPT, key="s", **(fields | changes))


def facts(session: str, started: datetime, **changes: Any) -> SessionReading:
    """What one source says of the whole session; texts are ranked pairs."""
    return _facts(session, started, **changes)


def tell(team: Team, readings: Sequence[Reading], *, host: str = "claude-code", fold: bool = True) -> Session:
    """Store readings of one session and fold it."""
    name = readings[0].session
    session, _ = Session.objects.get_or_create(
        team=team, host=host, host_session_id=name, defaults={"created_at": NOW, "received_at": NOW}
    )
    ReadingRow.objects.bulk_create(
        ReadingRow(
            session=session,
            team=team,
            kind=reading.kind,
            source=reading.source,
            key=reading.key,
            body=encode(reading),
            message_id=getattr(reading, "message_id", None),
            request_id=getattr(reading, "request_id", None),
            received_at=NOW,
        )
        for reading in readings
    )
    mark_dirty([session.pk], NOW)
    if fold:
        folding.fold_session(session_id=session.pk, now=NOW)
    session.refresh_from_db()
    return session
