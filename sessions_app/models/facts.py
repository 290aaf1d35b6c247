"""Facts as they arrived: merged readings, and the redacted originals."""

from django.db import models
from django.db.models import Q

from sessions_app.models.session import Session
from sessions_app.models.tenancy import Team


class ReadingRow(models.Model):
    """One reading: the join of all records of its name; `body` is the kernel's encoding."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="readings")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=12)
    source = models.CharField(max_length=12)
    key = models.CharField(max_length=240)
    body = models.TextField()
    message_id = models.CharField(max_length=200, null=True)
    request_id = models.CharField(max_length=200, null=True)
    received_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "kind", "source", "key"], name="reading_once")]
        # The fold asks which other sessions of the team hold the same call.
        indexes = [
            models.Index(fields=["team", "message_id"], name="reading_message", condition=Q(message_id__isnull=False)),
            models.Index(fields=["team", "request_id"], name="reading_request", condition=Q(request_id__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.source} {self.key}"


class VaultRecord(models.Model):
    """The husks of one delivery (zlib over NDJSON), kept so that a better feed can read them again."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    feed = models.CharField(max_length=40)
    digest = models.CharField(max_length=64)
    husks = models.BinaryField()
    records = models.PositiveIntegerField()
    received_at = models.DateTimeField()
    event = models.CharField(max_length=60, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "feed", "digest"], name="vault_once")]

    def __str__(self) -> str:
        return f"{self.feed} {self.digest[:8]}"


class ImportedFile(models.Model):
    """How far a transcript file was read. The path is kept as a hash: an import keeps no paths."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    path_digest = models.CharField(max_length=64)
    #: SHA-256 of the file's first bytes: another file under the same path starts anew.
    head_digest = models.CharField(max_length=64)
    offset = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "path_digest"], name="imported_file_once")]

    def __str__(self) -> str:
        return f"{self.path_digest[:8]} to {self.offset}"
