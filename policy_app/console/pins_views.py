"""Views of the pin sets; drafts, reviews and history are those of the policies."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from ecm_site.common import clock
from ecm_site.common.problems import DomainError
from policy_app.console import door
from policy_app.console.acts import refusal_of
from policy_app.console.pins_page import pin_set_page
from policy_app.console.policy_pages import policies_page
from policy_app.models import Policy, PolicyKind
from policy_app.services import assigning, policies
from policy_app.services.actors import Actor
from policy_app.services.refusals import NoSuch, NotAllowed


@require_GET
@door.for_members
def show_pin_set(request: HttpRequest, slug: str) -> HttpResponse:
    """One pin set as it is in force."""
    actor = door.member(request)
    return _shown(request, _named(actor, slug), actor)


@require_POST
@door.for_members
def create_pin_set(request: HttpRequest) -> HttpResponse:
    """A set without versions: form fields `slug`, `name`, `reason`."""
    actor = door.approver(request)
    given = {name: request.POST.get(name, "") for name in ("slug", "name", "reason")}
    try:
        made = policies.create(four_eyes=True, by=actor, now=clock.now(), kind=PolicyKind.PINS, **given)
    except (NotAllowed, NoSuch):
        raise
    except DomainError as error:
        page = policies_page(actor, clock.now(), PolicyKind.PINS)
        context = {"page": page, "here": "policy", "refusal": refusal_of(error), "given": given}
        return render(request, "policy/list.html", context, status=error.status)
    messages.success(request, f"The pin set “{made.name}” is made. It has no pins yet: start a draft.")
    return redirect("pin-set", slug=made.slug)


@require_POST
@door.for_members
def assign_pin_set(request: HttpRequest, slug: str) -> HttpResponse:
    """Let a scope work by the set from now on, or take it back: form fields `scope`, `reason`, `do`."""
    actor = door.approver(request)
    policy = _named(actor, slug)
    name, reason = request.POST.get("scope", "").strip(), request.POST.get("reason", "")
    try:
        kind, scope_id = door.scope_named(actor.organisation_id, name)
        assigning.assign(
            kind=PolicyKind.PINS,
            scope_kind=kind,
            scope_id=scope_id,
            policy=None if request.POST.get("do") == "withdraw" else policy,
            reason=reason,
            by=actor,
            now=clock.now(),
        )
    except NotAllowed:
        raise
    except DomainError as error:
        return _shown(request, policy, actor, error=error, given={"scope": name, "reason": reason})
    messages.success(request, f"{kind.label} {name or 'as a whole'}: done.")
    return redirect("pin-set", slug=slug)


def _named(actor: Actor, slug: str) -> Policy:
    return policies.named(organisation_id=actor.organisation_id, slug=slug, kind=PolicyKind.PINS)


def _shown(
    request: HttpRequest,
    policy: Policy,
    actor: Actor,
    *,
    error: DomainError | None = None,
    given: dict[str, str] | None = None,
) -> HttpResponse:
    context = {
        "page": pin_set_page(policy, actor, clock.now()),
        "here": "policy",
        "refusal": refusal_of(error) if error else None,
        "given": given,
    }
    return render(request, "policy/pins.html", context, status=error.status if error else 200)
