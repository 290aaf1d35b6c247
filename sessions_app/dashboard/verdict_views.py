"""Views of verdicts, and of who does not want to hear them."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_cookie

from ecm_site.common import clock
from sessions_app.dashboard.scope import scope_of
from sessions_app.dashboard.verdict_page import verdict_page
from sessions_app.models import Session
from sessions_app.services import muting


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def show_verdict(request: HttpRequest, public_id: str) -> HttpResponse:
    """One verdict; with `rederive`, whether it comes out the same again."""
    page = verdict_page(request.user, public_id, ask="rederive" in request.GET, now=clock.now())
    scope = scope_of(request.user, request.GET).around(page.verdict.session.team_id)
    return render(request, "sessions/verdict.html", {"page": page, "scope": scope, "here": "sessions"})


@require_POST
@login_required
def mute_session(request: HttpRequest, pk: int) -> HttpResponse:
    """Stop or start telling verdicts in a session: form field `muted`, 1 or 0."""
    session = get_object_or_404(Session.objects.for_user(request.user), pk=pk)
    muting.mute(session=session, muted=request.POST.get("muted") == "1", now=clock.now())
    return redirect("session", pk=pk)
