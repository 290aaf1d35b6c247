"""Which policy is in force in which scope, and since when."""

from datetime import datetime

from django.db import transaction

from policy_app.models import Assignment, Policy, PolicyKind, ScopeKind, Version
from policy_app.services import auditing, inforce
from policy_app.services.actors import Actor, require_approve
from policy_app.services.locks import lock_organisation
from policy_app.services.refusals import NoSuch, checked_reason

_WORD = {PolicyKind.TABLE: "policy", PolicyKind.PINS: "pins"}


@transaction.atomic
def assign(
    *,
    scope_kind: ScopeKind,
    scope_id: int,
    policy: Policy | None,
    reason: str,
    by: Actor,
    now: datetime,
    version: Version | None = None,
    from_at: datetime | None = None,
    kind: PolicyKind = PolicyKind.TABLE,
) -> Assignment:
    """Put `policy` in force in a scope from `from_at` (now) on: its newest version, or `version` alone.

    `policy` None: in policies of `kind` the scope follows the next wider one again. The caller has checked that the
    scope belongs to the actor's organisation. Raises `NotAllowed`, `NoSuch` for a policy or version of others, or
    `BadText`.
    """
    require_approve(by, by.organisation_id)
    lock_organisation(by.organisation_id)
    if policy is not None and policy.organisation_id != by.organisation_id:
        raise NoSuch("policy")
    if version is not None and (policy is None or version.policy_id != policy.pk):
        raise NoSuch("version")
    kind = PolicyKind(policy.kind) if policy else kind
    before = inforce.assignment_at(by.organisation_id, scope_kind, scope_id, now, kind)
    made = Assignment.objects.create(
        kind=kind,
        organisation_id=by.organisation_id,
        scope_kind=scope_kind,
        scope_id=scope_id,
        policy=policy,
        version=version,
        from_at=from_at or now,
        at=now,
        by_id=by.user_id,
        by_name=by.name,
        reason=checked_reason(reason),
    )
    auditing.record(
        actor=by,
        action=f"{_WORD[kind]}.{'assigned' if policy else 'withdrawn'}",
        subject=f"{scope_kind}/{scope_id}/{policy.slug if policy else ''}{f'/{version.number}' if version else ''}",
        reason=reason,
        now=now,
        before=before.version.digest if before and before.version else "",
        after=version.digest if version else "",
    )
    transaction.on_commit(lambda: inforce.forget(by.organisation_id))
    return made
