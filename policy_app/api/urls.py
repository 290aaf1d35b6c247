"""Addresses below /api/v1/."""

from django.urls import path

from policy_app.api import drafts, files, policies, provenance

_POLICY = "policies/<slug:slug>"
_DRAFT = f"{_POLICY}/drafts/<int:draft_id>"

urlpatterns = [
    path("policies", policies.PoliciesView.as_view(), name="api-policies"),
    path(_POLICY, policies.OnePolicyView.as_view(), name="api-policy"),
    path(f"{_POLICY}/live", policies.LiveView.as_view(), name="api-policy-live"),
    path(f"{_POLICY}/evaluate", policies.EvaluateView.as_view(), name="api-policy-evaluate"),
    path(f"{_POLICY}/revert", policies.RevertView.as_view(), name="api-policy-revert"),
    path(f"{_POLICY}/export", files.ExportView.as_view(), name="api-policy-export"),
    path(f"{_POLICY}/import", files.ImportView.as_view(), name="api-policy-import"),
    path(f"{_POLICY}/versions", policies.VersionsView.as_view(), name="api-versions"),
    path(f"{_POLICY}/versions/<int:number>", policies.VersionView.as_view(), name="api-version"),
    path(f"{_POLICY}/versions/<int:number>/settle", policies.SettleView.as_view(), name="api-version-settle"),
    path(f"{_POLICY}/drafts", drafts.DraftsView.as_view(), name="api-drafts"),
    path(_DRAFT, drafts.DraftView.as_view(), name="api-draft"),
    path(f"{_DRAFT}/ask-review", drafts.AskView.as_view(), name="api-draft-ask"),
    path(f"{_DRAFT}/approve", drafts.ApproveView.as_view(), name="api-draft-approve"),
    path(f"{_DRAFT}/reject", drafts.RejectView.as_view(), name="api-draft-reject"),
    path(f"{_DRAFT}/publish", drafts.PublishView.as_view(), name="api-draft-publish"),
    path(f"{_DRAFT}/discard", drafts.DiscardView.as_view(), name="api-draft-discard"),
    path("audit", provenance.AuditView.as_view(), name="api-audit"),
    path("audit/chain", provenance.ChainView.as_view(), name="api-audit-chain"),
    path("evidence", provenance.EvidenceView.as_view(), name="api-evidence"),
    path("evidence/<slug:slug>", provenance.OneEvidenceView.as_view(), name="api-evidence-one"),
    path("assignments", provenance.AssignmentsView.as_view(), name="api-assignments"),
]
