"""A policy and its published versions."""

from typing import Self

from django.db import models
from django.db.models import Q

from policy_app.models.common import digest_field, name_field, person_field


class PolicyKind(models.TextChoices):
    """What the versions of a policy hold."""

    TABLE = "table"
    PINS = "pins"


class PolicyQuerySet(models.QuerySet["Policy"]):
    def of(self, organisation_id: int, kind: PolicyKind = PolicyKind.TABLE) -> Self:
        """Policies of one organisation and one kind."""
        return self.filter(organisation_id=organisation_id, kind=kind)


class Policy(models.Model):
    """A named line of versions: of a decision table, or of a pin set. The newest version is the live one."""

    kind = models.CharField(max_length=5, choices=PolicyKind.choices, default=PolicyKind.TABLE)
    organisation_id = models.BigIntegerField()
    slug = models.SlugField()
    name = models.CharField(max_length=120)
    #: Whether a draft needs somebody who did not edit it. Off for installations with one administrator.
    four_eyes = models.BooleanField(default=True)
    created_at = models.DateTimeField()

    objects = PolicyQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation_id", "kind", "slug"], name="policy_slug_once"),
            models.CheckConstraint(condition=Q(kind__in=PolicyKind.values), name="policy_kind_known"),
        ]

    def __str__(self) -> str:
        return self.slug

    @property
    def subject(self) -> str:
        """What the audit log calls it."""
        return f"{'policy' if self.kind == PolicyKind.TABLE else 'pins'}/{self.slug}"


class VersionQuerySet(models.QuerySet["Version"]):
    def live(self, policy_id: int) -> "Version | None":
        """The newest version of a policy; None before the first."""
        return self.filter(policy_id=policy_id).order_by("-number").first()


class Version(models.Model):
    """A published table or pin set. The database refuses to change or delete it.

    `content` is its canonical JSON and `digest` its SHA-256; `chain` is the SHA-256 of the chain before,
    the number and the digest. A version comes from a draft, or brings back the content of `reverts`; only the
    first may come from neither.
    """

    policy = models.ForeignKey(Policy, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    content = models.TextField()
    digest = digest_field()
    previous_chain = digest_field(blank=True)
    chain = digest_field()
    draft = models.OneToOneField("policy_app.Draft", on_delete=models.PROTECT, null=True, related_name="version")
    reverts = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="brought_back")
    #: Whether somebody who did not edit the draft approved exactly this content.
    four_eyes = models.BooleanField()
    published_by = person_field()
    published_by_name = name_field()
    published_at = models.DateTimeField()
    reason = models.TextField()

    objects = VersionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["policy", "number"], name="version_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="version_number_from_one"),
            models.CheckConstraint(
                condition=(Q(draft__isnull=False) & Q(reverts__isnull=True))
                | (Q(draft__isnull=True) & Q(reverts__isnull=False))
                | (Q(draft__isnull=True) & Q(reverts__isnull=True) & Q(number=1)),
                name="version_has_one_origin",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="version_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.policy_id} v{self.number}"


class Provisional(models.Model):
    """Terms of a version that is meant to be looked at again: on whose authority, how to undo it, until when."""

    version = models.OneToOneField(Version, on_delete=models.PROTECT, related_name="provisional")
    authority = models.CharField(max_length=200)
    undo = models.TextField()
    expires_at = models.DateTimeField()
    settled_at = models.DateTimeField(null=True)
    settled_by_name = models.CharField(max_length=150, blank=True)
    outcome = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=(Q(settled_at__isnull=True) & Q(outcome="")) | (Q(settled_at__isnull=False) & ~Q(outcome="")),
                name="provisional_settled_with_outcome",
            )
        ]

    def __str__(self) -> str:
        return f"{self.version_id} until {self.expires_at:%Y-%m-%d}"
