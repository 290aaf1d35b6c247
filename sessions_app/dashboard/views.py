"""Views of the pages: read the address, ask for one page, render it whole or in part."""

from datetime import datetime, timedelta

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_cookie, vary_on_headers

from ecm_site.common import clock
from sessions_app.dashboard.billing import billing_of_teams
from sessions_app.dashboard.compaction_points import points_page
from sessions_app.dashboard.compactions_page import compactions_page
from sessions_app.dashboard.context_page import context_page
from sessions_app.dashboard.discipline import discipline
from sessions_app.dashboard.filters import filter_of
from sessions_app.dashboard.follow import follow_of
from sessions_app.dashboard.overview import overview
from sessions_app.dashboard.overview_live import live_of
from sessions_app.dashboard.scope import link_suffix, scope_of
from sessions_app.dashboard.session_list import session_list
from sessions_app.dashboard.session_page import session_page
from sessions_app.models import Session

THEMES = ("light", "dark")
THEME_COOKIE = "ecm_theme"
THEME_AGE = timedelta(days=365)


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_headers("HX-Target", "Cookie")
def show_overview(request: HttpRequest) -> HttpResponse:
    """What a team's period came to; for htmx what is live alone."""
    now = clock.now()
    if request.headers.get("HX-Target") == "now":
        return _show_live(request, now)
    page = overview(request.user, scope_of(request.user, request.GET), now)
    wider = page.wider_period if "period" not in request.GET else None
    if wider:
        # Somebody who just brought in old sessions should see them, not an empty week.
        return redirect(reverse("overview") + link_suffix({**page.scope.query, "period": wider.key}))
    billing = billing_of_teams(page.scope.team.ids, now)
    context = {"page": page, "scope": page.scope, "billing": billing, "here": "overview"}
    return render(request, "home/overview.html", context)


def _show_live(request: HttpRequest, now: datetime) -> HttpResponse:
    scope = scope_of(request.user, request.GET)
    live = live_of(request.user, scope, now)
    mine = Session.objects.for_user(request.user).filter(team_id__in=scope.team.ids).seen()
    newest = None if live.lines else mine.order_by("-last_at").values_list("last_at", flat=True).first()
    context = {"live": live, "state": {"newest_at": newest}, "scope": scope, "now": now}
    return render(request, "home/live.html", context)


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_headers("HX-Request", "Cookie")
def list_sessions(request: HttpRequest) -> HttpResponse:
    """Sessions of a team's period; for htmx the results alone."""
    scope = scope_of(request.user, request.GET)
    page = session_list(request.user, scope, filter_of(request.GET), clock.now())
    template = "sessions/list.html"
    if "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers:
        template += "#results"
    return render(request, template, {"page": page, "scope": scope, "here": "sessions"})


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_headers("HX-Target", "Cookie")
def show_session(request: HttpRequest, pk: int) -> HttpResponse:
    """One session; `calls` is the page of its table, `at` the call that must be on it.

    For htmx the table alone, or what changes while the session goes on: 304 while it is the same.
    """
    now, target = clock.now(), request.headers.get("HX-Target")
    is_part = target == "follow"
    if is_part:
        etag = follow_of(request.user, pk, now).etag
        if unchanged := get_conditional_response(request, etag=etag):
            unchanged.headers["ETag"] = etag
            return unchanged
    scope = scope_of(request.user, request.GET)
    page = session_page(request.user, pk, request.GET, now)
    scope = scope.around(page.session.team_id)
    context = {
        "page": page,
        "scope": scope,
        "billing": page.billing,
        "here": "sessions",
        "is_part": is_part,
        "is_told": is_part and page.follow.is_told(request.headers.get("If-None-Match", "")),
    }
    part = f"#{target}" if target in ("calls", "follow") else ""
    answer = render(request, f"sessions/session.html{part}", context)
    if is_part:
        answer.headers["ETag"] = page.follow.etag
    return answer


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def show_compactions(request: HttpRequest) -> HttpResponse:
    """What the compactions and clearings of a period cost and gave back."""
    scope = scope_of(request.user, request.GET)
    page = compactions_page(request.user, scope, request.GET.get("sort", ""), request.GET.get("page", "1"), clock.now())
    billing = billing_of_teams(scope.team.ids, page.now)
    context = {"page": page, "scope": scope, "billing": billing, "here": "compactions"}
    return render(request, "compactions/page.html", context)


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def show_points(request: HttpRequest) -> HttpResponse:
    """When hosts compacted by themselves, against what their documents say."""
    scope = scope_of(request.user, request.GET)
    page = points_page(request.user, scope, clock.now())
    context = {"page": page, "scope": scope, "here": "compactions"}
    return render(request, "compactions/points.html", context)


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def show_context(request: HttpRequest) -> HttpResponse:
    """What fills the contexts of a period."""
    scope = scope_of(request.user, request.GET)
    page = context_page(request.user, scope, clock.now())
    billing = billing_of_teams(scope.team.ids, page.now)
    context = {"page": page, "scope": scope, "billing": billing, "here": "context"}
    return render(request, "context/page.html", context)


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def show_discipline(request: HttpRequest) -> HttpResponse:
    """Whether projects keep the rules of the cache."""
    scope = scope_of(request.user, request.GET)
    page = discipline(request.user, scope, clock.now())
    return render(request, "context/discipline.html", {"page": page, "scope": scope, "here": "context"})


@require_GET
@login_required
def short_link(request: HttpRequest, pk: int) -> HttpResponse:
    """The short address of a session; browsers carry the fragment over."""
    query = request.META.get("QUERY_STRING", "")
    return redirect(reverse("session", args=[pk]) + (f"?{query}" if query else ""))


@require_POST
def choose_theme(request: HttpRequest) -> HttpResponse:
    """Light, dark or (anything else) as the system says, kept in a cookie; back to where one was."""
    target = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}):
        target = reverse("overview")
    response = redirect(target)
    theme = request.POST.get("theme", "")
    if theme in THEMES:
        response.set_cookie(
            THEME_COOKIE, theme, max_age=THEME_AGE, samesite="Lax", secure=request.is_secure(), httponly=True
        )
    else:
        response.delete_cookie(THEME_COOKIE, samesite="Lax")
    return response
