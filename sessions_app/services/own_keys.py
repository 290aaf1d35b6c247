"""Keys that a person makes for oneself: they name their owner in every session that they bring."""

import hashlib
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import QuerySet

from ecm_site.common.problems import DomainError
from sessions_app.models import ApiKey, KeyKind, Team
from sessions_app.services import keys, teams

#: Keys in force of one person in one team.
MOST_KEYS = 20
LONGEST_IDENTITY, LONGEST_LABEL = 64, 120


def identity_of(user: User) -> str:
    """The developer as whom a user's keys report: the name, or a hash of one that is too long."""
    name = user.get_username()
    return name if len(name) <= LONGEST_IDENTITY else hashlib.sha256(name.encode()).hexdigest()


def keys_of(user: User) -> QuerySet[ApiKey]:
    """The user's own ingest keys in the teams that the user is in, the newest first."""
    return (
        ApiKey.objects.filter(
            kind=KeyKind.INGEST, developer__identity=identity_of(user), team__in=Team.objects.for_user(user)
        )
        .select_related("team")
        .order_by("-created_at", "-pk")
    )


def issue(*, user: User, team: Team, label: str, now: datetime) -> tuple[ApiKey, str]:
    """A new key and its secret, which is not stored. Refused: `too_many_keys`. May the user? The caller asks."""
    if keys_of(user).filter(team=team, revoked_at=None).count() >= MOST_KEYS:
        raise DomainError("too_many_keys", f"You have {MOST_KEYS} keys in this team already; revoke one first.", 409)
    developer = teams.ensure_developer(team=team, identity=identity_of(user))
    told = label.replace("\0", "").strip()[:LONGEST_LABEL]
    return keys.issue(kind=KeyKind.INGEST, now=now, team=team, developer=developer, label=told)


def revoke(*, user: User, key_id: int, now: datetime) -> bool:
    """End one of the user's own keys; False where there is no such key."""
    key = keys_of(user).filter(pk=key_id).first()
    if key is None:
        return False
    keys.revoke(key=key, now=now)
    return True
