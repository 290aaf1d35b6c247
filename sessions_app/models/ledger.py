"""What people say about the ledger: losses that they accept, and moments to compare before and after."""

from typing import Self

from django.db import models
from django.db.models import F, Q

from sessions_app.models.session import Session
from sessions_app.models.tenancy import Project, Role, Team, Viewer


class TeamRowQuerySet[M: models.Model](models.QuerySet[M]):
    def for_user(self, user: Viewer, role: Role = Role.VIEWER) -> Self:
        """Rows of teams that the user may see."""
        return self.filter(team__in=Team.objects.for_user(user, role))


class AcceptedLoss(models.Model):
    """A loss that a team lives with until a day, or until it has grown by half."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="accepted_losses")
    cause = models.CharField(max_length=32)
    #: Null: in all projects of the team.
    project = models.ForeignKey(Project, on_delete=models.CASCADE, null=True, related_name="+")
    #: What it cost in the 30 days before it was accepted.
    monthly_usd = models.DecimalField(max_digits=36, decimal_places=12)
    reason = models.CharField(max_length=400)
    owner = models.CharField(max_length=150)
    until = models.DateField()
    accepted_at = models.DateTimeField()
    accepted_by = models.CharField(max_length=150)
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_by = models.CharField(max_length=150, blank=True)

    objects = TeamRowQuerySet["AcceptedLoss"].as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "cause", "project"],
                name="accepted_loss_once",
                condition=Q(withdrawn_at__isnull=True),
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=Q(withdrawn_at__isnull=True, withdrawn_by="") | Q(withdrawn_at__gte=F("accepted_at")),
                name="accepted_loss_withdrawn_later",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.cause} until {self.until}"


class Marker(models.Model):
    """A moment at which something changed, set by hand or noticed; figures before and after it are compared."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="markers")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, null=True, related_name="+")
    at = models.DateTimeField()
    #: note, config, host_version, model, policy.
    kind = models.CharField(max_length=16)
    title = models.CharField(max_length=200)
    #: One marker for one change, however often it is told.
    key = models.CharField(max_length=200)
    made_at = models.DateTimeField()
    #: Empty: noticed by the server itself.
    made_by = models.CharField(max_length=150, blank=True)

    objects = TeamRowQuerySet["Marker"].as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "key"], name="marker_once")]
        indexes = [models.Index(fields=["team", "-at"], name="marker_time")]

    def __str__(self) -> str:
        return self.title


class InstructionFile(models.Model):
    """An instruction file as a session loaded it: digest and size, never text or path.

    `committed`: whether git has it as it is, null where it is in no commit; `head` the commit that was checked out.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="instruction_files")
    kind = models.CharField(max_length=8)
    name = models.CharField(max_length=40)
    digest = models.CharField(max_length=16)
    bytes = models.PositiveIntegerField()
    committed = models.BooleanField(null=True)
    head = models.CharField(max_length=12, blank=True)
    machine = models.CharField(max_length=12, blank=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "kind", "name", "digest"], name="instruction_file_once")
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.digest}"
