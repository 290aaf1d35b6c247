"""The audit log: a line of acts, each chained to the one before."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from policy_app.models import AuditEntry, Policy, PolicyKind, Version
from policy_app.services.actors import Actor
from policy_app.services.refusals import checked_reason

MOST_NAME = 150


@dataclass(frozen=True, slots=True)
class ChainReport:
    """How far a chain holds: entries read, and the number of the first that does not fit (None: all fit)."""

    entries: int
    broken_at: int | None


def record(
    *,
    actor: Actor,
    action: str,
    subject: str,
    reason: str,
    now: datetime,
    evidence: Sequence[str] = (),
    before: str = "",
    after: str = "",
) -> AuditEntry:
    """Append one entry. The caller holds the organisation's lock, and is inside its transaction."""
    last = AuditEntry.objects.filter(organisation_id=actor.organisation_id).order_by("-number").first()
    entry = AuditEntry(
        organisation_id=actor.organisation_id,
        number=last.number + 1 if last else 1,
        at=now,
        actor_id=actor.user_id,
        actor_name=actor.name[:MOST_NAME],
        action=action,
        subject=subject[:200],
        reason=checked_reason(reason),
        evidence=list(evidence),
        before_digest=before,
        after_digest=after,
        previous_chain=last.chain if last else "",
    )
    entry.chain = chain_of(entry)
    entry.save(force_insert=True)
    return entry


def chain_of(entry: AuditEntry) -> str:
    """SHA-256 of the chain before and of the entry's fields as canonical JSON."""
    fields = {
        "action": entry.action,
        "actor": entry.actor_id,
        "actor_name": entry.actor_name,
        "after": entry.after_digest,
        "at": entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
        "before": entry.before_digest,
        "evidence": entry.evidence,
        "number": entry.number,
        "organisation": entry.organisation_id,
        "reason": entry.reason,
        "subject": entry.subject,
    }
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(f"{entry.previous_chain}:{text}".encode()).hexdigest()


def verify_chain(*, organisation_id: int) -> ChainReport:
    """Recompute every link of an organisation's audit log."""
    count, chain = 0, ""
    for entry in AuditEntry.objects.filter(organisation_id=organisation_id).order_by("number").iterator():
        count += 1
        if entry.number != count or entry.previous_chain != chain or entry.chain != chain_of(entry):
            return ChainReport(count, entry.number)
        chain = entry.chain
    return ChainReport(count, None)


def version_chain(previous: str, number: int, digest: str) -> str:
    """The chain of a version; the database computes the same."""
    return hashlib.sha256(f"{previous}:{number}:{digest}".encode()).hexdigest()


def chain_name(policy: Policy) -> str:
    """How a report names the chain of a policy's versions; tables by their slug alone."""
    return policy.slug if policy.kind == PolicyKind.TABLE else policy.subject


def verify_versions(*, policy_id: int) -> ChainReport:
    """Recompute digest and link of every version of a policy."""
    count, chain = 0, ""
    for version in Version.objects.filter(policy_id=policy_id).order_by("number").iterator():
        count += 1
        fits = (
            version.number == count
            and version.digest == hashlib.sha256(version.content.encode()).hexdigest()
            and version.previous_chain == chain
            and version.chain == version_chain(chain, count, version.digest)
        )
        if not fits:
            return ChainReport(count, version.number)
        chain = version.chain
    return ChainReport(count, None)
