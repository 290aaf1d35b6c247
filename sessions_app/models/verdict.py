"""Verdicts as they were given, what stands in each thread, and what came back after each compaction."""

from typing import Self

from django.db import models
from django.db.models import Q

from sessions_app.models.session import Session
from sessions_app.models.tenancy import Role, Team, Viewer


class VerdictQuerySet(models.QuerySet["Verdict"]):
    def for_user(self, user: Viewer, role: Role = Role.VIEWER) -> Self:
        """Verdicts of sessions that the user may see."""
        return self.filter(session__team__in=Team.objects.for_user(user, role))

    def counted(self) -> Self:
        """Without those of a drill."""
        return self.filter(drill__isnull=True)

    def spoken(self) -> Self:
        """Those that somebody was told."""
        return self.exclude(said_to=[])


class Verdict(models.Model):
    """One verdict: what was known then, what the version in force said, who was told, and whether it was followed.

    It can be derived again from `signals`, `version` and `drill` alone; nothing but the transport and the
    adherence changes later.
    """

    public_id = models.CharField(max_length=12, unique=True)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="verdicts")
    thread = models.CharField(max_length=120, blank=True)
    #: The hook that asked, and when its answer was made.
    event = models.CharField(max_length=40)
    at = models.DateTimeField()
    latency_us = models.PositiveIntegerField()

    policy = models.SlugField()
    version = models.ForeignKey("policy_app.Version", on_delete=models.PROTECT, related_name="+")
    number = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    pins_digest = models.CharField(max_length=64, blank=True)
    #: The lines of a drill {"amber", "red", "critical"} in percent; null outside of one.
    drill = models.JSONField(null=True)

    #: {signal: value} as sent, and {signal: {"origin", "taken_at", "calls_behind"}}.
    signals = models.JSONField()
    origins = models.JSONField()
    #: [{"rule", "outcome", "failed"?, "value"?}] up to the rule that matched.
    trace = models.JSONField()
    rule = models.CharField(max_length=80, blank=True)
    operation = models.CharField(max_length=24)
    raw_operation = models.CharField(max_length=24)
    zone = models.CharField(max_length=8)

    addressees = models.JSONField(default=list)
    said_to = models.JSONField(default=list)
    #: Why nothing was said; empty where something was.
    silence = models.CharField(max_length=24, blank=True)
    to_model = models.TextField(blank=True)
    to_human = models.TextField(blank=True)
    injected_tokens = models.PositiveIntegerField(default=0)
    #: SHA-256 of the answer, and when the client confirmed that it printed it.
    answer_digest = models.CharField(max_length=64, blank=True)
    printed_at = models.DateTimeField(null=True)

    #: Empty where there is nothing to follow.
    adherence = models.CharField(max_length=12, blank=True)
    adherence_calls = models.PositiveIntegerField(null=True)

    objects = VerdictQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["session", "-id"], name="verdict_session"),
            models.Index(fields=["session"], name="verdict_pending", condition=Q(adherence="pending")),
        ]

    def __str__(self) -> str:
        return self.public_id


class Standing(models.Model):
    """What stands in a thread and what was said there; a drill has a row of its own.

    Locked while a verdict is given, so that two hooks at once do not say the same thing twice.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="standings")
    thread = models.CharField(max_length=120, blank=True)
    is_drill = models.BooleanField(default=False)
    operation = models.CharField(max_length=24, default="continue")
    #: Zone and operation of the last message.
    zone = models.CharField(max_length=8, blank=True)
    spoken = models.CharField(max_length=24, blank=True)
    #: When a compaction was advised last, and when it was said that nothing had been written out.
    advised_at = models.DateTimeField(null=True)
    warned_at = models.DateTimeField(null=True)
    messages = models.PositiveIntegerField(default=0)
    injected_tokens = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "thread", "is_drill"], name="standing_once")]

    def __str__(self) -> str:
        return f"{self.session_id} {self.thread or 'main'} {self.operation}"


class Restoration(models.Model):
    """What one compaction lost and got back: pins offered, delivered and found; counts only, never a text."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="restorations")
    #: Receipt of SessionStart(compact) and of PostCompact at the client; either may come first, or alone.
    started_ms = models.BigIntegerField(null=True)
    ended_ms = models.BigIntegerField(null=True)
    trigger = models.CharField(max_length=8, blank=True)
    pin_set = models.SlugField(blank=True)
    pin_set_number = models.PositiveIntegerField(null=True)
    pins_digest = models.CharField(max_length=64, blank=True)
    pins = models.JSONField(default=list)
    injected_tokens = models.PositiveIntegerField(default=0)
    offered_at = models.DateTimeField(null=True)
    answer_digest = models.CharField(max_length=64, blank=True)
    delivered_at = models.DateTimeField(null=True)
    repaired_at = models.DateTimeField(null=True)
    told_at = models.DateTimeField(null=True)
    #: {pin: "present" | "altered" | "absent" | "unknown"} and {class: {"before", "kept"}}, as the client counted.
    survival = models.JSONField(null=True)
    specifics = models.JSONField(null=True)
    #: Where specifics were written since the compaction before: crystalium, file, server or none.
    sink = models.CharField(max_length=12, default="none")
    #: Nothing was written although CRYSTALIUM is there.
    is_breach = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "started_ms"], name="restoration_start_once"),
            models.UniqueConstraint(fields=["session", "ended_ms"], name="restoration_end_once"),
        ]

    def __str__(self) -> str:
        return f"restoration {self.pk} of {self.session_id}"
