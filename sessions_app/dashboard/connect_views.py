"""Views of sources, of connecting, and of one's own keys."""

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_cookie, vary_on_headers

from ecm_site.common import clock
from ecm_site.common.problems import DomainError
from sessions_app.dashboard import snippets
from sessions_app.dashboard.connect_page import Snippet, connect_page
from sessions_app.dashboard.scope import scope_of
from sessions_app.dashboard.sources import sources_page
from sessions_app.models import Role, Team
from sessions_app.services import own_keys, sources


def _user(request: HttpRequest) -> User:
    """The signed-in person; only behind `login_required`."""
    return cast(User, request.user)


def _team(request: HttpRequest, team_id: int, role: Role) -> Team:
    """A team of the person's; 403 where the role is too small, 404 for any other team."""
    team = get_object_or_404(Team.objects.for_user(request.user), pk=team_id)
    if not Team.objects.for_user(request.user, role).filter(pk=team.pk).exists():
        raise PermissionDenied
    return team


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def show_sources(request: HttpRequest) -> HttpResponse:
    """Who reports, and what is covered."""
    scope = scope_of(request.user, request.GET)
    page = sources_page(request.user, scope, clock.now())
    return render(request, "sources/page.html", {"page": page, "scope": scope, "here": "sources"})


@require_POST
@login_required
def state_billing(request: HttpRequest, team_id: int) -> HttpResponse:
    """An administrator says how a team pays for a host: form fields `host` and `mode`."""
    team = _team(request, team_id, Role.ADMIN)
    host, mode = request.POST.get("host", ""), request.POST.get("mode", "")
    try:
        stated = sources.state_billing(team=team, host=host, mode=mode, by=_user(request), now=clock.now())
    except DomainError as error:
        raise BadRequest(error.message) from error
    messages.success(request, f"Noted: {team.name}, {host}: {stated or 'unknown'}.")
    return redirect(_back(request, "sources", "billing"))


def _back(request: HttpRequest, name: str, anchor: str) -> str:
    """The address of a page in the scope that the form was sent from."""
    return f"{reverse(name)}{scope_of(request.user, request.POST).suffix}#{anchor}"


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_headers("HX-Request", "Cookie")
def show_connect(request: HttpRequest) -> HttpResponse:
    """What to run, and the live tick; for htmx the tick alone, 304 while it is the same."""
    scope = scope_of(request.user, request.GET)
    page = connect_page(request.user, scope, settings.PUBLIC_URL, clock.now())
    context = {"page": page, "scope": scope, "here": "connect"}
    if "HX-Request" not in request.headers or "HX-History-Restore-Request" in request.headers:
        return render(request, "connect/page.html", context)
    unchanged = get_conditional_response(request, etag=page.ticks.etag)
    answer = unchanged or render(request, "connect/page.html#live", context)
    answer.headers["ETag"] = page.ticks.etag
    return answer


@require_safe
def managed_settings(_request: HttpRequest) -> HttpResponse:
    """`GET /connect/claude-code/managed-settings.json`: for a fleet; it holds no secret."""
    text = snippets.pretty(snippets.managed(settings.PUBLIC_URL)) + "\n"
    answer = HttpResponse(text, content_type="application/json")
    answer["Content-Disposition"] = 'attachment; filename="managed-settings.json"'
    return answer


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def show_keys(request: HttpRequest) -> HttpResponse:
    """One's own keys."""
    return _keys(request)


@require_http_methods(["POST"])
@login_required
@never_cache
def make_key(request: HttpRequest, team_id: int) -> HttpResponse:
    """A key for oneself in one's team. It is shown in this answer and never again, so there is no redirect."""
    team = _team(request, team_id, Role.EDITOR)
    try:
        _, secret = own_keys.issue(user=_user(request), team=team, label=request.POST.get("label", ""), now=clock.now())
    except DomainError as error:
        messages.error(request, error.message)
        return redirect("own-keys")
    return _keys(request, secret)


@require_POST
@login_required
def revoke_key(request: HttpRequest, key_id: int) -> HttpResponse:
    """End one of one's own keys."""
    if not own_keys.revoke(user=_user(request), key_id=key_id, now=clock.now()):
        raise Http404
    messages.success(request, "The key is revoked; elsewhere it ends within half a minute.")
    return redirect("own-keys")


def _keys(request: HttpRequest, secret: str = "") -> HttpResponse:
    user, url = _user(request), settings.PUBLIC_URL
    new = (
        Snippet("new-key", "The key", secret),
        Snippet("new-client", "Connect a machine with it", snippets.client(url, secret)),
        Snippet("new-settings", "Or without a client", snippets.pretty(snippets.settings(url, secret))),
    )
    context = {
        "keys": own_keys.keys_of(user),
        "teams": Team.objects.for_user(user, Role.EDITOR).filter(is_demo=False).order_by("name", "pk"),
        "new": new if secret else (),
        "scope": scope_of(request.user, request.GET),
        "now": clock.now(),
        "here": "connect",
    }
    return render(request, "connect/keys.html", context)
