"""Which policy is in force where."""

from django.db import models
from django.db.models import Q

from policy_app.models.common import name_field, person_field
from policy_app.models.policy import Policy, PolicyKind, Version


class ScopeKind(models.TextChoices):
    """From widest to narrowest; the narrowest with an assignment decides."""

    ORGANISATION = "organisation"
    TEAM = "team"
    PROJECT = "project"


class Assignment(models.Model):
    """From `from_at` on, the scope works by `policy` of `kind`: by its newest version, or by `version` alone.

    Without a policy the scope works again by what the next wider one says. Rows are only added; of those that have
    begun, the one that begins last counts, and of equals the one written last.
    """

    kind = models.CharField(max_length=5, choices=PolicyKind.choices, default=PolicyKind.TABLE)
    organisation_id = models.BigIntegerField()
    scope_kind = models.CharField(max_length=12, choices=ScopeKind.choices)
    scope_id = models.BigIntegerField()
    policy = models.ForeignKey(Policy, on_delete=models.PROTECT, null=True, related_name="assignments")
    version = models.ForeignKey(Version, on_delete=models.PROTECT, null=True, related_name="assignments")
    from_at = models.DateTimeField()
    at = models.DateTimeField()
    by = person_field()
    by_name = name_field()
    reason = models.TextField()

    class Meta:
        indexes = [models.Index(fields=["organisation_id", "scope_kind", "scope_id"], name="assignment_scope")]
        constraints = [
            models.CheckConstraint(condition=Q(scope_kind__in=ScopeKind.values), name="assignment_scope_known"),
            models.CheckConstraint(
                condition=Q(version__isnull=True) | Q(policy__isnull=False), name="assignment_version_of_policy"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="assignment_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.scope_kind} {self.scope_id}"
