"""The default policy with its evidence and the default pin set, there from the first start."""

from datetime import datetime

from django.db import transaction

from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.evidence import Evidence
from policy_app.kernel.evidence_library import LIBRARY
from policy_app.kernel.pins_default import DEFAULT_PINS
from policy_app.models import EvidenceStatus, Policy, PolicyKind, Version
from policy_app.services import contents, evidence, policies, publishing, tables
from policy_app.services.actors import Actor
from policy_app.services.inforce import DEFAULT_SLUG
from policy_app.services.locks import lock_organisation

NAME = "Default policy"
WHY = "The table that ships with this release."
PINS_NAME = "Default pins"
PINS_WHY = "The pins that ship with this release: what a session must not lose in a compaction."


@transaction.atomic
def ensure_default(*, organisation_id: int, four_eyes: bool, now: datetime) -> Policy:
    """Make the policy `default` with the shipped table as version 1, and the shipped evidence, where missing.

    May run at every start; what people changed stays. `four_eyes` counts at the first start only, and is recorded.
    """
    lock_organisation(organisation_id)
    installation = _installation(organisation_id)
    evidence.ensure(claims=[claim_of(each) for each in LIBRARY.values()], by=installation, now=now)
    content = tables.canonical_text(DEFAULT_TABLE)
    return _ensure(PolicyKind.TABLE, NAME, content, WHY, installation, four_eyes=four_eyes, now=now)


@transaction.atomic
def ensure_pins(*, organisation_id: int, four_eyes: bool, now: datetime) -> Policy:
    """Make the pin set `default` with the shipped pins as version 1, where missing; as `ensure_default`."""
    lock_organisation(organisation_id)
    by, content = _installation(organisation_id), contents.pins_text(DEFAULT_PINS)
    return _ensure(PolicyKind.PINS, PINS_NAME, content, PINS_WHY, by, four_eyes=four_eyes, now=now)


def _installation(organisation_id: int) -> Actor:
    return Actor(None, "installation", organisation_id, may_edit=True, may_approve=True)


def _ensure(
    kind: PolicyKind, name: str, content: str, why: str, by: Actor, *, four_eyes: bool, now: datetime
) -> Policy:
    policy = Policy.objects.of(by.organisation_id, kind).filter(slug=DEFAULT_SLUG).first()
    if policy is None:
        policy = policies.create(
            slug=DEFAULT_SLUG, name=name, four_eyes=four_eyes, reason=why, by=by, now=now, kind=kind
        )
    if not Version.objects.filter(policy=policy).exists():
        publishing.first(policy=policy, content=content, reason=why, by=by, now=now)
    return policy


def claim_of(record: Evidence) -> evidence.Claim:
    """A shipped record as the library keeps it."""
    return evidence.Claim(
        slug=record.id,
        claim=record.claim,
        source=record.source,
        status=EvidenceStatus(record.status.value),
        number=record.number,
        scope=record.scope,
        tier=record.tier.value,
        dated=record.dated,
    )
