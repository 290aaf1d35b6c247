"""Views of the ledger: one call."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_cookie

from ecm_site.common import clock
from sessions_app.dashboard.billing import billing_of_session
from sessions_app.dashboard.call_page import call_page
from sessions_app.dashboard.scope import scope_of


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def show_call(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Why one call cost what it cost."""
    page = call_page(request.user, pk, number)
    context = {
        "page": page,
        "scope": scope_of(request.user, request.GET).around(page.session.team_id),
        "billing": billing_of_session(page.session),
        "now": clock.now(),
        "here": "sessions",
    }
    return render(request, "sessions/call.html", context)


@require_GET
@login_required
def short_call(_request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """The short address of a call."""
    return redirect("call", pk, number)
