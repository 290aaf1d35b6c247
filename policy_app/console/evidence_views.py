"""Views of the evidence library."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from ecm_site.common import clock
from ecm_site.common.problems import DomainError
from policy_app.console import door
from policy_app.console.acts import refusal_of
from policy_app.console.evidence_page import STATUSES, claim_page, evidence_page
from policy_app.models import EvidenceStatus
from policy_app.services import evidence
from policy_app.services.evidence import Claim
from policy_app.services.refusals import NoSuch, NotAllowed


@require_http_methods(["GET", "POST"])
@door.for_members
def show_evidence(request: HttpRequest) -> HttpResponse:
    """The library, `?status=`; `POST` adds a claim."""
    actor = door.editor(request) if request.method == "POST" else door.member(request)
    status = request.GET.get("status", "")
    if request.method == "GET":
        page = evidence_page(actor, clock.now(), status=status)
        return render(request, "policy/evidence.html", {"page": page, "here": "policy"})
    try:
        claim = _claim(request, request.POST.get("slug", ""))
        made = evidence.add(claim=claim, reason=request.POST.get("reason", ""), by=actor, now=clock.now())
    except (NotAllowed, NoSuch):
        raise
    except DomainError as error:
        page = evidence_page(actor, clock.now(), status=status, refusal=refusal_of(error), typed=request.POST.dict())
        return render(request, "policy/evidence.html", {"page": page, "here": "policy"}, status=error.status)
    messages.success(request, f"{made.slug} is in the library.")
    return redirect("policy-claim", slug=made.slug)


@require_http_methods(["GET", "POST"])
@door.for_members
def show_claim(request: HttpRequest, slug: str) -> HttpResponse:
    """One claim; `POST` says it anew."""
    actor = door.editor(request) if request.method == "POST" else door.member(request)
    held = evidence.named(organisation_id=actor.organisation_id, slug=slug)
    if request.method == "GET":
        page = claim_page(held, actor, clock.now())
        return render(request, "policy/claim.html", {"page": page, "here": "policy"})
    try:
        reason = request.POST.get("reason", "")
        evidence.change(evidence=held, claim=_claim(request, slug), reason=reason, by=actor, now=clock.now())
    except (NotAllowed, NoSuch):
        raise
    except DomainError as error:
        page = claim_page(held, actor, clock.now(), refusal=refusal_of(error), typed=request.POST.dict())
        return render(request, "policy/claim.html", {"page": page, "here": "policy"}, status=error.status)
    messages.success(request, "Saved.")
    return redirect("policy-claim", slug=slug)


def _claim(request: HttpRequest, slug: str) -> Claim:
    given = {name: request.POST.get(name, "") for name in ("claim", "number", "scope", "tier", "dated", "source")}
    status = request.POST.get("status", "")
    if status not in STATUSES:
        raise DomainError("bad_status", f"status is one of {', '.join(STATUSES)}.", pointer="status")
    return Claim(slug=slug, status=EvidenceStatus(status), **given)
