"""A session of one host, with the summary that its fold wrote."""

from decimal import Decimal
from typing import Self

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce

from sessions_app.models.tenancy import Developer, Project, Role, Team, Viewer, among


class Host(models.TextChoices):
    """The slugs by which hosts are known everywhere."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    OPENCODE = "opencode"
    COPILOT = "copilot"
    GEMINI = "gemini"
    CURSOR = "cursor"
    LITELLM = "litellm"
    OTLP = "otlp"
    CANONICAL = "canonical"


class SessionQuerySet(models.QuerySet["Session"]):
    def for_user(self, user: Viewer, role: Role = Role.VIEWER) -> Self:
        """Sessions of the teams that the user may see."""
        return self.filter(among("team_id", Team.objects.for_user(user, role)))

    def dirty(self) -> Self:
        """Sessions with readings that no fold has seen yet."""
        return self.filter(revision__gt=F("folded_revision"))

    def seen(self) -> Self:
        """Sessions that tell something: at least one call, meter or mark was folded."""
        return self.filter(last_at__isnull=False)

    def latest_first(self) -> Self:
        """By last sign of life."""
        return self.order_by(Coalesce("last_at", "created_at").desc(), "-pk")


class Session(models.Model):
    """Identity and dirty mark are written by ingest; everything below `folded_revision` by the fold.

    Token fields are sums over owned calls of all threads, auxiliary calls included.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="sessions", db_index=False)
    host = models.CharField(max_length=16, choices=Host.choices)
    host_session_id = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    received_at = models.DateTimeField()
    revision = models.BigIntegerField(default=0)
    folded_revision = models.BigIntegerField(default=0)
    #: Since when a fold is due; null once one has seen everything.
    dirty_at = models.DateTimeField(null=True)

    folded_at = models.DateTimeField(null=True)
    #: Why the last fold failed, and how often in a row; such a session is parked and shown.
    fold_error = models.CharField(max_length=300, blank=True)
    fold_failures = models.PositiveSmallIntegerField(default=0)
    #: What other sessions' folds depend on: own first line and the ids seen.
    identity_digest = models.CharField(max_length=64, blank=True)
    first_line_ms = models.BigIntegerField(null=True)
    #: Since when nobody in it wants to hear verdicts.
    muted_at = models.DateTimeField(null=True)

    project = models.ForeignKey(Project, on_delete=models.SET_NULL, null=True, related_name="sessions")
    developer = models.ForeignKey(Developer, on_delete=models.SET_NULL, null=True, related_name="sessions")
    #: Whether it goes on with the work of its parent in a fresh context, as somebody said.
    is_handoff = models.BooleanField(default=False, db_default=False)
    parent = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="children")
    branch = models.CharField(max_length=200, blank=True)
    version = models.CharField(max_length=60, blank=True)
    model = models.CharField(max_length=120, blank=True)
    first_at = models.DateTimeField(null=True)
    last_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    calls = models.PositiveIntegerField(default=0)
    aux_calls = models.PositiveIntegerField(default=0)
    subagent_calls = models.PositiveIntegerField(default=0)
    inherited_calls = models.PositiveIntegerField(default=0)
    uncached_input = models.BigIntegerField(default=0)
    cache_read = models.BigIntegerField(default=0)
    cache_write_5m = models.BigIntegerField(default=0)
    cache_write_1h = models.BigIntegerField(default=0)
    cache_write_unknown_ttl = models.BigIntegerField(default=0)
    output = models.BigIntegerField(default=0)
    #: Exact dollars at list price of the priced calls; null when none is priced.
    cost_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    no_cache_cost_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    host_cost_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    unpriced_calls = models.PositiveIntegerField(default=0)

    compactions = models.PositiveIntegerField(default=0)
    depth = models.PositiveSmallIntegerField(default=0)
    threads = models.PositiveIntegerField(default=0)
    window = models.BigIntegerField(null=True)
    window_origin = models.CharField(max_length=8, blank=True)
    last_occupancy = models.BigIntegerField(null=True)
    peak_occupancy = models.BigIntegerField(null=True)
    #: The prompt of the first call: what fills the context before anyone speaks; null where history was copied.
    first_prompt_tokens = models.BigIntegerField(null=True)
    zone = models.CharField(max_length=8, default="UNKNOWN")
    peak_zone = models.CharField(max_length=8, default="UNKNOWN")
    #: [{"code", "at"?, "message"}] of the fold; [{"reason"}] of why sums are lower bounds.
    warnings = models.JSONField(default=list)
    lower_bound = models.JSONField(default=list)
    #: {source: readings} of what arrived by which way.
    sources = models.JSONField(default=dict)
    #: The last known state of the main thread, each value with origin and time.
    current = models.JSONField(default=dict)

    objects = SessionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "host", "host_session_id"], name="session_once"),
            models.CheckConstraint(
                condition=Q(uncached_input__gte=0, cache_read__gte=0, cache_write_5m__gte=0, cache_write_1h__gte=0)
                & Q(output__gte=0, cache_write_unknown_ttl__lte=F("cache_write_5m")),
                name="session_tokens_not_negative",
            ),
        ]
        indexes = [
            models.Index(fields=["team", "-last_at"], name="session_team_last"),
            # What sums join with: without it each of them reads the long rows of all sessions.
            models.Index(
                fields=["team"],
                include=(
                    *("id", "project", "host", "window", "depth", "first_at", "last_at", "ended_at"),
                    *("cost_usd", "calls", "aux_calls"),
                ),
                name="session_of_team",
            ),
            # Of nothing that each hook changes: a row whose indexed columns stay is written without touching an index.
            models.Index(fields=["dirty_at"], name="session_dirty", condition=Q(dirty_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.host} {self.host_session_id}"

    @property
    def cost_complete(self) -> bool:
        """True when every call has a price."""
        return self.unpriced_calls == 0

    @property
    def saved_usd(self) -> Decimal | None:
        """What caching saved against sending every prompt uncached."""
        if self.cost_usd is None or self.no_cache_cost_usd is None:
            return None
        return self.no_cache_cost_usd - self.cost_usd

    @property
    def total_tokens(self) -> int:
        """All tokens of all calls."""
        return self.uncached_input + self.cache_read + self.cache_write_5m + self.cache_write_1h + self.output
