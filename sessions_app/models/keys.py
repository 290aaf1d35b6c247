"""Keys of machines and links of people; both are stored as hashes only."""

from django.db import models
from django.db.models import Q

from sessions_app.models.tenancy import Developer, Organisation, Team


class KeyKind(models.TextChoices):
    """Ingest keys only write; read keys only read; admin keys do both for the organisation."""

    INGEST = "ingest"
    READ = "read"
    ADMIN = "admin"


class ApiKey(models.Model):
    """A bearer key: SHA-256 of the secret, and a few first characters to tell keys apart."""

    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="keys")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, null=True, related_name="keys")
    developer = models.ForeignKey(Developer, on_delete=models.SET_NULL, null=True, related_name="keys")
    kind = models.CharField(max_length=8, choices=KeyKind.choices)
    label = models.CharField(max_length=120, blank=True)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind=KeyKind.ADMIN) | Q(team__isnull=False), name="key_of_team_unless_admin"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.prefix}…"


class EntryLink(models.Model):
    """A link that signs in one user once and ends by itself."""

    user = models.ForeignKey("auth.User", on_delete=models.CASCADE)
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"entry for {self.user_id}"
