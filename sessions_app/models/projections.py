"""What the fold says: calls, compactions, threads, roll-up. Each row can be dropped and rebuilt."""

from typing import Self

from django.db import models
from django.db.models import F, Q

from sessions_app.kernel.mechanisms import LOOKBACK_BLOCKS
from sessions_app.models.session import Session
from sessions_app.models.tenancy import Role, Team, Viewer, among


class ProjectionQuerySet[M: models.Model](models.QuerySet[M]):
    def for_user(self, user: Viewer, role: Role = Role.VIEWER) -> Self:
        """Rows of sessions that the user may see."""
        return self.filter(among("session__team_id", Team.objects.for_user(user, role)))


class Call(models.Model):
    """One billed model call, owned by this session; tokens are disjoint leaves."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="call_rows")
    key = models.CharField(max_length=240)
    digest = models.CharField(max_length=16)
    number = models.PositiveIntegerField()
    thread = models.CharField(max_length=120, blank=True)
    purpose = models.CharField(max_length=12)
    model = models.CharField(max_length=120, blank=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    uncached_input = models.BigIntegerField()
    cache_read = models.BigIntegerField()
    cache_write_5m = models.BigIntegerField()
    cache_write_1h = models.BigIntegerField()
    cache_write_unknown_ttl = models.BigIntegerField()
    output = models.BigIntegerField()
    reasoning = models.BigIntegerField(null=True)
    cost_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    no_cache_cost_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    host_cost_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    price_row = models.ForeignKey("PriceRow", on_delete=models.PROTECT, null=True, related_name="+")
    #: Prompt side after this call; null for auxiliary calls, which are no point of occupancy.
    occupancy = models.BigIntegerField(null=True)
    window = models.BigIntegerField(null=True)
    window_origin = models.CharField(max_length=8, blank=True)
    zone = models.CharField(max_length=8, blank=True)
    #: What was known when the call was made, before a later compaction bounded the window.
    known_window = models.BigIntegerField(null=True)
    known_zone = models.CharField(max_length=8, blank=True)
    depth = models.PositiveSmallIntegerField(default=0)
    tool_share_permille = models.PositiveIntegerField(null=True)
    externalize_age_calls = models.PositiveIntegerField(null=True)
    #: What records tell beside usage (kernel/evidence.py): what a cause may rest on.
    evidence = models.JSONField(default=dict)
    #: False from the fold until the ledger has worked the call out; both happen in one transaction.
    is_explained = models.BooleanField(default=False)
    #: A prefix that was sent a moment before: it should be read (kernel/cache_check.py).
    is_repeat = models.BooleanField(default=False)
    #: What the call would have cost without its miss. Cost = needed + what the miss cost.
    needed_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    #: Tokens that a warm cache would have held, why it did not, and what that cost more.
    missed_tokens = models.BigIntegerField(default=0)
    miss_cause = models.CharField(max_length=32, blank=True)
    miss_cost_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    #: The part of the bill: expected, avoidable, unexplained.
    miss_part = models.CharField(max_length=12, blank=True)
    miss_confidence = models.CharField(max_length=8, blank=True)
    #: Who says so: provider, record, arithmetic.
    miss_says = models.CharField(max_length=12, blank=True)
    #: {"expected": tokens, "also": [check], "ruled_out": [check], "open": [check]}; check: [cause, measured, limit].
    miss_detail = models.JSONField(null=True)
    #: The figure before the last change of prices, and the row that it came from.
    former_cost_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    former_price_row = models.ForeignKey("PriceRow", on_delete=models.PROTECT, null=True, related_name="+")
    #: {"usage": [sources], "split": source, ...}: which record said what.
    origins = models.JSONField(default=dict)
    flags = models.JSONField(default=list)

    objects = ProjectionQuerySet["Call"].as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "key"], name="call_once"),
            models.CheckConstraint(
                condition=Q(uncached_input__gte=0, cache_read__gte=0, cache_write_5m__gte=0, cache_write_1h__gte=0)
                & Q(output__gte=0, cache_write_unknown_ttl__gte=0)
                & Q(cache_write_unknown_ttl__lte=F("cache_write_5m")),
                name="call_tokens_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(needed_usd__isnull=True)
                | Q(miss_cost_usd__isnull=True, cost_usd=F("needed_usd"))
                | Q(cost_usd=F("needed_usd") + F("miss_cost_usd")),
                name="call_parts_sum_to_cost",
            ),
        ]
        indexes = [
            models.Index(fields=["session", "number"], name="call_session_number"),
            # The newest calls, and the dearest losses, of a period over all sessions.
            models.Index(fields=["-started_at"], name="call_newest"),
            models.Index(
                fields=["-miss_cost_usd", "id"],
                name="call_dearest_miss",
                condition=Q(miss_cost_usd__gt=0) & ~Q(miss_part="expected"),
            ),
            models.Index(fields=["session"], name="call_tools_changed", condition=Q(evidence__has_key="tools")),
            # Calls that came with more new blocks than a cache looks back over.
            models.Index(
                fields=["session"], name="call_over_lookback", condition=Q(evidence__blocks__gt=LOOKBACK_BLOCKS)
            ),
            # The ledger looks at some neighbours in a thread, and sums a quarter of an hour.
            models.Index(fields=["session", "thread", "number"], name="call_thread_number"),
            models.Index(fields=["session", "started_at"], name="call_session_time"),
            models.Index(fields=["session"], name="call_waiting", condition=Q(is_explained=False)),
            # The overview sums misses of a period over all sessions; most calls miss nothing.
            models.Index(
                fields=["started_at"],
                name="call_missed",
                condition=~Q(miss_cause="") | Q(purpose="compaction"),
            ),
        ]

    def __str__(self) -> str:
        return f"call {self.number}"

    @property
    def prompt_tokens(self) -> int:
        """The whole prompt side."""
        return self.uncached_input + self.cache_read + self.cache_write_5m + self.cache_write_1h

    @property
    def written_tokens(self) -> int:
        """Cache writes of all TTLs."""
        return self.cache_write_5m + self.cache_write_1h


class Compaction(models.Model):
    """One compaction, clearing or attempt, seen through however many signals."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="compaction_rows")
    key = models.CharField(max_length=240)
    digest = models.CharField(max_length=16)
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=10)
    state = models.CharField(max_length=12)
    trigger = models.CharField(max_length=8)
    thread = models.CharField(max_length=120, blank=True)
    at = models.DateTimeField(null=True)
    duration_ms = models.BigIntegerField(null=True)
    depth = models.PositiveSmallIntegerField(default=0)
    before_tokens = models.BigIntegerField(null=True)
    before_origin = models.CharField(max_length=12, blank=True)
    before_by_last_call = models.BigIntegerField(null=True)
    before_by_telemetry = models.BigIntegerField(null=True)
    after_tokens = models.BigIntegerField(null=True)
    after_by_host = models.BigIntegerField(null=True)
    saved_tokens = models.BigIntegerField(null=True)
    #: The first call after it, and the summary's own call; keys of Call rows of this session.
    next_call = models.CharField(max_length=240, blank=True)
    summary_call = models.CharField(max_length=240, blank=True)
    signals = models.JSONField(default=list)
    #: Its worth at list price (see kernel/worth.py); null where not all of it is known.
    summary_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    summary_most_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    rewrite_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    per_call_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    saved_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    later_calls = models.PositiveIntegerField(null=True)
    cold_calls = models.PositiveIntegerField(null=True)
    is_warm = models.BooleanField(null=True)
    #: Tool uses made again after it with the same input; null where no hook told inputs apart.
    rereads = models.PositiveIntegerField(null=True)
    reread_bytes = models.BigIntegerField(null=True)

    objects = ProjectionQuerySet["Compaction"].as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "key"], name="compaction_once")]
        indexes = [models.Index(fields=["at", "session"], name="compaction_time")]

    def __str__(self) -> str:
        return f"{self.kind} {self.number} {self.state}"


