"""Where policies hold: every scope with what is in force there, who said so, when and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from ecm_site.common import clock
from ecm_site.common.problems import DomainError
from policy_app.console import door
from policy_app.console.acts import refusal_of
from policy_app.console.review_page import Refusal
from policy_app.models import Assignment, Policy, PolicyKind, ScopeKind, Version
from policy_app.services import assigning, policies
from policy_app.services.actors import Actor
from policy_app.services.refusals import NoSuch, NotAllowed

MOST_LINES = 200
#: What an assignment is, beside those that it comes before or after.
HOLDS, FOLLOWS, OVER = "holds", "follows", "over"


@dataclass(frozen=True, slots=True)
class AssignmentLine:
    """One assignment and whether it counts now."""

    row: Assignment
    name: str
    standing: str


@dataclass(frozen=True, slots=True)
class AssignmentsPage:
    """All that the template shows; scopes and policies are what the form offers, as value and words."""

    now: datetime
    actor: Actor
    lines: tuple[AssignmentLine, ...]
    scopes: tuple[tuple[str, str], ...]
    policies: tuple[tuple[str, str], ...]
    refusal: Refusal | None = None
    typed: Mapping[str, str] = field(default_factory=dict)


def assignments_page(
    actor: Actor, now: datetime, *, refusal: Refusal | None = None, typed: Mapping[str, str] | None = None
) -> AssignmentsPage:
    """The assignments of the actor's organisation, the newest first."""
    scopes = door.scopes(actor.organisation_id)
    names = {(kind.value, id_): name for kind, id_, name in scopes}
    rows = Assignment.objects.filter(organisation_id=actor.organisation_id).order_by("-from_at", "-pk")
    lines, holding = [], set[tuple[str, str, int]]()
    for row in rows.select_related("policy", "version")[:MOST_LINES]:
        scope = (row.kind, row.scope_kind, row.scope_id)
        standing = FOLLOWS if row.from_at > now else OVER if scope in holding else HOLDS
        if standing == HOLDS:
            holding.add(scope)
        name = names.get((row.scope_kind, row.scope_id), "") or door.scope_name(ScopeKind(row.scope_kind), row.scope_id)
        lines.append(AssignmentLine(row, name, standing))
    held = Policy.objects.filter(organisation_id=actor.organisation_id).order_by("-kind", "slug")
    return AssignmentsPage(
        now=now,
        actor=actor,
        lines=tuple(lines),
        scopes=tuple((f"{kind.value}:{id_}", f"{kind.label.lower()} {name}") for kind, id_, name in scopes),
        policies=tuple(
            (f"{row.kind}:{row.slug}", f"{policies.WORDS[PolicyKind(row.kind)]} {row.slug}") for row in held
        ),
        refusal=refusal,
        typed=typed or {},
    )


@require_http_methods(["GET", "POST"])
@door.for_members
def show_assignments(request: HttpRequest) -> HttpResponse:
    """The page; `POST` assigns: `scope`, `policy` (empty: give back), `version`, `from_at`, `reason`."""
    actor = door.approver(request) if request.method == "POST" else door.member(request)
    if request.method == "GET":
        return render(
            request, "policy/assignments.html", {"page": assignments_page(actor, clock.now()), "here": "policy"}
        )
    try:
        _assign(request, actor, clock.now())
    except (NotAllowed, NoSuch):
        raise
    except DomainError as error:
        page = assignments_page(actor, clock.now(), refusal=refusal_of(error), typed=request.POST.dict())
        return render(request, "policy/assignments.html", {"page": page, "here": "policy"}, status=error.status)
    messages.success(request, "Assigned.")
    return redirect("policy-assignments")


def _assign(request: HttpRequest, actor: Actor, now: datetime) -> None:
    asked = request.POST
    scopes = {f"{kind.value}:{id_}": (kind, id_) for kind, id_, _ in door.scopes(actor.organisation_id)}
    if asked.get("scope", "") not in scopes:
        raise DomainError("bad_scope", "Choose the organisation, a team or a project.", pointer="scope")
    scope_kind, scope_id = scopes[asked["scope"]]
    policy, kind = _policy(asked.get("policy", ""), actor)
    version: Version | None = None
    if policy is not None and asked.get("version", ""):
        version = policies.numbered(policy=policy, number=door.number_in(asked, "version"))
    assigning.assign(
        scope_kind=scope_kind,
        scope_id=scope_id,
        policy=policy,
        version=version,
        kind=kind,
        from_at=door.moment_in(asked, "from_at"),
        reason=asked.get("reason", ""),
        by=actor,
        now=now,
    )


def _policy(text: str, actor: Actor) -> tuple[Policy | None, PolicyKind]:
    """`KIND:SLUG`, or `KIND:` to give the scope back to the wider one."""
    kind, _, slug = text.partition(":")
    if kind not in PolicyKind.values:
        raise DomainError("bad_policy", "Choose a policy, or to give the scope back.", pointer="policy")
    if not slug:
        return None, PolicyKind(kind)
    return policies.named(organisation_id=actor.organisation_id, slug=slug, kind=PolicyKind(kind)), PolicyKind(kind)
