"""Views of one's own page."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_cookie

from ecm_site.common import clock
from ecm_site.common.problems import DomainError
from policy_app.services.actors import Actor
from sessions_app.dashboard.me_page import me_page
from sessions_app.dashboard.prices_page import administered
from sessions_app.dashboard.scope import scope_of
from sessions_app.services import persons


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def show_me(request: HttpRequest) -> HttpResponse:
    """One's own sessions; nobody else's page looks like this."""
    scope = scope_of(request.user, request.GET)
    page = me_page(cast(User, request.user), scope, clock.now())
    return render(request, "sessions/me.html", {"page": page, "scope": scope, "here": "sessions"})


@require_POST
@login_required
def set_naming(request: HttpRequest) -> HttpResponse:
    """An administrator of the organisation decides: form fields `is_on` and `reason`."""
    organisation = administered(request.user)
    if organisation is None:
        raise PermissionDenied
    is_on = request.POST.get("is_on") == "1"
    by = Actor(request.user.pk, request.user.get_username(), organisation.pk, may_approve=True)
    try:
        persons.set_naming(
            organisation=organisation, is_on=is_on, reason=request.POST.get("reason", ""), actor=by, now=clock.now()
        )
    except DomainError as error:
        raise BadRequest(error.message) from error
    messages.success(request, "Sessions may name their developers." if is_on else "No session names its developer.")
    return redirect("me")
