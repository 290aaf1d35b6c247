"""Dated prices of models; rows are added, never changed."""

from django.db import models
from django.db.models import F, Q


class PriceRow(models.Model):
    """List prices in USD per million tokens, valid from an instant until the next row of the model.

    `above_tokens`: when the whole prompt is strictly larger, the row's `above_*` prices hold for the
    whole request. A price of null means that the provider has no such charge class: the input price holds.
    """

    model = models.CharField(max_length=120)
    provider = models.CharField(max_length=60)
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True)
    input = models.DecimalField(max_digits=14, decimal_places=6)
    output = models.DecimalField(max_digits=14, decimal_places=6)
    cache_read = models.DecimalField(max_digits=14, decimal_places=6, null=True)
    cache_write_5m = models.DecimalField(max_digits=14, decimal_places=6, null=True)
    cache_write_1h = models.DecimalField(max_digits=14, decimal_places=6, null=True)
    above_tokens = models.PositiveIntegerField(null=True)
    above_input = models.DecimalField(max_digits=14, decimal_places=6, null=True)
    above_output = models.DecimalField(max_digits=14, decimal_places=6, null=True)
    above_cache_read = models.DecimalField(max_digits=14, decimal_places=6, null=True)
    above_cache_write_5m = models.DecimalField(max_digits=14, decimal_places=6, null=True)
    above_cache_write_1h = models.DecimalField(max_digits=14, decimal_places=6, null=True)
    fast_multiplier = models.DecimalField(max_digits=8, decimal_places=2, null=True)
    web_search_usd = models.DecimalField(max_digits=10, decimal_places=6, null=True)
    window = models.PositiveIntegerField(null=True)
    #: The smallest prompt that is cached at all; null: as the built-in table says.
    min_prefix = models.PositiveIntegerField(null=True)
    #: Hours of the week at which the row holds instead of the one without hours; empty: at all hours.
    hours = models.TextField(blank=True)
    #: A later row of the same day corrects an earlier one; neither is changed.
    revision = models.PositiveSmallIntegerField(default=0)
    added_at = models.DateTimeField(null=True)
    added_by = models.CharField(max_length=150, blank=True)
    source = models.CharField(max_length=120)
    checked_at = models.DateField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["model", "provider", "valid_from", "hours", "revision"], name="price_row_once"
            ),
            models.CheckConstraint(condition=Q(input__gte=0, output__gte=0), name="price_not_negative"),
            models.CheckConstraint(
                condition=Q(valid_to__isnull=True) | Q(valid_to__gt=F("valid_from")), name="price_interval_forward"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model} from {self.valid_from:%Y-%m-%d}"


class Repricing(models.Model):
    """One run over all calls that a new price row concerns; calls keep the figure that they had before."""

    price_row = models.ForeignKey(PriceRow, on_delete=models.PROTECT, related_name="repricings")
    requested_at = models.DateTimeField()
    requested_by = models.CharField(max_length=150, blank=True)
    #: Sessions up to this id are done.
    cursor = models.BigIntegerField(default=0)
    sessions = models.PositiveIntegerField(default=0)
    calls = models.PositiveIntegerField(default=0)
    #: Sums over the calls whose figure changed.
    before_usd = models.DecimalField(max_digits=36, decimal_places=12, default=0)
    after_usd = models.DecimalField(max_digits=36, decimal_places=12, default=0)
    finished_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"repricing by {self.price_row}"
