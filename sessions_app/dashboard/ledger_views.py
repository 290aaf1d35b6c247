"""Views of the ledger: one call, the cache, agreement with the provider, prices, accepted losses."""

from decimal import Decimal, InvalidOperation

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.dateparse import parse_date
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_cookie

from ecm_site.common import clock
from ecm_site.common.problems import DomainError
from sessions_app.dashboard import prices_page
from sessions_app.dashboard.billing import billed, billing_of_teams
from sessions_app.dashboard.cache_page import cache_page
from sessions_app.dashboard.call_page import call_page
from sessions_app.dashboard.scope import scope_of
from sessions_app.kernel.agreement import NOT_NAMED
from sessions_app.models import AcceptedLoss, Organisation, Role, Session, Team
from sessions_app.services import accepting, agreeing, pricing_rows


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
        "billing": billed(page.session),
        "now": clock.now(),
        "here": "sessions",
    }
    return render(request, "sessions/call.html", context)


@require_GET
@login_required
def short_call(_request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """The short address of a call."""
    return redirect("call", pk, number)


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def show_cache(request: HttpRequest) -> HttpResponse:
    """What the cache saved and where it was lost."""
    now = clock.now()
    scope = scope_of(request.user, request.GET)
    page = cache_page(request.user, scope, now)
    billing = billing_of_teams(scope.team.ids, now)
    context = {"page": page, "scope": scope, "billing": billing, "may_accept": page.may_accept, "here": "cache"}
    return render(request, "cache/page.html", context)


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def show_agreement(request: HttpRequest) -> HttpResponse:
    """Our causes against the provider's word."""
    scope = scope_of(request.user, request.GET)
    found = agreeing.of_sessions(Session.objects.for_user(request.user).filter(team_id__in=scope.team.ids))
    context = {
        "page": found,
        "rows": [(theirs, ours, n, ours == theirs) for (theirs, ours), n in sorted(found.matrix.items())],
        "not_named": NOT_NAMED,
        "scope": scope,
        "here": "cache",
    }
    return render(request, "cache/agreement.html", context)


def _may(request: HttpRequest, team: Team, role: Role) -> bool:
    return Team.objects.for_user(request.user, role).filter(pk=team.pk).exists()


def _administered(request: HttpRequest, team_id: int) -> Team:
    team = get_object_or_404(Team.objects.for_user(request.user), pk=team_id)
    if not _may(request, team, Role.ADMIN):
        raise PermissionDenied
    return team


@require_POST
@login_required
def accept_loss(request: HttpRequest, team_id: int) -> HttpResponse:
    """An administrator of the team accepts a loss: form fields `cause`, `reason`, `owner`, `until`."""
    team = _administered(request, team_id)
    until = parse_date(request.POST.get("until", "")) if request.POST.get("until") else None
    if until is None:
        raise BadRequest("until is a day such as 2027-01-31.")
    try:
        accepting.accept(
            team=team,
            cause=request.POST.get("cause", ""),
            project=None,
            reason=request.POST.get("reason", ""),
            owner=request.POST.get("owner", ""),
            until=until,
            by=request.user.get_username(),
            now=clock.now(),
        )
    except DomainError as error:
        raise BadRequest(error.message) from error
    messages.success(request, "Accepted. It is told again when it has grown by half, or after its day.")
    return redirect(_back(request))


@require_POST
@login_required
def withdraw_loss(request: HttpRequest, team_id: int, loss_id: int) -> HttpResponse:
    """End an acceptance."""
    team = _administered(request, team_id)
    loss = get_object_or_404(AcceptedLoss, pk=loss_id, team=team)
    accepting.withdraw(loss=loss, by=request.user.get_username(), now=clock.now())
    messages.success(request, "Withdrawn.")
    return redirect(_back(request))


def _back(request: HttpRequest) -> str:
    return f"{reverse('cache')}{scope_of(request.user, request.POST).suffix}#causes"


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def show_prices(request: HttpRequest) -> HttpResponse:
    """Prices in force, and models that are used without one."""
    scope = scope_of(request.user, request.GET)
    page = prices_page.prices_page(request.user, scope, request.GET, clock.now())
    return render(request, "prices/page.html", {"page": page, "scope": scope, "here": "cache"})


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def show_price(request: HttpRequest, model: str) -> HttpResponse:
    """All rows of one model."""
    page = prices_page.price_page(model.replace("\0", ""), clock.now())
    if page is None:
        raise Http404
    context = {"page": page, "scope": scope_of(request.user, request.GET), "now": clock.now(), "here": "cache"}
    return render(request, "prices/model.html", context)


def _organisation(request: HttpRequest) -> Organisation:
    found = prices_page.administered(request.user)
    if found is None:
        raise PermissionDenied
    return found


@require_POST
@login_required
def add_price(request: HttpRequest) -> HttpResponse:
    """An administrator adds a row: the fields of the form, or `model` and `like` for the prices of another."""
    _organisation(request)
    now, by = clock.now(), request.user.get_username()
    model, like = request.POST.get("model", ""), request.POST.get("like", "")
    try:
        if like:
            run = pricing_rows.add_like(model=model, like=like, by=by, now=now)
        else:
            price = prices_page.price_of_form(request.POST, now)
            run = pricing_rows.add(price=price, source=request.POST.get("source", ""), by=by, now=now)
    except DomainError as error:
        raise BadRequest(error.message) from error
    messages.success(request, "Added. Calls that it concerns are being priced again; each keeps its former figure.")
    return redirect("price", run.price_row.model)


@require_POST
@login_required
def set_multiplier(request: HttpRequest) -> HttpResponse:
    """An administrator states what the company pays of list prices."""
    organisation = _organisation(request)
    try:
        pricing_rows.set_multiplier(
            organisation=organisation, multiplier=Decimal(request.POST.get("multiplier", "").strip())
        )
    except (DomainError, InvalidOperation) as error:
        raise BadRequest("The multiplier is a number above 0 and at most 10, such as 0.85.") from error
    messages.success(request, "Noted. Sums stay at list price; the product is shown beside them.")
    return redirect("prices")
