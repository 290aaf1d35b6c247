"""The weekly mail: on Monday, of the week before, to the team's mail addresses, once."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import cast

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from sessions_app.models import AlertTarget, Letter, Occasion, TargetKind, Team
from sessions_app.services import notices

#: It goes out from this hour (UTC) on; a server that was away on Monday sends it later in the week.
FROM_HOUR = 6


@dataclass(frozen=True, slots=True)
class WrittenLetter:
    """Subject, and paragraphs of plain sentences."""

    subject: str
    paragraphs: tuple[str, ...]

    @property
    def text(self) -> str:
        """As a mail."""
        return "\n\n".join(self.paragraphs) + "\n"


type Writer = Callable[[Team, date], WrittenLetter]


def monday_before(now: datetime) -> date:
    """The Monday with which the last whole week (UTC) began."""
    today = now.astimezone(UTC).date()
    return today - timedelta(days=today.weekday() + 7)


def written(*, team: Team, week: date) -> WrittenLetter:
    """The letter of the week that begins with this Monday; `ECM_LETTER_WRITER` writes it."""
    return cast(Writer, import_string(settings.ECM_LETTER_WRITER))(team, week)


def write_due(*, now: datetime) -> int:
    """Write the letters that are due; returns how many teams got one."""
    at = now.astimezone(UTC)
    if at.weekday() == 0 and at.hour < FROM_HOUR:
        return 0
    week = monday_before(now)
    waiting = Letter.objects.filter(is_on=True).exclude(sent_for__gte=week).values_list("pk", flat=True)
    return sum(_write(pk, week, now) for pk in list(waiting))


@transaction.atomic
def _write(letter_id: int, week: date, now: datetime) -> bool:
    held = Letter.objects.select_for_update(of=("self",)).select_related("team").filter(pk=letter_id, is_on=True)
    letter = held.first()
    if letter is None or (letter.sent_for is not None and letter.sent_for >= week):
        return False
    letter.sent_for = week
    letter.save(update_fields=["sent_for"])
    targets = list(AlertTarget.objects.filter(team=letter.team, kind=TargetKind.MAIL))
    if not targets:
        return False
    told = written(team=letter.team, week=week)
    notices.write(
        team=letter.team, targets=targets, occasion=Occasion.WEEKLY, subject=told.subject, text=told.text, now=now
    )
    return True
