"""Remarks without a verdict: whoever may read may make one, and they decide nothing."""

import pytest
from django.db import DatabaseError, transaction

from ecm_site.common.problems import DomainError
from policy_app.models import DraftState, Review, Verdict
from policy_app.services import drafting, publishing, reviewing
from policy_app.services.actors import Actor
from tests.support.policies import FOREIGNER, KEY, MARA, NOW, VIEWER, default_policy, draft_of

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("by", [MARA, VIEWER])
def test_comment__by_the_author_or_a_viewer__is_kept_and_approves_nothing(by: Actor) -> None:
    draft = draft_of(default_policy())
    reviewing.ask(draft=draft, reason="why", by=MARA, now=NOW)
    reviewing.comment(draft=draft, words="Is 65 meant for all models?", by=by, now=NOW)
    draft.refresh_from_db()
    assert draft.state == DraftState.IN_REVIEW
    with pytest.raises(DomainError) as refused:
        publishing.publish(draft=draft, revision=1, reason="now", by=MARA, now=NOW)
    assert refused.value.code == "not_approved"


def test_comment__while_editing__needs_no_review_to_be_asked() -> None:
    draft = draft_of(default_policy())
    said = reviewing.comment(draft=draft, words="Early thoughts.", by=VIEWER, now=NOW)
    assert (said.verdict, said.revision) == (Verdict.COMMENT, 1)


@pytest.mark.parametrize(
    ("by", "words", "code"),
    [
        (KEY, "x", "no_person"),
        (FOREIGNER, "x", "not_allowed"),
        (MARA, " ", "bad_reason"),
    ],
)
def test_comment__by_a_key_a_stranger_or_without_words__is_refused(by: Actor, words: str, code: str) -> None:
    draft = draft_of(default_policy())
    with pytest.raises(DomainError) as refused:
        reviewing.comment(draft=draft, words=words, by=by, now=NOW)
    assert refused.value.code == code


def test_comment__on_a_closed_draft__is_refused_also_by_the_database() -> None:
    draft = draft_of(default_policy())
    drafting.discard(draft=draft, reason="not now", by=MARA, now=NOW)
    with pytest.raises(DomainError):
        reviewing.comment(draft=draft, words="x", by=VIEWER, now=NOW)
    with pytest.raises(DatabaseError, match="open draft"), transaction.atomic():
        Review.objects.create(
            draft=draft, revision=1, verdict="comment", by_id=MARA.user_id or 0, by_name="Mara", reason="x", at=NOW
        )
