"""One file per kind of row, each with its constraints."""

from policy_app.models.assignment import Assignment, ScopeKind
from policy_app.models.audit import AuditEntry, Evidence, EvidenceStatus
from policy_app.models.drafts import OPEN_STATES, Draft, DraftEdit, DraftState, Review, Verdict
from policy_app.models.policy import Policy, PolicyKind, Provisional, Version
from policy_app.models.supplied import SuppliedPin

__all__ = [
    "OPEN_STATES",
    "Assignment",
    "AuditEntry",
    "Draft",
    "DraftEdit",
    "DraftState",
    "Evidence",
    "EvidenceStatus",
    "Policy",
    "PolicyKind",
    "Provisional",
    "Review",
    "ScopeKind",
    "SuppliedPin",
    "Verdict",
    "Version",
]
