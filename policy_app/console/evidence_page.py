"""The evidence library as pages: every claim with where it is used, and one claim with its past."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from policy_app.console.number_words import subject_words
from policy_app.console.review_page import Refusal
from policy_app.kernel.evidence import Tier
from policy_app.models import AuditEntry, Evidence, EvidenceStatus, Policy, Version
from policy_app.services import tables
from policy_app.services.actors import Actor

STATUSES = tuple(EvidenceStatus.values)
TIERS = tuple(tier.value for tier in Tier)
MOST_ENTRIES = 50


@dataclass(frozen=True, slots=True)
class Use:
    """A policy in force whose rule or number rests on a claim."""

    policy: str
    what: str
    rule: str


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """A claim, and the policies in force that cite it."""

    record: Evidence
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True)
class EvidencePage:
    """The library; `status` chooses. `typed` is what a refused form held."""

    now: datetime
    actor: Actor
    lines: tuple[EvidenceLine, ...]
    counts: tuple[tuple[str, int], ...]
    status: str
    missing: tuple[tuple[str, tuple[Use, ...]], ...]
    refusal: Refusal | None = None
    typed: Mapping[str, str] = field(default_factory=dict)
    statuses: tuple[str, ...] = STATUSES
    tiers: tuple[str, ...] = TIERS


@dataclass(frozen=True, slots=True)
class ClaimPage:
    """One claim."""

    now: datetime
    actor: Actor
    line: EvidenceLine
    entries: tuple[AuditEntry, ...]
    typed: Mapping[str, str]
    refusal: Refusal | None = None
    statuses: tuple[str, ...] = STATUSES
    tiers: tuple[str, ...] = TIERS


def evidence_page(
    actor: Actor, now: datetime, *, status: str, refusal: Refusal | None = None, typed: Mapping[str, str] | None = None
) -> EvidencePage:
    """The library of the actor's organisation."""
    rows = list(Evidence.objects.filter(organisation_id=actor.organisation_id).order_by("slug"))
    uses = _uses(actor.organisation_id)
    held = {row.slug for row in rows}
    chosen = [row for row in rows if row.status == status or status not in STATUSES]
    return EvidencePage(
        now=now,
        actor=actor,
        lines=tuple(EvidenceLine(row, tuple(uses.get(row.slug, ()))) for row in chosen),
        counts=tuple((each, sum(1 for row in rows if row.status == each)) for each in STATUSES),
        status=status if status in STATUSES else "",
        missing=tuple((slug, tuple(where)) for slug, where in sorted(uses.items()) if slug not in held),
        refusal=refusal,
        typed=typed or {},
    )


def claim_page(
    record: Evidence,
    actor: Actor,
    now: datetime,
    *,
    refusal: Refusal | None = None,
    typed: Mapping[str, str] | None = None,
) -> ClaimPage:
    """One claim with who said it how, and when."""
    log = AuditEntry.objects.filter(organisation_id=actor.organisation_id, subject=f"evidence/{record.slug}")
    names = ("claim", "number", "scope", "tier", "dated", "source", "status")
    return ClaimPage(
        now=now,
        actor=actor,
        line=EvidenceLine(record, tuple(_uses(actor.organisation_id).get(record.slug, ()))),
        entries=tuple(log.order_by("-number")[:MOST_ENTRIES]),
        typed=typed or {name: str(getattr(record, name)) for name in names},
        refusal=refusal,
    )


def _uses(organisation_id: int) -> dict[str, list[Use]]:
    """Slug -> the rules and numbers of versions in force that cite it."""
    found: dict[str, list[Use]] = {}
    for policy in Policy.objects.of(organisation_id).order_by("slug"):
        live = Version.objects.live(policy.pk)
        if live is None:
            continue
        table = tables.parsed(live.content)
        for rule in table.rules:
            for slug in rule.evidence:
                found.setdefault(slug, []).append(Use(policy.slug, rule.id, rule.id))
        for each in table.arguments:
            found.setdefault(each.evidence, []).append(Use(policy.slug, subject_words(each.subject), ""))
    return found
