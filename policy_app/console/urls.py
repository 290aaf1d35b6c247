"""Addresses of the pages, included at `policy/`."""

from django.urls import path

from policy_app.console import (
    acts,
    assignments_page,
    edits,
    evidence_views,
    import_page,
    matrix_page,
    pins_views,
    views,
)
from policy_app.models import PolicyKind

_PINS = {"kind": PolicyKind.PINS}

urlpatterns = [
    path("", views.show_policies, name="policies"),
    path("matrix/", matrix_page.show_matrix, name="policy-matrix"),
    path("audit/", views.show_audit, name="policy-audit"),
    path("pins/", views.show_policies, _PINS, name="pins"),
    path("pins/new", pins_views.create_pin_set, name="pin-set-create"),
    path("pins/<slug:slug>/", pins_views.show_pin_set, name="pin-set"),
    path("pins/<slug:slug>/history", views.show_history, _PINS, name="pin-set-history"),
    path("pins/<slug:slug>/drafts", acts.start_draft, _PINS, name="pin-set-start"),
    path("pins/<slug:slug>/revert", acts.revert, _PINS, name="pin-set-revert"),
    path("pins/<slug:slug>/settle", acts.settle, _PINS, name="pin-set-settle"),
    path("pins/<slug:slug>/assign", pins_views.assign_pin_set, name="pin-set-assign"),
    path("evidence/", evidence_views.show_evidence, name="policy-evidence"),
    path("evidence/<slug:slug>/", evidence_views.show_claim, name="policy-claim"),
    path("assignments/", assignments_page.show_assignments, name="policy-assignments"),
    path("drafts/<int:draft_id>/", edits.edit_draft, name="policy-draft"),
    path("drafts/<int:draft_id>/check", edits.check_draft, name="policy-check"),
    path("drafts/<int:draft_id>/review", acts.show_review, name="policy-review"),
    path("drafts/<int:draft_id>/ask", acts.ask, name="policy-ask"),
    path("drafts/<int:draft_id>/discard", acts.discard, name="policy-discard"),
    path("drafts/<int:draft_id>/rebase", acts.rebase, name="policy-rebase"),
    path("drafts/<int:draft_id>/comment", acts.comment, name="policy-comment"),
    path("drafts/<int:draft_id>/approve", acts.approve, name="policy-approve"),
    path("drafts/<int:draft_id>/send-back", acts.send_back, name="policy-send-back"),
    path("drafts/<int:draft_id>/publish", acts.publish, name="policy-publish"),
    path("<slug:slug>/", views.show_policy, name="policy"),
    path("<slug:slug>/history", views.show_history, name="policy-history"),
    path("<slug:slug>/import", import_page.show_import, name="policy-import"),
    path("<slug:slug>/drafts", acts.start_draft, name="policy-start"),
    path("<slug:slug>/settle", acts.settle, name="policy-settle"),
    path("<slug:slug>/revert", acts.revert, name="policy-revert"),
]
