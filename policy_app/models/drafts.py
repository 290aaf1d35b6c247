"""Work on a policy before it is published: drafts, who edited which revision, reviews."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from policy_app.models.common import digest_field, name_field, person_field
from policy_app.models.policy import Policy, Version


class DraftState(models.TextChoices):
    """Where a draft stands; an edit always leads back to editing."""

    EDITING = "editing"
    IN_REVIEW = "in_review"
    APPROVED = "approved"
    REJECTED = "rejected"
    DISCARDED = "discarded"
    PUBLISHED = "published"


#: A draft in one of these may still be edited.
OPEN_STATES = (DraftState.EDITING, DraftState.IN_REVIEW, DraftState.APPROVED, DraftState.REJECTED)


class Draft(models.Model):
    """A proposed content on top of a version. `revision` counts its edits; the database counts with us."""

    policy = models.ForeignKey(Policy, on_delete=models.PROTECT, related_name="drafts")
    base = models.ForeignKey(Version, on_delete=models.PROTECT, null=True, related_name="drafts_on_top")
    title = models.CharField(max_length=200)
    content = models.TextField()
    revision = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=10, choices=DraftState.choices, default=DraftState.EDITING)
    #: Why this change: of the newest edit.
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField()
    updated_by = person_field()
    updated_by_name = name_field()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=DraftState.values), name="draft_state_known"),
            models.CheckConstraint(condition=Q(revision__gte=1), name="draft_revision_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.title} r{self.revision}"


class DraftEdit(models.Model):
    """Who made which revision. Never changed or deleted: it decides who may approve."""

    draft = models.ForeignKey(Draft, on_delete=models.PROTECT, related_name="edits")
    revision = models.PositiveIntegerField()
    by = person_field()
    by_name = name_field()
    digest = digest_field()
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["draft", "revision"], name="draft_edit_once")]

    def __str__(self) -> str:
        return f"{self.draft_id} r{self.revision}"


class Verdict(models.TextChoices):
    """What a reviewer says."""

    APPROVED = "approved"
    REJECTED = "rejected"
    #: No verdict: said by anybody who may read, whoever edited; decides nothing.
    COMMENT = "comment"


class Review(models.Model):
    """One person's word on one revision, or a remark; a later revision voids a verdict. Never changed or deleted."""

    draft = models.ForeignKey(Draft, on_delete=models.PROTECT, related_name="reviews")
    revision = models.PositiveIntegerField()
    verdict = models.CharField(max_length=8, choices=Verdict.choices)
    # Not empty: keys do not review, because nobody can say whose hand holds one.
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+")
    by_name = name_field()
    reason = models.TextField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(verdict__in=Verdict.values), name="review_verdict_known"),
            models.CheckConstraint(condition=~Q(reason=""), name="review_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} {self.draft_id} r{self.revision}"
