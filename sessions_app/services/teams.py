"""Teams and personal identities inside an organisation, made when first named."""

import re
from datetime import datetime

from sessions_app.models import Developer, Organisation, Team

SLUG = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,48}[a-z0-9])?")


def is_slug(text: str) -> bool:
    """Lower-case letters, digits, dash and underscore, at most 50, no dash at the ends."""
    return SLUG.fullmatch(text) is not None


def ensure(*, organisation: Organisation, slug: str, now: datetime, name: str = "") -> Team:
    """The team with this slug; made when missing."""
    team, _ = Team.objects.get_or_create(
        organisation=organisation, slug=slug, defaults={"name": name or slug, "created_at": now}
    )
    return team


def ensure_developer(*, team: Team, identity: str) -> Developer:
    """The developer of personal keys with this identity; made when missing."""
    developer, _ = Developer.objects.get_or_create(team=team, identity=identity, defaults={"name": identity})
    return developer
