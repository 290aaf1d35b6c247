"""What the forms do: one service each, then back to the page; a refusal shows the page again with what was typed."""

from collections.abc import Callable
from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from ecm_site.common import clock
from ecm_site.common.problems import DomainError
from policy_app.console import door
from policy_app.console.pins_page import pin_set_page
from policy_app.console.places import places_of
from policy_app.console.policy_pages import history_page, policy_page
from policy_app.console.review_page import Refusal, review_page
from policy_app.models import Draft, Policy, PolicyKind
from policy_app.services import drafting, policies, publishing, reviewing
from policy_app.services.actors import Actor
from policy_app.services.publishing import Terms
from policy_app.services.refusals import NoSuch, NotAllowed

type Act = Callable[[Draft, Actor], object]


def refusal_of(error: DomainError, typed: str = "") -> Refusal:
    """The refusal as a page tells it."""
    changes = tuple(str(each["sentence"]) for each in _list(error, "diff"))
    findings = tuple(str(each["text"]) for each in _list(error, "findings"))
    return Refusal(error.message, error.status, typed, changes, findings)


def _list(error: DomainError, name: str) -> list[dict[str, object]]:
    found = error.data.get(name)
    return found if isinstance(found, list) else []


@require_POST
@door.for_members
def start_draft(request: HttpRequest, slug: str, kind: PolicyKind = PolicyKind.TABLE) -> HttpResponse:
    """A draft on top of the live version: form field `title`."""
    actor = door.editor(request)
    policy = policies.named(organisation_id=actor.organisation_id, slug=slug, kind=kind)
    title = request.POST.get("title", "")
    try:
        made = drafting.start(policy=policy, title=title, by=actor, now=clock.now())
    except (NotAllowed, NoSuch):
        raise
    except DomainError as error:
        return _one_again(request, policy, actor, refusal_of(error, title))
    messages.success(request, f"The draft “{made.title}” is started.")
    return redirect("policy-draft", draft_id=made.pk)


def _one_again(request: HttpRequest, policy: Policy, actor: Actor, refusal: Refusal) -> HttpResponse:
    is_pins, now = policy.kind == PolicyKind.PINS, clock.now()
    page = pin_set_page(policy, actor, now) if is_pins else policy_page(policy, actor, now)
    context = {"page": page, "here": "policy", "refusal": refusal}
    template = "policy/pins.html" if is_pins else "policy/policy.html"
    return render(request, template, context, status=refusal.status)


@require_POST
@door.for_members
def revert(request: HttpRequest, slug: str, kind: PolicyKind = PolicyKind.TABLE) -> HttpResponse:
    """Publish an earlier content again: form fields `version` and `reason`."""
    actor = door.approver(request)
    policy = policies.named(organisation_id=actor.organisation_id, slug=slug, kind=kind)
    reason = request.POST.get("reason", "")
    try:
        number = door.number_in(request.POST, "version")
        made = publishing.revert(policy=policy, number=number, reason=reason, by=actor, now=clock.now())
    except (NotAllowed, NoSuch):
        raise
    except DomainError as error:
        page = history_page(policy, actor, clock.now(), error=error.message, typed=reason)
        return render(request, "policy/history.html", {"page": page, "here": "policy"}, status=error.status)
    messages.success(request, f"Version {made.number} is in force with the content of version {number}.")
    return redirect(places_of(policy).history, slug=slug)


@require_GET
@door.for_members
def show_review(request: HttpRequest, draft_id: int) -> HttpResponse:
    """The review page of a draft."""
    actor = door.member(request)
    draft = drafting.found(organisation_id=actor.organisation_id, draft_id=draft_id)
    return _review(request, draft, actor, None)


@require_POST
@door.for_members
def ask(request: HttpRequest, draft_id: int) -> HttpResponse:
    """Ask for review: form field `reason`."""

    def act(draft: Draft, actor: Actor) -> object:
        return reviewing.ask(draft=draft, reason=_reason(request), by=actor, now=clock.now())

    return _done(request, draft_id, door.editor(request), act, "A review is asked for.")


@require_POST
@door.for_members
def discard(request: HttpRequest, draft_id: int) -> HttpResponse:
    """Close a draft without publishing it: form field `reason`."""

    def act(draft: Draft, actor: Actor) -> object:
        return drafting.discard(draft=draft, reason=_reason(request), by=actor, now=clock.now())

    return _done(request, draft_id, door.editor(request), act, "The draft is discarded.")


