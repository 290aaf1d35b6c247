"""Pins that clients supply for one project or one session, beside those of the published sets."""

from django.db import models
from django.db.models import Q

from policy_app.models.common import name_field


class SuppliedPin(models.Model):
    """A text that is stored on purpose, because it is to come back: the team's own words, never tool output.

    Either for a project (of the team) or for a session (`session_key`: host and the host's id of it); a client may say
    it anew or take it back.
    """

    team_id = models.BigIntegerField()
    project_id = models.BigIntegerField(null=True)
    session_key = models.CharField(max_length=240, blank=True)
    pin_id = models.CharField(max_length=64)
    text = models.TextField()
    why = models.TextField()
    tier = models.CharField(max_length=2)
    by_name = name_field()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team_id", "session_key", "project_id", "pin_id"],
                name="supplied_pin_once",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=(Q(project_id__isnull=True) & ~Q(session_key=""))
                | (Q(project_id__isnull=False) & Q(session_key="")),
                name="supplied_pin_of_one",
            ),
            models.CheckConstraint(condition=Q(tier__in=("T0", "T1")), name="supplied_pin_tier"),
            models.CheckConstraint(condition=~Q(text=""), name="supplied_pin_has_text"),
        ]

    def __str__(self) -> str:
        return self.pin_id
