"""The evidence library: claims with their numbers, and arguments that no longer match what they argue for."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from policy_app.kernel.evidence import number_at, unmatched
from policy_app.models import Evidence, EvidenceStatus
from policy_app.services import auditing, tables
from policy_app.services.actors import Actor, require_edit
from policy_app.services.locks import lock_organisation
from policy_app.services.refusals import BadText, NoSuch, Taken, checked_text

MOST_CLAIM = 2_000
#: What tables may cite and addresses may hold.
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a record of the library says; `dated` is as exact as its source."""

    slug: str
    claim: str
    source: str
    status: EvidenceStatus
    number: str = ""
    scope: str = ""
    tier: str = ""
    dated: str = ""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """An argument of a table that no longer matches: `now` is the table's number, `confirmed` the one argued for.

    `why`: `number_changed`, `evidence_missing`, or `evidence_refuted`.
    """

    subject: str
    evidence: str
    confirmed: str
    now: str | None
    why: str


def named(*, organisation_id: int, slug: str) -> Evidence:
    """The record, or `NoSuch`."""
    found = Evidence.objects.filter(organisation_id=organisation_id, slug=slug).first()
    if found is None:
        raise NoSuch("evidence")
    return found


@transaction.atomic
def add(*, claim: Claim, reason: str, by: Actor, now: datetime) -> Evidence:
    """A new record. Raises `NotAllowed`, `Taken` or `BadText`."""
    require_edit(by, by.organisation_id)
    if not _SLUG.fullmatch(claim.slug):
        raise BadText("slug", 64)
    lock_organisation(by.organisation_id)
    if Evidence.objects.filter(organisation_id=by.organisation_id, slug=claim.slug).exists():
        raise Taken("evidence")
    made = Evidence.objects.create(organisation_id=by.organisation_id, updated_at=now, **_fields(claim))
    _record(made, by, "evidence.added", reason, now, before="")
    return made


@transaction.atomic
def change(*, evidence: Evidence, claim: Claim, reason: str, by: Actor, now: datetime) -> Evidence:
    """Say it anew; the slug stays. Raises `NotAllowed` or `BadText`."""
    require_edit(by, evidence.organisation_id)
    lock_organisation(evidence.organisation_id)
    held = Evidence.objects.select_for_update().get(pk=evidence.pk)
    before = digest_of(held)
    for name, value in _fields(claim).items():
        if name != "slug":
            setattr(held, name, value)
    held.revision, held.updated_at = held.revision + 1, now
    held.save()
    _record(held, by, "evidence.changed", reason, now, before=before)
    return held


@transaction.atomic
def ensure(*, claims: Iterable[Claim], by: Actor, now: datetime) -> int:
    """Add the shipped records that are missing; what somebody changed stays. Returns how many were added."""
    lock_organisation(by.organisation_id)
    held = set(Evidence.objects.filter(organisation_id=by.organisation_id).values_list("slug", flat=True))
    missing = [each for each in claims if each.slug not in held]
    rows = [Evidence(organisation_id=by.organisation_id, updated_at=now, **_fields(each)) for each in missing]
    Evidence.objects.bulk_create(rows)
    if missing:
        auditing.record(
            actor=by,
            action="evidence.shipped",
            subject="evidence",
            reason=f"{len(missing)} records came with this release.",
            evidence=[each.slug for each in missing],
            now=now,
        )
    return len(missing)


def mismatches(*, organisation_id: int, content: str) -> list[Mismatch]:
    """Arguments of a table whose number was changed since, or whose evidence is gone or refuted."""
    table = tables.parsed(content)
    slugs = [each.evidence for each in table.arguments]
    rows = Evidence.objects.filter(organisation_id=organisation_id, slug__in=slugs)
    status = dict(rows.values_list("slug", "status"))
    changed = unmatched(table)
    found = []
    for each in table.arguments:
        if each in changed:
            why = "number_changed"
        elif each.evidence not in status:
            why = "evidence_missing"
        elif status[each.evidence] == EvidenceStatus.REFUTED:
            why = "evidence_refuted"
        else:
            continue
        found.append(Mismatch(each.subject, each.evidence, each.number, number_at(table, each.subject), why))
    return found


def digest_of(evidence: Evidence) -> str:
    """SHA-256 of what a record says."""
    names = ("slug", "claim", "number", "scope", "tier", "dated", "source", "status")
    return tables.digest_of("\n".join(str(getattr(evidence, name)) for name in names))


def _fields(claim: Claim) -> dict[str, str]:
    return {
        "slug": checked_text("slug", claim.slug, most=80),
        "claim": checked_text("claim", claim.claim, most=MOST_CLAIM),
        "source": checked_text("source", claim.source, most=MOST_CLAIM),
        "status": claim.status,
        **{name: _optional(name, getattr(claim, name), most) for name, most in _OPTIONAL},
    }


_OPTIONAL = (("number", 200), ("scope", MOST_CLAIM), ("tier", 40), ("dated", 40))


def _optional(name: str, value: str, most: int) -> str:
    return checked_text(name, value, most=most) if value.strip() else ""


def _record(evidence: Evidence, by: Actor, action: str, reason: str, now: datetime, *, before: str) -> None:
    auditing.record(
        actor=by,
        action=action,
        subject=f"evidence/{evidence.slug}",
        reason=reason,
        evidence=[evidence.slug],
        now=now,
        before=before,
        after=digest_of(evidence),
    )
