"""The first organisation, team, administrator and keys; may run at every start."""

import secrets
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from sessions_app.models import ApiKey, KeyKind, Membership, Organisation, Role, Team
from sessions_app.services import keys, teams
from sessions_app.services.keys import digest_of

ORGANISATION, TEAM, ADMIN = "default", "default", "admin"


@dataclass(frozen=True, slots=True)
class Installed:
    """What is there now. Secrets are told only when they were made in this run."""

    organisation: Organisation
    team: Team
    admin: User
    admin_password: str | None
    ingest_key: str | None
    admin_key: str | None


@transaction.atomic
def ensure_installation(
    *, admin_password: str | None, ingest_key: str | None, admin_key: str | None, now: datetime
) -> Installed:
    """Make what is missing. Given secrets are put in force; missing ones are made only where there are none."""
    organisation, _ = Organisation.objects.get_or_create(
        slug=ORGANISATION, defaults={"name": "My organisation", "created_at": now}
    )
    team = teams.ensure(organisation=organisation, slug=TEAM, name="My team", now=now)
    admin, made_password = _ensure_admin(organisation, admin_password)
    return Installed(
        organisation,
        team,
        admin,
        made_password,
        _ensure_key(organisation, team, KeyKind.INGEST, ingest_key, now),
        _ensure_key(organisation, None, KeyKind.ADMIN, admin_key, now),
    )


def _ensure_admin(organisation: Organisation, given: str | None) -> tuple[User, str | None]:
    user, is_new = User.objects.get_or_create(username=ADMIN)
    made = secrets.token_urlsafe(12) if is_new and not given else None
    wanted = given or made
    if wanted and not user.check_password(wanted):
        user.set_password(wanted)
        user.save(update_fields=["password"])
    Membership.objects.get_or_create(user=user, organisation=organisation, team=None, defaults={"role": Role.ADMIN})
    return user, made


def _ensure_key(
    organisation: Organisation, team: Team | None, kind: KeyKind, given: str | None, now: datetime
) -> str | None:
    held = ApiKey.objects.filter(organisation=organisation, kind=kind, revoked_at=None)
    if given:
        if not ApiKey.objects.filter(digest=digest_of(given)).exists():
            keys.issue(kind=kind, now=now, team=team, organisation=organisation, label="environment", secret=given)
        return None
    if held.exists():
        return None
    return keys.issue(kind=kind, now=now, team=team, organisation=organisation, label="first run")[1]
