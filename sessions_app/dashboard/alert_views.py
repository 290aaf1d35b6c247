"""Views of alerts: rules, targets, history, and the weekly mail. Editors change them, viewers see them."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_cookie

from ecm_site.common import clock
from ecm_site.common.problems import DomainError
from policy_app.services.actors import Actor
from sessions_app.dashboard.alerts_page import alerts_page
from sessions_app.dashboard.scope import scope_of
from sessions_app.models import AlertTarget, Role, Team
from sessions_app.services import alert_rules


def _team(request: HttpRequest, team_id: int) -> Team:
    """A team that the person may edit; 403 for a viewer of it, 404 for any other."""
    team = get_object_or_404(Team.objects.for_user(request.user), pk=team_id)
    if not Team.objects.for_user(request.user, Role.EDITOR).filter(pk=team.pk).exists():
        raise PermissionDenied
    return team


def _actor(request: HttpRequest, team: Team) -> Actor:
    return Actor(request.user.pk, request.user.get_username(), team.organisation_id)


def _back(request: HttpRequest, anchor: str) -> HttpResponse:
    return redirect(f"{reverse('alerts')}{scope_of(request.user, request.POST).suffix}#{anchor}")


@require_GET
@login_required
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def show_alerts(request: HttpRequest) -> HttpResponse:
    """What is watched, what fired, and who is told."""
    scope = scope_of(request.user, request.GET)
    page = alerts_page(request.user, scope, clock.now())
    return render(request, "alerts/page.html", {"page": page, "scope": scope, "here": "alerts"})


@require_POST
@login_required
def set_rule(request: HttpRequest, team_id: int) -> HttpResponse:
    """Form fields `kind`, `fires_at`, `ceiling`, `is_on`."""
    team = _team(request, team_id)
    try:
        rule = alert_rules.set_rule(
            team=team,
            kind=request.POST.get("kind", ""),
            threshold=request.POST.get("fires_at", ""),
            ceiling=request.POST.get("ceiling", ""),
            is_on=request.POST.get("is_on") == "1",
            actor=_actor(request, team),
            now=clock.now(),
        )
    except DomainError as error:
        raise BadRequest(error.message) from error
    messages.success(request, f"Noted: it is {'on, and judged within five minutes' if rule.is_on else 'off'}.")
    return _back(request, "rules")


@require_POST
@login_required
def mute(request: HttpRequest, team_id: int) -> HttpResponse:
    """Form fields `kind` and `hours`."""
    team = _team(request, team_id)
    kind, hours = request.POST.get("kind", ""), request.POST.get("hours", "")
    try:
        until = alert_rules.mute(team=team, kind=kind, hours=hours, actor=_actor(request, team), now=clock.now())
    except DomainError as error:
        raise BadRequest(error.message) from error
    told = "Muted. If it still fires when the mute ends, it is told then." if until else "It speaks again."
    messages.success(request, told)
    return _back(request, "rules")


@require_POST
@login_required
def add_target(request: HttpRequest, team_id: int) -> HttpResponse:
    """Form fields `kind` and `address`."""
    team = _team(request, team_id)
    kind, address = request.POST.get("kind", ""), request.POST.get("address", "")
    try:
        alert_rules.add_target(team=team, kind=kind, address=address, actor=_actor(request, team), now=clock.now())
    except DomainError as error:
        raise BadRequest(error.message) from error
    messages.success(request, "Added. Send a test to see whether it arrives.")
    return _back(request, "targets")


@require_POST
@login_required
def test_target(request: HttpRequest, team_id: int, target_id: int) -> HttpResponse:
    """Send a test."""
    target = get_object_or_404(AlertTarget, pk=target_id, team=_team(request, team_id))
    try:
        alert_rules.test(target=target, now=clock.now())
    except DomainError as error:
        raise BadRequest(error.message) from error
    messages.success(request, "A test is on its way; what became of it stands under What was sent.")
    return _back(request, "sent")


@require_POST
@login_required
def remove_target(request: HttpRequest, team_id: int, target_id: int) -> HttpResponse:
    """Send nothing there any more."""
    team = _team(request, team_id)
    target = get_object_or_404(AlertTarget.objects.select_related("team"), pk=target_id, team=team)
    alert_rules.remove_target(target=target, actor=_actor(request, team), now=clock.now())
    messages.success(request, "Removed.")
    return _back(request, "targets")


@require_POST
@login_required
def want_letter(request: HttpRequest, team_id: int) -> HttpResponse:
    """Form field `is_on`."""
    team = _team(request, team_id)
    is_on = request.POST.get("is_on") == "1"
    alert_rules.want_letter(team=team, is_on=is_on, actor=_actor(request, team), now=clock.now())
    messages.success(request, "The weekly mail goes out on Mondays." if is_on else "The weekly mail is off.")
    return _back(request, "letter")
