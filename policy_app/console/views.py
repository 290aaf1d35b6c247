"""Views that only show."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from ecm_site.common import clock
from ecm_site.common.problems import DomainError
from policy_app.console import door
from policy_app.console.audit_page import audit_page
from policy_app.console.policy_pages import history_page, policies_page, policy_page
from policy_app.models import PolicyKind
from policy_app.services import policies


@require_GET
@door.for_members
def show_policies(request: HttpRequest, kind: PolicyKind = PolicyKind.TABLE) -> HttpResponse:
    """All policies of the organisation and one kind."""
    page = policies_page(door.member(request), clock.now(), kind)
    return render(request, "policy/list.html", {"page": page, "here": "policy"})


@require_GET
@door.for_members
def show_policy(request: HttpRequest, slug: str) -> HttpResponse:
    """One policy as it is in force."""
    actor = door.member(request)
    policy = policies.named(organisation_id=actor.organisation_id, slug=slug)
    page = policy_page(policy, actor, clock.now())
    return render(request, "policy/policy.html", {"page": page, "here": "policy"})


@require_GET
@door.for_members
def show_history(request: HttpRequest, slug: str, kind: PolicyKind = PolicyKind.TABLE) -> HttpResponse:
    """All versions; `?from=1&to=2` compares two."""
    actor = door.member(request)
    policy = policies.named(organisation_id=actor.organisation_id, slug=slug, kind=kind)
    try:
        between = (door.number_in(request.GET, "from"), door.number_in(request.GET, "to"))
    except DomainError:
        between = None
    page = history_page(policy, actor, clock.now(), between=between)
    return render(request, "policy/history.html", {"page": page, "here": "policy"})


@require_GET
@door.for_members
def show_audit(request: HttpRequest) -> HttpResponse:
    """The audit log: `?action=&subject=&before=`."""
    actor = door.member(request)
    try:
        before = door.number_in(request.GET, "before")
    except DomainError:
        before = None
    page = audit_page(
        actor.organisation_id,
        clock.now(),
        action=request.GET.get("action", ""),
        subject=request.GET.get("subject", ""),
        before=before,
    )
    return render(request, "policy/audit.html", {"page": page, "here": "policy"})
