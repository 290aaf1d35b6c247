"""What was done, by whom and why; and what the arguments rest on."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from policy_app.models.common import digest_field, name_field, person_field


class AuditEntry(models.Model):
    """One act. Numbered without gaps in each organisation and chained; the database refuses to change or delete it.

    `chain` is the SHA-256 of the chain before and of the entry's canonical JSON.
    """

    organisation_id = models.BigIntegerField()
    number = models.PositiveBigIntegerField()
    at = models.DateTimeField()
    actor = person_field()
    actor_name = name_field()
    #: Such as `draft.edited`: what it was done to, and what was done.
    action = models.CharField(max_length=40)
    #: Such as `policy/default/draft/12`.
    subject = models.CharField(max_length=200)
    reason = models.TextField()
    evidence = ArrayField(models.CharField(max_length=80), default=list)
    before_digest = digest_field(blank=True)
    after_digest = digest_field(blank=True)
    previous_chain = digest_field(blank=True)
    chain = digest_field()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation_id", "number"], name="audit_number_once"),
            models.CheckConstraint(condition=~Q(reason=""), name="audit_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.action}"


class EvidenceStatus(models.TextChoices):
    """How far a claim is trusted."""

    CONFIRMED = "confirmed"
    DISPUTED = "disputed"
    REFUTED = "refuted"
    UNESTABLISHED = "unestablished"


class Evidence(models.Model):
    """A claim that rules cite: what it says, the number in it, where it holds, and how far it is trusted."""

    organisation_id = models.BigIntegerField()
    slug = models.SlugField(max_length=80)
    claim = models.TextField()
    number = models.CharField(max_length=200, blank=True)
    scope = models.TextField(blank=True)
    tier = models.CharField(max_length=40, blank=True)
    #: As exact as its source is: a day, a month or a year.
    dated = models.CharField(max_length=40, blank=True)
    source = models.TextField()
    status = models.CharField(max_length=13, choices=EvidenceStatus.choices)
    revision = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation_id", "slug"], name="evidence_slug_once"),
            models.CheckConstraint(condition=Q(status__in=EvidenceStatus.values), name="evidence_status_known"),
        ]

    def __str__(self) -> str:
        return self.slug
