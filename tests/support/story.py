"""The recorded story in the database, for tests of pages: through the feeds, the ingest service and the fold."""

from datetime import UTC, datetime
from decimal import Decimal

from sessions_app.models import PriceRow, Session, Team
from tests.support.deliveries import deliver, fold_everything, whole_story

STORY_ID = "eb347c87-64e2-4c4e-bfb1-f72eb54605cc"
MODEL = "claude-sonnet-4-5"


def priced(model: str = MODEL, *, window: int | None = 200_000) -> PriceRow:
    """The price row of the story's model: 3/15/0.30/3.75/6."""
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


def recorded(team: Team) -> Session:
    """The story as hooks, telemetry and transcripts told it."""
    priced()
    deliver(team, whole_story())
    fold_everything()
    return Session.objects.get(team=team, host_session_id=STORY_ID)
