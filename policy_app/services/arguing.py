"""A new argument for a number of a draft, in the place of one that no longer matches."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from policy_app.kernel.evidence import number_at
from policy_app.models import Draft, Evidence, EvidenceStatus
from policy_app.services import drafting, evidence, tables
from policy_app.services.actors import Actor
from policy_app.services.evidence import Claim
from policy_app.services.refusals import NoSuch


@dataclass(frozen=True, slots=True)
class Given:
    """The slug of a record that is there, or the claim and the source of a new one."""

    evidence: str
    claim: str = ""
    source: str = ""


@transaction.atomic
def argue(
    *, draft: Draft, revision: int, content: dict[str, Any], place: int, given: Given, by: Actor, now: datetime
) -> Draft:
    """Save `content` with the argument at `place` replaced by `given`, for the number that stands there now.

    A new claim is put into the library as *unestablished*. Raises `NoSuch`, `BadText` and what `drafting.edit` raises.
    """
    table = tables.parsed(tables.canonical_text(content))
    if not 0 <= place < len(table.arguments):
        raise NoSuch("argument")
    subject = table.arguments[place].subject
    number = number_at(table, subject)
    if number is None:
        raise NoSuch("number to argue for")
    slug = _record(subject, number, given, by, now)
    # Two arguments of one number by one record say the same.
    kept = [
        each
        for index, each in enumerate(content["arguments"])
        if index != place and (each["subject"], each["evidence"]) != (subject, slug)
    ]
    after = {**content, "arguments": [*kept, {"subject": subject, "evidence": slug, "number": number}]}
    return drafting.edit(draft=draft, revision=revision, content=after, by=by, now=now)


def _record(subject: str, number: str, given: Given, by: Actor, now: datetime) -> str:
    if given.evidence:
        return evidence.named(organisation_id=by.organisation_id, slug=given.evidence).slug
    claim = Claim(
        slug=_free(by.organisation_id, subject.replace(".", "-").replace("_", "-").lower()[:60]),
        claim=given.claim,
        source=given.source or by.name,
        status=EvidenceStatus.UNESTABLISHED,
        number=number,
        tier="convention",
        dated=now.date().isoformat(),
    )
    return evidence.add(claim=claim, reason=f"Argues for {subject} at {number}.", by=by, now=now).slug


def _free(organisation_id: int, stem: str) -> str:
    taken = set(
        Evidence.objects.filter(organisation_id=organisation_id, slug__startswith=f"own-{stem}").values_list(
            "slug", flat=True
        )
    )
    return next(name for index in range(len(taken) + 1) if (name := f"own-{stem}-{index + 1}") not in taken)