@require_POST
@door.for_members
def rebase(request: HttpRequest, draft_id: int) -> HttpResponse:
    """Put a draft on top of the live version as it reads now: form fields `revision` and `onto`."""

    def act(draft: Draft, actor: Actor) -> object:
        revision, onto = door.number_in(request.POST, "revision"), door.number_in(request.POST, "onto")
        return drafting.edit(
            draft=draft, revision=revision, onto=onto, content=draft.content, by=actor, now=clock.now()
        )

    return _done(request, draft_id, door.editor(request), act, "The draft stands on the version in force.")


@require_POST
@door.for_members
def comment(request: HttpRequest, draft_id: int) -> HttpResponse:
    """Say something without a verdict: form field `reason`."""

    def act(draft: Draft, actor: Actor) -> object:
        return reviewing.comment(draft=draft, words=_reason(request), by=actor, now=clock.now())

    return _done(request, draft_id, door.member(request), act, "Your comment is there.")


@require_POST
@door.for_members
def approve(request: HttpRequest, draft_id: int) -> HttpResponse:
    """Approve the revision that was read: form fields `revision` and `reason`."""

    def act(draft: Draft, actor: Actor) -> object:
        revision = door.number_in(request.POST, "revision")
        return reviewing.approve(draft=draft, revision=revision, reason=_reason(request), by=actor, now=clock.now())

    return _done(request, draft_id, door.approver(request), act, "Approved.")


@require_POST
@door.for_members
def send_back(request: HttpRequest, draft_id: int) -> HttpResponse:
    """Send the revision that was read back: form fields `revision` and `reason`."""

    def act(draft: Draft, actor: Actor) -> object:
        revision = door.number_in(request.POST, "revision")
        return reviewing.reject(draft=draft, revision=revision, reason=_reason(request), by=actor, now=clock.now())

    return _done(request, draft_id, door.approver(request), act, "Sent back.")


@require_POST
@door.for_members
def publish(request: HttpRequest, draft_id: int) -> HttpResponse:
    """Make the revision that was read the live version: form fields `revision` and `reason`.

    Provisional with `authority`, `undo` and `expires_at`.
    """

    def act(draft: Draft, actor: Actor) -> object:
        revision, reason = door.number_in(request.POST, "revision"), _reason(request)
        terms = _terms(request, clock.now())
        return publishing.publish(draft=draft, revision=revision, reason=reason, terms=terms, by=actor, now=clock.now())

    return _done(request, draft_id, door.approver(request), act, "Published: it is in force now.")


@require_POST
@door.for_members
def settle(request: HttpRequest, slug: str, kind: PolicyKind = PolicyKind.TABLE) -> HttpResponse:
    """Say what came of a provisional version: form fields `version` and `reason`."""
    actor = door.approver(request)
    policy = policies.named(organisation_id=actor.organisation_id, slug=slug, kind=kind)
    try:
        version = policies.numbered(policy=policy, number=door.number_in(request.POST, "version"))
        publishing.settle(version=version, outcome=_reason(request), by=actor, now=clock.now())
    except (NotAllowed, NoSuch):
        raise
    except DomainError as error:
        page = history_page(policy, actor, clock.now(), error=error.message, typed=_reason(request))
        return render(request, "policy/history.html", {"page": page, "here": "policy"}, status=error.status)
    messages.success(request, f"Version {version.number} is settled.")
    return redirect(places_of(policy).history, slug=slug)


def _terms(request: HttpRequest, now: datetime) -> Terms | None:
    """The terms of a provisional version; None where all three are empty."""
    given = {name: request.POST.get(name, "").strip() for name in ("authority", "undo")}
    expires_at = door.moment_in(request.POST, "expires_at")
    if not any(given.values()) and expires_at is None:
        return None
    if expires_at is None or expires_at <= now:
        raise DomainError("bad_expires_at", "A provisional version ends at a time to come.", pointer="expires_at")
    return Terms(given["authority"], given["undo"], expires_at)


def _reason(request: HttpRequest) -> str:
    return request.POST.get("reason", "")


def _done(request: HttpRequest, draft_id: int, actor: Actor, act: Act, said: str) -> HttpResponse:
    draft = drafting.found(organisation_id=actor.organisation_id, draft_id=draft_id)
    try:
        act(draft, actor)
    except (NotAllowed, NoSuch):
        raise
    except DomainError as error:
        again = drafting.found(organisation_id=actor.organisation_id, draft_id=draft_id)
        return _review(request, again, actor, refusal_of(error, _reason(request)))
    messages.success(request, said)
    return redirect("policy-review", draft_id=draft_id)


def _review(request: HttpRequest, draft: Draft, actor: Actor, refusal: Refusal | None) -> HttpResponse:
    page = review_page(draft, actor, clock.now(), refusal)
    status = refusal.status if refusal else 200
    return render(request, "policy/review.html", {"page": page, "here": "policy"}, status=status)
