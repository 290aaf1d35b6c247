"""The audit log as a page."""

from dataclasses import dataclass
from datetime import datetime

from policy_app.models import AuditEntry, Policy
from policy_app.services import auditing
from policy_app.services.auditing import ChainReport

ENTRIES = 100


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Entries that fit, the newest first; `before` is the number from which the next page goes on, or None."""

    now: datetime
    entries: tuple[AuditEntry, ...]
    actions: tuple[str, ...]
    action: str
    subject: str
    before: int | None
    log: ChainReport
    versions: tuple[tuple[str, ChainReport], ...]


def audit_page(organisation_id: int, now: datetime, *, action: str, subject: str, before: int | None) -> AuditPage:
    """One page of the log; `subject` is a beginning such as `policy/default`."""
    of_all = AuditEntry.objects.filter(organisation_id=organisation_id)
    rows = of_all.order_by("-number")
    subject = subject.replace("\0", "")
    if action:
        rows = rows.filter(action=action.replace("\0", ""))
    if subject:
        rows = rows.filter(subject__startswith=subject)
    if before is not None:
        rows = rows.filter(number__lt=before)
    page = list(rows[: ENTRIES + 1])
    return AuditPage(
        now=now,
        entries=tuple(page[:ENTRIES]),
        actions=tuple(of_all.order_by("action").values_list("action", flat=True).distinct()),
        action=action,
        subject=subject,
        before=page[ENTRIES - 1].number if len(page) > ENTRIES else None,
        log=auditing.verify_chain(organisation_id=organisation_id),
        versions=tuple(
            (auditing.chain_name(row), auditing.verify_versions(policy_id=row.pk))
            for row in Policy.objects.filter(organisation_id=organisation_id).order_by("-kind", "slug")
        ),
    )