class Clearing(models.Model):
    """Old results that left the context while the conversation stayed."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="clearing_rows")
    key = models.CharField(max_length=240)
    digest = models.CharField(max_length=16)
    kind = models.CharField(max_length=8)
    thread = models.CharField(max_length=120, blank=True)
    at = models.DateTimeField(null=True)
    #: The key of the call that met it.
    call = models.CharField(max_length=240, blank=True)
    cleared_uses = models.PositiveIntegerField(null=True)
    cleared_tokens = models.BigIntegerField()
    read_tokens = models.BigIntegerField()
    written_tokens = models.BigIntegerField()
    cost_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    per_call_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    saved_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    later_calls = models.PositiveIntegerField()
    is_warm = models.BooleanField(null=True)

    objects = ProjectionQuerySet["Clearing"].as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "key"], name="clearing_once")]

    def __str__(self) -> str:
        return self.key


class ToolUse(models.Model):
    """All uses of one tool in a session; sizes in bytes of the record, results of unnamed uses under no name."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="tool_rows")
    key = models.CharField(max_length=120, blank=True)
    digest = models.CharField(max_length=16)
    uses = models.PositiveIntegerField()
    failed = models.PositiveIntegerField()
    input_bytes = models.BigIntegerField()
    result_bytes = models.BigIntegerField()
    largest_bytes = models.BigIntegerField()

    objects = ProjectionQuerySet["ToolUse"].as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "key"], name="tool_use_once")]

    def __str__(self) -> str:
        return self.key


