"""Reviews: asked for, given by somebody who did not edit, void after the next edit."""

from datetime import datetime

from django.db import transaction

from policy_app.models import OPEN_STATES, Draft, DraftState, Review, Verdict
from policy_app.services import auditing, contents, tables
from policy_app.services.actors import Actor, require_approve, require_edit
from policy_app.services.drafting import locked_draft, require_current_base, require_state, subject_of
from policy_app.services.refusals import EditedByKey, NoPerson, NotAllowed, OwnEdit, StaleRevision, checked_reason


@transaction.atomic
def ask(*, draft: Draft, reason: str, by: Actor, now: datetime) -> Draft:
    """Hand the newest revision to review; `reason` says why this change.

    Raises `NotAllowed`, `WrongState`, `BaseMoved`, `BadText`, or `NotPublishable` with the findings.
    """
    locked = locked_draft(draft)
    require_edit(by, locked.policy.organisation_id)
    require_state(locked, DraftState.EDITING, DraftState.REJECTED)
    require_current_base(locked)
    contents.require_publishable(locked.policy, locked.content)
    locked.reason = checked_reason(reason)
    locked.state = DraftState.IN_REVIEW
    locked.save(update_fields=["reason", "state"])
    _record(locked, by, "draft.review_asked", reason, now)
    return locked


def may_approve(*, draft: Draft, by: Actor) -> bool:
    """Whether this actor could approve the draft: an administrator in person who did not edit it."""
    edits = draft.edits
    return (
        by.may_approve
        and by.organisation_id == draft.policy.organisation_id
        and by.user_id is not None
        and not edits.filter(by_id=by.user_id).exists()
        and not edits.filter(by=None).exists()
    )


@transaction.atomic
def approve(*, draft: Draft, revision: int, reason: str, by: Actor, now: datetime) -> Review:
    """Approve exactly `revision`.

    Raises `NotAllowed`, `NoPerson`, `OwnEdit`, `EditedByKey`, `StaleRevision`, `WrongState`, `BaseMoved` or `BadText`.
    """
    locked, person = _judged(draft, revision, by)
    if locked.edits.filter(by_id=person).exists():
        raise OwnEdit
    if locked.edits.filter(by=None).exists():
        raise EditedByKey
    require_current_base(locked)
    return _give(locked, Verdict.APPROVED, reason, person, by, now)


@transaction.atomic
def reject(*, draft: Draft, revision: int, reason: str, by: Actor, now: datetime) -> Review:
    """Send `revision` back with a reason; who edited may do that too.

    Raises `NotAllowed`, `NoPerson`, `StaleRevision`, `WrongState` or `BadText`.
    """
    locked, person = _judged(draft, revision, by)
    return _give(locked, Verdict.REJECTED, reason, person, by, now)


@transaction.atomic
def comment(*, draft: Draft, words: str, by: Actor, now: datetime) -> Review:
    """Say something of the newest revision, without a verdict; whoever may read may say it, while the draft is open.

    Raises `NotAllowed`, `NoPerson`, `WrongState` or `BadText`.
    """
    locked = locked_draft(draft)
    if by.organisation_id != locked.policy.organisation_id:
        raise NotAllowed("This draft belongs to another organisation.")
    if by.user_id is None:
        raise NoPerson
    require_state(locked, *OPEN_STATES)
    review = _said(locked, Verdict.COMMENT, words, by.user_id, by, now)
    _record(locked, by, "draft.commented", words, now)
    return review


def _judged(draft: Draft, revision: int, by: Actor) -> tuple[Draft, int]:
    locked = locked_draft(draft)
    require_approve(by, locked.policy.organisation_id)
    if by.user_id is None:
        raise NoPerson
    if revision != locked.revision:
        raise StaleRevision(locked.revision, locked.updated_by_name, _since(locked, draft, revision))
    require_state(locked, DraftState.IN_REVIEW)
    return locked, by.user_id


def _since(locked: Draft, seen: Draft, revision: int) -> list[dict[str, object]]:
    """What changed since the reviewer read the draft, where that content is still at hand."""
    if seen.revision != revision:
        return []
    return contents.of(locked.policy).differences(seen.content, locked.content)


def _give(draft: Draft, verdict: Verdict, reason: str, person: int, by: Actor, now: datetime) -> Review:
    review = _said(draft, verdict, reason, person, by, now)
    draft.state = DraftState.APPROVED if verdict is Verdict.APPROVED else DraftState.REJECTED
    draft.save(update_fields=["state"])
    _record(draft, by, f"draft.{verdict.value}", reason, now)
    return review


def _said(draft: Draft, verdict: Verdict, reason: str, person: int, by: Actor, now: datetime) -> Review:
    return Review.objects.create(
        draft=draft,
        revision=draft.revision,
        verdict=verdict,
        by_id=person,
        by_name=by.name,
        reason=checked_reason(reason),
        at=now,
    )


def _record(draft: Draft, by: Actor, action: str, reason: str, now: datetime) -> None:
    digest = tables.digest_of(draft.content)
    subject = f"{subject_of(draft)}/r{draft.revision}"
    auditing.record(actor=by, action=action, subject=subject, reason=reason, now=now, before=digest, after=digest)
