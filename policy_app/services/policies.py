"""Policies of an organisation, and their settings."""

from datetime import datetime

from django.db import transaction

from policy_app.models import Policy, PolicyKind, Version
from policy_app.services import auditing
from policy_app.services.actors import Actor, require_approve
from policy_app.services.locks import lock_organisation
from policy_app.services.refusals import BadText, NoSuch, Reserved, Taken, checked_reason, checked_text

MOST_NAME = 120
MOST_SLUG = 50
#: Slugs that name pages and addresses beside the policies.
RESERVED = frozenset(
    ("assignments", "audit", "drafts", "evidence", "live", "matrix", "pins", "policies", "scopes", "versions")
)
#: What a kind is called in a sentence.
WORDS = {PolicyKind.TABLE: "policy", PolicyKind.PINS: "pin set"}


def named(*, organisation_id: int, slug: str, kind: PolicyKind = PolicyKind.TABLE) -> Policy:
    """The policy, or `NoSuch`."""
    policy = Policy.objects.of(organisation_id, kind).filter(slug=slug).first()
    if policy is None:
        raise NoSuch(WORDS[kind])
    return policy


def numbered(*, policy: Policy, number: int | None) -> Version:
    """A version by number, the live one for None; or `NoSuch`."""
    version = (
        Version.objects.live(policy.pk)
        if number is None
        else Version.objects.filter(policy=policy, number=number).select_related("reverts").first()
    )
    if version is None:
        raise NoSuch("version")
    return version


@transaction.atomic
def create(
    *,
    slug: str,
    name: str,
    four_eyes: bool,
    reason: str,
    by: Actor,
    now: datetime,
    kind: PolicyKind = PolicyKind.TABLE,
) -> Policy:
    """A policy without versions. Raises `NotAllowed`, `Taken`, `Reserved` or `BadText`."""
    require_approve(by, by.organisation_id)
    if not (slug.isascii() and slug.replace("-", "").replace("_", "").isalnum() and len(slug) <= MOST_SLUG):
        raise BadText("slug", MOST_SLUG)
    if slug in RESERVED:
        raise Reserved(slug)
    lock_organisation(by.organisation_id)
    if Policy.objects.of(by.organisation_id, kind).filter(slug=slug).exists():
        raise Taken(WORDS[kind])
    policy = Policy.objects.create(
        organisation_id=by.organisation_id,
        kind=kind,
        slug=slug,
        name=checked_text("name", name, most=MOST_NAME),
        four_eyes=four_eyes,
        created_at=now,
    )
    told = f"{checked_reason(reason)} (four eyes {'on' if four_eyes else 'off'})"
    auditing.record(actor=by, action="policy.created", subject=policy.subject, reason=told, now=now)
    return policy


@transaction.atomic
def set_four_eyes(*, policy: Policy, wanted: bool, reason: str, by: Actor, now: datetime) -> Policy:
    """Switch the four-eyes rule; recorded either way. Raises `NotAllowed` or `BadText`."""
    require_approve(by, policy.organisation_id)
    lock_organisation(policy.organisation_id)
    action = "policy.four_eyes_on" if wanted else "policy.four_eyes_off"
    auditing.record(actor=by, action=action, subject=policy.subject, reason=reason, now=now)
    Policy.objects.filter(pk=policy.pk).update(four_eyes=wanted)
    policy.refresh_from_db()
    return policy
