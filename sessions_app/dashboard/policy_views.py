"""Views of policies that need recorded sessions; the pages of policies fetch them by their address."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from ecm_site.common import clock
from policy_app.console import door
from policy_app.models import PolicyKind
from policy_app.services import drafting
from policy_app.services.refusals import NoSuch
from sessions_app.dashboard.ghost_page import ghost_page
from sessions_app.dashboard.scope import scope_of


@require_GET
@door.for_members
@vary_on_headers("HX-Request")
def show_ghost(request: HttpRequest, draft_id: int) -> HttpResponse:
    """What a draft would have said; for htmx the part alone, with `?hits=1` also each rule's count."""
    actor = door.member(request)
    draft = drafting.found(organisation_id=actor.organisation_id, draft_id=draft_id)
    if draft.policy.kind != PolicyKind.TABLE:
        raise NoSuch("table in this draft")
    if draft.policy.kind != PolicyKind.TABLE:
        raise NoSuch("draft of a table")
    scope = scope_of(request.user, request.GET)
    page = ghost_page(draft, scope, clock.now())
    is_part = "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers
    template = "policy/ghost_part.html" if is_part else "policy/ghost.html"
    context = {"page": page, "scope": scope, "here": "policy", "with_hits": request.GET.get("hits") == "1"}
    return render(request, template, context)
