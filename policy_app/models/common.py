"""What several tables share: slugs' organisation, actors, digests."""

from typing import Any

from django.conf import settings
from django.db import models

#: Length of a SHA-256 in hex.
DIGEST = 64


def person_field(**options: Any) -> "models.ForeignKey[Any, Any]":
    """The acting user; empty for a key or the installation itself.

    Without a constraint in the database: rows that nothing may change outlive the account, by id and copied name.
    """
    return models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        null=True,
        related_name="+",
        **options,
    )


def name_field() -> "models.CharField[str, str]":
    """The actor's name as it was then."""
    return models.CharField(max_length=150)


def digest_field(**options: Any) -> "models.CharField[str, str]":
    """SHA-256 in lower-case hex."""
    return models.CharField(max_length=DIGEST, **options)
