"""Sessions in which nobody wants to hear verdicts; they are still given and stored, and pins still come back."""

from datetime import datetime

from sessions_app.models import Session


def mute(*, session: Session, muted: bool, now: datetime) -> None:
    """Stop (or start again) telling verdicts in a session."""
    rows = Session.objects.filter(pk=session.pk, muted_at__isnull=muted)
    rows.update(muted_at=now if muted else None)
    session.refresh_from_db(fields=["muted_at"])
