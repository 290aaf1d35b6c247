"""Links that sign in one user once: for the terminal that started the server."""

import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from sessions_app.models import EntryLink
from sessions_app.services.keys import digest_of

VALID_FOR = timedelta(minutes=10)


class EntryError(Exception):
    """A link that opens nothing; `code` is unknown, used or expired."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def issue_link(*, user: User, now: datetime) -> str:
    """A token that signs `user` in once within ten minutes; only its hash is stored."""
    token = secrets.token_urlsafe(18)
    EntryLink.objects.filter(expires_at__lt=now - timedelta(days=1)).delete()
    EntryLink.objects.create(user=user, digest=digest_of(token), expires_at=now + VALID_FOR)
    return token


@transaction.atomic
def redeem(*, token: str, now: datetime) -> User:
    """The user of a link, which ends with this. Raises EntryError."""
    link = EntryLink.objects.select_for_update(of=("self",)).filter(digest=digest_of(token)).first()
    if link is None:
        raise EntryError("unknown")
    if link.used_at is not None:
        raise EntryError("used")
    if link.expires_at <= now:
        raise EntryError("expired")
    link.used_at = now
    link.save(update_fields=["used_at"])
    return User.objects.get(pk=link.user_id)