class Thread(models.Model):
    """The calls of one agent inside a session; the main chain has the empty name."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="thread_rows")
    key = models.CharField(max_length=120, blank=True)
    digest = models.CharField(max_length=16)
    agent_type = models.CharField(max_length=120, blank=True)
    calls = models.PositiveIntegerField()
    peak_occupancy = models.BigIntegerField(null=True)
    tokens = models.BigIntegerField()
    cost_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    #: What a subagent told its parent: the output of its last call.
    returned_tokens = models.BigIntegerField(null=True)

    objects = ProjectionQuerySet["Thread"].as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "key"], name="thread_once")]

    def __str__(self) -> str:
        return self.key or "main"


class UsageSums(models.Model):
    """Sums of the calls of one session and one model that began in some stretch of time from `slot_at` on."""

    slot_at = models.DateTimeField()
    model = models.CharField(max_length=120, blank=True)
    calls = models.PositiveIntegerField()
    aux_calls = models.PositiveIntegerField()
    uncached_input = models.BigIntegerField()
    cache_read = models.BigIntegerField()
    cache_write_5m = models.BigIntegerField()
    cache_write_1h = models.BigIntegerField()
    cache_write_unknown_ttl = models.BigIntegerField()
    output = models.BigIntegerField()
    cost_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    no_cache_cost_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    unpriced_calls = models.PositiveIntegerField()
    #: The bill in its parts, written by the ledger; null where nothing is priced.
    needed_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    expected_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    avoidable_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    unexplained_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    #: Turns whose prefix stood in the cache a moment before, and how many of them read any of it.
    repeats = models.PositiveIntegerField(default=0)
    repeats_read = models.PositiveIntegerField(default=0)
    #: Calls whose new content blocks are known, those with more than 15 of them, and with more than 20.
    rounds = models.PositiveIntegerField(default=0)
    wide_rounds = models.PositiveIntegerField(default=0)
    over_rounds = models.PositiveIntegerField(default=0)
    #: Calls of the main chain by zone: how the context was filled then.
    green = models.PositiveIntegerField(default=0)
    amber = models.PositiveIntegerField(default=0)
    red = models.PositiveIntegerField(default=0)
    critical = models.PositiveIntegerField(default=0)
    unknown = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True


class UsageSlot(UsageSums):
    """Roll-up: one session, one model, a quarter of an hour (some time zones are off by 45 minutes)."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="slots")
    key = models.CharField(max_length=160)
    digest = models.CharField(max_length=16)
    #: False from the fold until the ledger has filled in its part; both happen in one transaction.
    is_explained = models.BooleanField(default=False)

    objects = ProjectionQuerySet["UsageSlot"].as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "key"], name="slot_once")]
        indexes = [models.Index(fields=["slot_at", "session"], name="slot_time")]

    def __str__(self) -> str:
        return self.key


class UsageDay(UsageSums):
    """The quarters of one UTC day summed: what pages read of a whole day and more."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="usage_days", db_index=False)

    objects = ProjectionQuerySet["UsageDay"].as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "slot_at", "model"], name="usage_day_once")]
        indexes = [models.Index(fields=["slot_at", "session"], name="usage_day_time")]

    def __str__(self) -> str:
        return f"{self.slot_at:%Y-%m-%d} {self.model}"


class MissSums(models.Model):
    """Sums of the misses of one session, model and cause in some stretch of time from `slot_at` on."""

    slot_at = models.DateTimeField()
    model = models.CharField(max_length=120, blank=True)
    cause = models.CharField(max_length=32)
    part = models.CharField(max_length=12)
    misses = models.PositiveIntegerField()
    tokens = models.BigIntegerField()
    #: Extra cost of those that have a price.
    cost_usd = models.DecimalField(max_digits=36, decimal_places=12, null=True)
    unpriced = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True


class MissSlot(MissSums):
    """Roll-up of misses: one session, a quarter of an hour, one model, one cause. Written by the ledger."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="miss_slots")

    objects = ProjectionQuerySet["MissSlot"].as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "slot_at", "model", "cause"], name="miss_slot_once"),
            models.CheckConstraint(
                condition=Q(part__in=("expected", "avoidable", "unexplained")), name="miss_part_known"
            ),
        ]
        indexes = [models.Index(fields=["slot_at", "session"], name="miss_slot_time")]

    def __str__(self) -> str:
        return f"{self.cause} {self.slot_at:%Y-%m-%d %H:%M}"


class MissDay(MissSums):
    """The misses of one UTC day summed."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="miss_days", db_index=False)

    objects = ProjectionQuerySet["MissDay"].as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "slot_at", "model", "cause", "part"], name="miss_day_once")
        ]
        indexes = [models.Index(fields=["slot_at", "session"], name="miss_day_time")]

    def __str__(self) -> str:
        return f"{self.slot_at:%Y-%m-%d} {self.cause}"
