"""Who reports: one row per team, host, version, machine and feed; and how a team pays for a host."""

from typing import Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from sessions_app.models.session import Host
from sessions_app.models.tenancy import Role, Team, Viewer


class SourceQuerySet(models.QuerySet["SourceRow"]):
    def for_user(self, user: Viewer, role: Role = Role.VIEWER) -> Self:
        """Sources of the teams that the user may see."""
        return self.filter(team__in=Team.objects.for_user(user, role))


class SourceRow(models.Model):
    """Written by ingest, one upsert a delivery. Empty version or machine: the sender did not say.

    `records` counts what could be read (repeats included), `refused` what could not.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="sources")
    host = models.CharField(max_length=16, choices=Host.choices)
    version = models.CharField(max_length=60, blank=True)
    #: A short hash that the client made of its machine's name; never the name.
    machine = models.CharField(max_length=12, blank=True)
    feed = models.CharField(max_length=40)
    first_received_at = models.DateTimeField()
    last_received_at = models.DateTimeField()
    #: The newest time that a record itself said.
    last_occurred_at = models.DateTimeField(null=True)
    #: Of the last deliveries of feeds that deliver at once, newest first: the records' clock less ours, ms.
    leads_ms = ArrayField(models.BigIntegerField(), default=list)
    deliveries = models.BigIntegerField(default=0)
    records = models.BigIntegerField(default=0)
    refused = models.BigIntegerField(default=0)
    #: What the client says it had to drop while there was no room; null where no client speaks.
    lost_hook_events = models.BigIntegerField(null=True)
    #: {topic: epoch ms of the last delivery that told it}.
    topics = models.JSONField(default=dict)
    #: Shares of a subscription's limits that were used, as last told.
    five_hour_permille = models.PositiveIntegerField(null=True)
    seven_day_permille = models.PositiveIntegerField(null=True)
    quota_at = models.DateTimeField(null=True)

    objects = SourceQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "host", "version", "machine", "feed"], name="source_once"),
            models.CheckConstraint(
                condition=Q(first_received_at__lte=models.F("last_received_at")), name="source_first_before_last"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.host} {self.version} {self.machine or 'machine unknown'} {self.feed}"


class BillingMode(models.TextChoices):
    """How a team pays; `unknown` is the absence of a row."""

    METERED = "metered"
    SUBSCRIPTION = "subscription"


class Billing(models.Model):
    """How a team pays for what runs in one host, as an administrator stated it."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="billing")
    host = models.CharField(max_length=16, choices=Host.choices)
    mode = models.CharField(max_length=12, choices=BillingMode.choices)
    stated_at = models.DateTimeField()
    stated_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "host"], name="billing_once"),
            models.CheckConstraint(condition=Q(mode__in=BillingMode.values), name="billing_mode_known"),
        ]

    def __str__(self) -> str:
        return f"{self.team_id} {self.host}: {self.mode}"
