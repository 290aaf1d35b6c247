"""All that can be said of a content: by itself, and by what is recorded of the organisation's sessions."""

from collections.abc import Callable
from datetime import datetime

from django.conf import settings
from django.utils.module_loading import import_string

from policy_app.kernel.findings import Finding
from policy_app.kernel.recorded import Recorded, recorded_findings
from policy_app.models import Policy, PolicyKind
from policy_app.services import contents, tables


def findings_of(*, policy: Policy, content: str, now: datetime) -> tuple[Finding, ...]:
    """What the content says against itself; of a table also rules that sleep, are idle, or that nobody can do."""
    found = contents.of(policy).findings(content)
    if policy.kind != PolicyKind.TABLE:
        return found
    return (*found, *recorded_findings(tables.parsed(content), recorded_of(policy.organisation_id, now)))


def recorded_of(organisation_id: int, now: datetime) -> Recorded | None:
    """What the setting `ECM_RECORDED_RESOLVER` names knows; this app does not know sessions."""
    resolve: Callable[[int, datetime], Recorded | None] = import_string(settings.ECM_RECORDED_RESOLVER)
    return resolve(organisation_id, now)
