"""What Django's own checks do not know: our key, our database, our broker."""

from collections.abc import Sequence

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.db import connections

OLDEST_POSTGRESQL = 15


def secret_key_is_given(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[checks.CheckMessage]:
    """Workers with keys of their own would not accept each other's sessions."""
    if settings.GIVEN_SECRET_KEY:
        return []
    return [checks.Error("No secret key is set.", hint="Set ECM_SECRET_KEY or ECM_SECRET_KEY_FILE.", id="ecm.E001")]


def broker_is_shared(app_configs: Sequence[AppConfig] | None, **kwargs: object) -> list[checks.CheckMessage]:
    """Folders carry tasks on one machine only."""
    if not settings.CELERY_BROKER_URL.startswith("filesystem"):
        return []
    hint = "Set REDIS_URL when web and worker run on different machines."
    return [checks.Warning("Tasks go through folders of this machine.", hint=hint, id="ecm.W002")]


def postgresql_is_new_enough(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **kwargs: object
) -> list[checks.CheckMessage]:
    """The SQL of ingest needs PostgreSQL 15."""
    for alias in databases or ():
        connection = connections[alias]
        connection.ensure_connection()
        version = connection.connection.info.server_version // 10_000
        if version < OLDEST_POSTGRESQL:
            text = f"PostgreSQL {version} is too old; {OLDEST_POSTGRESQL} or later is needed."
            return [checks.Error(text, id="ecm.E003")]
    return []


def register() -> None:
    """Called once, when the app is ready."""
    checks.register(secret_key_is_given, "ecm", deploy=True)
    checks.register(broker_is_shared, "ecm", deploy=True)
    checks.register(postgresql_is_new_enough, checks.Tags.database)
