"""What a team wants to hear of: rules, targets, what happened, and how each message fared."""

from django.db import models
from django.db.models import F, Q

from sessions_app.kernel.alerts import AlertKind
from sessions_app.models.ledger import TeamRowQuerySet
from sessions_app.models.tenancy import Team


class AlertRule(models.Model):
    """One rule per kind and team. Thresholds by kind: see kernel/alerts.py."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="alert_rules")
    kind = models.CharField(max_length=12)
    is_on = models.BooleanField(default=False)
    threshold = models.DecimalField(max_digits=12, decimal_places=2)
    #: USD a month at list price; of the budget alone.
    ceiling_usd = models.DecimalField(max_digits=12, decimal_places=2, null=True)
    muted_until = models.DateTimeField(null=True)
    changed_at = models.DateTimeField()
    changed_by = models.CharField(max_length=150, blank=True)
    #: When it was last judged, and what was said.
    judged_at = models.DateTimeField(null=True)
    judged = models.CharField(max_length=400, blank=True)

    objects = TeamRowQuerySet["AlertRule"].as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "kind"], name="alert_rule_once"),
            models.CheckConstraint(condition=Q(kind__in=[k.value for k in AlertKind]), name="alert_rule_kind_known"),
            models.CheckConstraint(condition=Q(threshold__gt=0), name="alert_rule_threshold_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.team_id} {self.kind}"


class TargetKind(models.TextChoices):
    """How a message goes out."""

    MAIL = "mail"
    WEBHOOK = "webhook"
    SLACK = "slack"


class AlertTarget(models.Model):
    """Where messages of a team go. The address of a webhook is a secret: pages show `shown`."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="alert_targets")
    kind = models.CharField(max_length=8, choices=TargetKind.choices)
    address = models.CharField(max_length=500)
    shown = models.CharField(max_length=300)
    made_at = models.DateTimeField()
    made_by = models.CharField(max_length=150)

    objects = TeamRowQuerySet["AlertTarget"].as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "kind", "address"], name="alert_target_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.shown}"


class AlertEvent(models.Model):
    """One time that a rule fired, from open to closed."""

    rule = models.ForeignKey(AlertRule, on_delete=models.CASCADE, related_name="events")
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    #: The sentences with the figures of both moments.
    opened_by = models.CharField(max_length=400)
    closed_by = models.CharField(max_length=400, blank=True)
    threshold = models.DecimalField(max_digits=12, decimal_places=2)
    measured = models.DecimalField(max_digits=16, decimal_places=2, null=True)
    was_muted = models.BooleanField(default=False)
    #: When people were told; null: not yet, or closed before a mute ended.
    told_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["rule"], name="alert_open_once", condition=Q(closed_at__isnull=True)),
            models.CheckConstraint(
                condition=Q(closed_at__isnull=True) | Q(closed_at__gte=F("opened_at")), name="alert_closed_later"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rule_id} {self.opened_at}"


class Occasion(models.TextChoices):
    """Why a message goes out."""

    OPENED = "opened"
    CLOSED = "closed"
    TEST = "test"
    WEEKLY = "weekly"


class Notice(models.Model):
    """One message to one target: due until it is delivered or given up."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    target = models.ForeignKey(AlertTarget, on_delete=models.SET_NULL, null=True, related_name="notices")
    #: Kept for the history when the target is removed.
    shown = models.CharField(max_length=300)
    event = models.ForeignKey(AlertEvent, on_delete=models.CASCADE, null=True, related_name="notices")
    occasion = models.CharField(max_length=8, choices=Occasion.choices)
    subject = models.CharField(max_length=200)
    text = models.TextField()
    made_at = models.DateTimeField()
    #: When to try next; null: delivered, or given up.
    due_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    delivered_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=200, blank=True)

    objects = TeamRowQuerySet["Notice"].as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["event", "target", "occasion"],
                name="notice_once",
                condition=Q(event__isnull=False, target__isnull=False),
            )
        ]
        indexes = [
            models.Index(fields=["due_at"], name="notice_due", condition=Q(due_at__isnull=False)),
            models.Index(fields=["team", "-made_at"], name="notice_team_time"),
        ]

    def __str__(self) -> str:
        return self.subject


class Letter(models.Model):
    """The weekly mail of a team: whether it is wanted, and the Monday of the last one."""

    team = models.OneToOneField(Team, on_delete=models.CASCADE, related_name="letter")
    is_on = models.BooleanField(default=False)
    sent_for = models.DateField(null=True)

    def __str__(self) -> str:
        return f"{self.team_id}"
