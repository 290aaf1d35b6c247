"""Publishing: the only way to a version."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from policy_app.models import OPEN_STATES, Draft, DraftState, Policy, Provisional, Verdict, Version
from policy_app.services import auditing, contents, inforce, policies, tables
from policy_app.services.actors import Actor, require_approve
from policy_app.services.drafting import locked_draft, require_current_base, require_state
from policy_app.services.locks import lock_organisation
from policy_app.services.refusals import (
    NoSuch,
    NotApproved,
    NothingChanged,
    StaleRevision,
    checked_reason,
    checked_text,
)

MOST_AUTHORITY = 200
MOST_UNDO = 2_000


@dataclass(frozen=True, slots=True)
class Terms:
    """Of a provisional version: on whose authority, how to undo it, and until when (aware)."""

    authority: str
    undo: str
    expires_at: datetime


@transaction.atomic
def publish(
    *, draft: Draft, revision: int, reason: str, by: Actor, now: datetime, terms: Terms | None = None
) -> Version:
    """Make exactly `revision` the live version; the version before is superseded.

    Where the policy asks for four eyes, the revision must be approved by somebody who did not edit it. Raises
    `NotAllowed`, `WrongState`, `StaleRevision`, `BaseMoved`, `NotApproved`, `NothingChanged`, `NotPublishable`.
    """
    locked = locked_draft(draft)
    require_approve(by, locked.policy.organisation_id)
    require_state(locked, *OPEN_STATES)
    if revision != locked.revision:
        held = contents.of(locked.policy)
        diff = held.differences(draft.content, locked.content) if draft.revision == revision else []
        raise StaleRevision(locked.revision, locked.updated_by_name, diff)
    require_current_base(locked)
    approved = _approved(locked)
    if locked.policy.four_eyes and not (approved and locked.state == DraftState.APPROVED):
        raise NotApproved
    if locked.base is not None and locked.base.content == locked.content:
        raise NothingChanged
    contents.require_publishable(locked.policy, locked.content)
    version = _add(
        policy=locked.policy, content=locked.content, draft=locked, four_eyes=approved, reason=reason, by=by, now=now
    )
    locked.state = DraftState.PUBLISHED
    locked.save(update_fields=["state"])
    if terms is not None:
        _set_terms(version, terms, by, now)
    return version


@transaction.atomic
def revert(*, policy: Policy, number: int, reason: str, by: Actor, now: datetime) -> Version:
    """A new version with the content of version `number`: fast, because it was in force before.

    Raises `NotAllowed`, `NoSuch`, `NothingChanged` or `BadText`.
    """
    require_approve(by, policy.organisation_id)
    lock_organisation(policy.organisation_id)
    old = policies.numbered(policy=policy, number=number)
    live = policies.numbered(policy=policy, number=None)
    if old.content == live.content:
        raise NothingChanged
    return _add(policy=policy, content=old.content, reverts=old, four_eyes=False, reason=reason, by=by, now=now)


@transaction.atomic
def first(*, policy: Policy, content: str, reason: str, by: Actor, now: datetime) -> Version:
    """Version 1 as it was shipped, without a draft."""
    lock_organisation(policy.organisation_id)
    return _add(policy=policy, content=content, four_eyes=False, reason=reason, by=by, now=now)


@transaction.atomic
def settle(*, version: Version, outcome: str, by: Actor, now: datetime) -> Provisional:
    """End the provisional state of a version, saying what came of it. Raises `NotAllowed` or `BadText`."""
    require_approve(by, version.policy.organisation_id)
    lock_organisation(version.policy.organisation_id)
    provisional = Provisional.objects.select_for_update().filter(version=version, settled_at=None).first()
    if provisional is None:
        raise NoSuch("provisional version that is still open")
    provisional.settled_at, provisional.settled_by_name = now, by.name
    provisional.outcome = checked_reason(outcome)
    provisional.save()
    auditing.record(actor=by, action="version.settled", subject=subject_of(version), reason=outcome, now=now)
    return provisional


def subject_of(version: Version) -> str:
    """What the audit log calls a version."""
    return f"{version.policy.subject}/version/{version.number}"


def _approved(draft: Draft) -> bool:
    editors = draft.edits.values_list("by_id", flat=True)
    if None in editors:
        return False
    reviews = draft.reviews.filter(revision=draft.revision, verdict=Verdict.APPROVED)
    return reviews.exclude(by_id__in=list(editors)).exists()


def _add(
    *,
    policy: Policy,
    content: str,
    four_eyes: bool,
    reason: str,
    by: Actor,
    now: datetime,
    draft: Draft | None = None,
    reverts: Version | None = None,
) -> Version:
    before = Version.objects.live(policy.pk)
    digest, previous = tables.digest_of(content), before.chain if before else ""
    number = before.number + 1 if before else 1
    version = Version.objects.create(
        policy=policy,
        number=number,
        content=content,
        digest=digest,
        previous_chain=previous,
        chain=auditing.version_chain(previous, number, digest),
        draft=draft,
        reverts=reverts,
        four_eyes=four_eyes,
        published_by_id=by.user_id,
        published_by_name=by.name,
        published_at=now,
        reason=checked_reason(reason),
    )
    auditing.record(
        actor=by,
        action="version.reverted" if reverts else "version.published",
        subject=subject_of(version),
        reason=reason,
        now=now,
        evidence=contents.of(policy).evidence(content),
        before=before.digest if before else "",
        after=digest,
    )
    transaction.on_commit(lambda: inforce.forget(policy.organisation_id))
    return version


def _set_terms(version: Version, terms: Terms, by: Actor, now: datetime) -> None:
    Provisional.objects.create(
        version=version,
        authority=checked_text("authority", terms.authority, most=MOST_AUTHORITY),
        undo=checked_text("undo", terms.undo, most=MOST_UNDO),
        expires_at=terms.expires_at,
    )
    told = f"Provisional until {terms.expires_at.isoformat()}, by {terms.authority}. Undo: {terms.undo}"
    auditing.record(actor=by, action="version.provisional", subject=subject_of(version), reason=told[:2_000], now=now)
