"""The default policy with its evidence, there from the first start."""

from datetime import datetime

from django.db import transaction

from policy_app.kernel.default import DEFAULT_TABLE
from policy_app.kernel.evidence import Evidence
from policy_app.kernel.evidence_library import LIBRARY
from policy_app.models import EvidenceStatus, Policy, Version
from policy_app.services import evidence, policies, publishing, tables
from policy_app.services.actors import Actor
from policy_app.services.inforce import DEFAULT_SLUG
from policy_app.services.locks import lock_organisation

NAME = "Default policy"
WHY = "The table that ships with this release."


@transaction.atomic
def ensure_default(*, organisation_id: int, four_eyes: bool, now: datetime) -> Policy:
    """Make the policy `default` with the shipped table as version 1, and the shipped evidence, where missing.

    May run at every start; what people changed stays. `four_eyes` counts at the first start only, and is recorded.
    """
    installation = Actor(None, "installation", organisation_id, may_edit=True, may_approve=True)
    lock_organisation(organisation_id)
    evidence.ensure(claims=[claim_of(each) for each in LIBRARY.values()], by=installation, now=now)
    policy = Policy.objects.of(organisation_id).filter(slug=DEFAULT_SLUG).first()
    if policy is None:
        policy = policies.create(
            slug=DEFAULT_SLUG, name=NAME, four_eyes=four_eyes, reason=WHY, by=installation, now=now
        )
    if not Version.objects.filter(policy=policy).exists():
        content = tables.canonical_text(DEFAULT_TABLE)
        publishing.first(policy=policy, content=content, reason=WHY, by=installation, now=now)
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
