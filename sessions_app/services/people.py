"""Projects and developers, made when first seen."""

import hashlib
import hmac

from django.conf import settings

from sessions_app.models import Developer, Project


def project_of(team_id: int, name: str | None, *, strong: bool, known: Project | None = None) -> Project | None:
    """The project of a git remote (strong) or of a folder name (weak); `known` is what it was so far."""
    if not name:
        return None
    if known is not None and known.name == name[:200]:
        return known
    project, _ = Project.objects.get_or_create(team_id=team_id, name=name[:200], defaults={"is_strong": strong})
    return project


def developer_of(team_id: int, identity: str | None, *, known: Developer | None = None) -> Developer | None:
    """The developer of a personal key, or of telemetry by a hash that only this installation can make."""
    if not identity:
        return None
    name = identity.removeprefix("key:")
    if name == identity:
        name = hmac.new(settings.SECRET_KEY.encode(), identity.encode(), hashlib.sha256).hexdigest()
    if known is not None and known.identity == name[:64]:
        return known
    developer, _ = Developer.objects.get_or_create(team_id=team_id, identity=name[:64])
    return developer
