"""Drafts: started on the live version, saved by revision, handed to review or discarded."""

from datetime import datetime

from django.db import transaction

from policy_app.models import OPEN_STATES, Draft, DraftEdit, DraftState, Policy, Version
from policy_app.services import auditing, contents, policies, tables
from policy_app.services.actors import Actor, require_edit
from policy_app.services.locks import lock_organisation
from policy_app.services.refusals import BaseMoved, NoSuch, StaleRevision, WrongState, checked_reason, checked_text

MOST_TITLE = 200


def found(*, organisation_id: int, draft_id: int) -> Draft:
    """The draft with its policy and base, or `NoSuch`."""
    drafts = Draft.objects.select_related("policy", "base").filter(policy__organisation_id=organisation_id)
    draft = drafts.filter(pk=draft_id).first()
    if draft is None:
        raise NoSuch("draft")
    return draft


@transaction.atomic
def start(*, policy: Policy, title: str, by: Actor, now: datetime, content: object = None, reason: str = "") -> Draft:
    """A draft on top of the live version, with its content or a given one (text or document).

    Raises `NotAllowed`, `BadText`, `BadTable` or `BadPins`.
    """
    require_edit(by, policy.organisation_id)
    lock_organisation(policy.organisation_id)
    base, held = Version.objects.live(policy.pk), contents.of(policy)
    begins = held.blank if base is None else base.content
    taken = begins if content is None else held.canonical_text(content)
    if taken is None:
        raise NoSuch("version to start from; send a table")
    named = checked_text("title", title, most=MOST_TITLE)
    draft = Draft.objects.create(
        policy=policy,
        base=base,
        title=named,
        content=taken,
        reason=reason.strip() and checked_reason(reason),
        created_at=now,
        updated_by_id=by.user_id,
        updated_by_name=by.name,
        updated_at=now,
    )
    _record_edit(draft, by, now, action="draft.started", before=base.digest if base else "")
    return draft


@transaction.atomic
def edit(
    *,
    draft: Draft,
    revision: int,
    content: object,
    by: Actor,
    now: datetime,
    title: str | None = None,
    reason: str = "",
    onto: int | None = None,
) -> Draft:
    """Save `content` as the next revision of what was read as `revision`; voids what reviewers said before.

    `onto`: number of the live version on which the draft stands from now on. Saving what is there already changes
    nothing. Raises `StaleRevision` with a diff, `WrongState`, `NotAllowed`, `BaseMoved`, `BadText`, `BadTable` or
    `BadPins`.
    """
    locked = locked_draft(draft)
    require_edit(by, locked.policy.organisation_id)
    require_state(locked, *OPEN_STATES)
    held = contents.of(locked.policy)
    taken = held.canonical_text(content)
    base = _base_for(locked, onto)
    if revision != locked.revision:
        raise StaleRevision(locked.revision, locked.updated_by_name, held.differences(locked.content, taken))
    if title is not None:
        locked.title = checked_text("title", title, most=MOST_TITLE)
    if reason.strip():
        locked.reason = checked_reason(reason)
    if taken == locked.content and base == locked.base:
        locked.save(update_fields=["title", "reason"])
        return locked
    before = tables.digest_of(locked.content)
    locked.content, locked.base, locked.revision, locked.state = taken, base, locked.revision + 1, DraftState.EDITING
    locked.updated_by_id, locked.updated_by_name, locked.updated_at = by.user_id, by.name, now
    locked.save()
    _record_edit(locked, by, now, action="draft.edited", before=before)
    return locked


def _base_for(draft: Draft, onto: int | None) -> Version | None:
    if onto is None or (draft.base is not None and draft.base.number == onto):
        return draft.base
    live = policies.numbered(policy=draft.policy, number=None)
    if live.number != onto:
        raise base_moved(draft, live)
    return live


@transaction.atomic
def discard(*, draft: Draft, reason: str, by: Actor, now: datetime) -> Draft:
    """Close a draft without publishing it. Raises `NotAllowed`, `WrongState` or `BadText`."""
    locked = locked_draft(draft)
    require_edit(by, locked.policy.organisation_id)
    require_state(locked, *OPEN_STATES)
    locked.state = DraftState.DISCARDED
    locked.save(update_fields=["state"])
    auditing.record(
        actor=by,
        action="draft.discarded",
        subject=subject_of(locked),
        reason=reason,
        now=now,
        before=tables.digest_of(locked.content),
    )
    return locked


def locked_draft(draft: Draft) -> Draft:
    """The draft as it stands now, held until the transaction ends."""
    lock_organisation(draft.policy.organisation_id)
    return Draft.objects.select_for_update(of=("self",)).select_related("policy", "base").get(pk=draft.pk)


def require_state(draft: Draft, *states: DraftState) -> None:
    """Raise `WrongState` unless the draft is in one of `states`."""
    if draft.state not in states:
        raise WrongState(draft.state, " or ".join(state.value for state in states))


def require_current_base(draft: Draft) -> None:
    """Raise `BaseMoved` unless the draft stands on the live version."""
    live = Version.objects.live(draft.policy_id)
    if live != draft.base:
        raise base_moved(draft, live)


def base_moved(draft: Draft, live: Version | None) -> BaseMoved:
    """The refusal, with what has changed between base and live version."""
    base = draft.base
    diff = contents.of(draft.policy).differences(base.content, live.content) if base and live else []
    return BaseMoved(base.number if base else None, live.number if live else None, diff)


def subject_of(draft: Draft) -> str:
    """What the audit log calls a draft."""
    return f"{draft.policy.subject}/draft/{draft.pk}"


def _record_edit(draft: Draft, by: Actor, now: datetime, *, action: str, before: str) -> None:
    after = tables.digest_of(draft.content)
    DraftEdit.objects.create(
        draft=draft, revision=draft.revision, by_id=by.user_id, by_name=by.name, digest=after, at=now
    )
    auditing.record(
        actor=by,
        action=action,
        subject=f"{subject_of(draft)}/r{draft.revision}",
        # Saving while writing asks for no reason of its own: the draft's title says what is being done.
        reason=draft.reason or draft.title,
        now=now,
        evidence=contents.of(draft.policy).evidence(draft.content),
        before=before,
        after=after,
    )
