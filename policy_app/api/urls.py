"""Addresses below /api/v1/."""

from django.urls import URLPattern, path

from policy_app.api import drafts, files, policies, provenance
from policy_app.models import PolicyKind


def _life(place: str, kind: PolicyKind, name: str) -> list[URLPattern]:
    """From a draft to a version, for policies of one kind."""
    one = f"{place}/<slug:slug>"
    draft = f"{one}/drafts/<int:draft_id>"
    return [
        path(place, policies.PoliciesView.as_view(kind=kind), name=f"{name}-list"),
        path(one, policies.OnePolicyView.as_view(kind=kind), name=name),
        path(f"{one}/live", policies.LiveView.as_view(kind=kind), name=f"{name}-live"),
        path(f"{one}/revert", policies.RevertView.as_view(kind=kind), name=f"{name}-revert"),
        path(f"{one}/export", files.ExportView.as_view(kind=kind), name=f"{name}-export"),
        path(f"{one}/versions", policies.VersionsView.as_view(kind=kind), name=f"{name}-versions"),
        path(f"{one}/versions/<int:number>", policies.VersionView.as_view(kind=kind), name=f"{name}-version"),
        path(f"{one}/versions/<int:number>/settle", policies.SettleView.as_view(kind=kind), name=f"{name}-settle"),
        path(f"{one}/drafts", drafts.DraftsView.as_view(kind=kind), name=f"{name}-drafts"),
        path(draft, drafts.DraftView.as_view(kind=kind), name=f"{name}-draft"),
        path(f"{draft}/ask-review", drafts.AskView.as_view(kind=kind), name=f"{name}-draft-ask"),
        path(f"{draft}/approve", drafts.ApproveView.as_view(kind=kind), name=f"{name}-draft-approve"),
        path(f"{draft}/reject", drafts.RejectView.as_view(kind=kind), name=f"{name}-draft-reject"),
        path(f"{draft}/comment", drafts.CommentView.as_view(kind=kind), name=f"{name}-draft-comment"),
        path(f"{draft}/publish", drafts.PublishView.as_view(kind=kind), name=f"{name}-draft-publish"),
        path(f"{draft}/discard", drafts.DiscardView.as_view(kind=kind), name=f"{name}-draft-discard"),
    ]


urlpatterns = [
    *_life("policies", PolicyKind.TABLE, "api-policy"),
    path("policies/<slug:slug>/evaluate", policies.EvaluateView.as_view(), name="api-policy-evaluate"),
    path("policies/<slug:slug>/import", files.ImportView.as_view(), name="api-policy-import"),
    *_life("pin-sets", PolicyKind.PINS, "api-pin-set"),
    path("audit", provenance.AuditView.as_view(), name="api-audit"),
    path("audit/chain", provenance.ChainView.as_view(), name="api-audit-chain"),
    path("evidence", provenance.EvidenceView.as_view(), name="api-evidence"),
    path("evidence/<slug:slug>", provenance.OneEvidenceView.as_view(), name="api-evidence-one"),
    path("assignments", provenance.AssignmentsView.as_view(), name="api-assignments"),
]
