"""The editor's views: show, and save with one act on the rows."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from ecm_site.common import clock
from ecm_site.common.problems import DomainError
from policy_app.console import door, pins_editor
from policy_app.console.acts import refusal_of
from policy_app.console.editor_page import editor_page, said_of
from policy_app.console.form_fields import document_from
from policy_app.console.trying import trial_of
from policy_app.kernel.evidence import confirmed_again
from policy_app.models import Draft, PolicyKind
from policy_app.services import arguing, drafting, tables
from policy_app.services.actors import Actor
from policy_app.services.refusals import NoSuch, NotAllowed

type Json = dict[str, Any]


@require_http_methods(["GET", "POST"])
@door.for_members
def edit_draft(request: HttpRequest, draft_id: int) -> HttpResponse:
    """The editor; `POST` saves the form, after the act that the pressed button names."""
    actor = door.editor(request) if request.method == "POST" else door.member(request)
    draft = drafting.found(organisation_id=actor.organisation_id, draft_id=draft_id)
    if draft.policy.kind == PolicyKind.PINS:
        return pins_editor.edit(request, draft, actor)
    if request.method != "POST":
        page = editor_page(
            draft, actor, clock.now(), trial_of(draft.content, request.GET), opened=request.GET.get("open", "")
        )
        return render(request, "policy/editor.html", {"page": page, "here": "policy"})
    try:
        place = _save(request, draft, actor)
    except (NotAllowed, NoSuch):
        raise
    except DomainError as error:
        return _again(request, draft_id, actor, error)
    messages.success(request, "Saved.")
    return redirect(reverse("policy-draft", args=[draft_id]) + place)


@require_POST
@door.for_members
def check_draft(request: HttpRequest, draft_id: int) -> HttpResponse:
    """What the analysis says of the form as it is typed; nothing is saved."""
    actor = door.editor(request)
    draft = drafting.found(organisation_id=actor.organisation_id, draft_id=draft_id)
    if draft.policy.kind != PolicyKind.TABLE:
        raise NoSuch("table in this draft")
    content, refusal = None, None
    try:
        content = tables.canonical_text(document_from(request.POST, tables.document_of(draft.content)))
    except DomainError as error:
        refusal = refusal_of(error)
    page = said_of(draft, actor, content, refusal, clock.now())
    return render(request, "policy/said.html", {"page": page})


def _save(request: HttpRequest, draft: Draft, actor: Actor) -> str:
    """Save, and say where on the page to go on."""
    revision = door.number_in(request.POST, "revision")
    typed = document_from(request.POST, tables.document_of(draft.content))
    act, _, place = request.POST.get("do", "save").partition(":")
    content = tables.document_of(tables.canonical_text(typed))
    now = clock.now()
    if act == "argue":
        claim = arguing.Given(
            *(request.POST.get(f"argue-{place}-{name}", "") for name in ("evidence", "claim", "source"))
        )
        arguing.argue(
            draft=draft, revision=revision, content=content, place=_number(place), given=claim, by=actor, now=now
        )
        return ""
    after = acted(content, act, place)
    drafting.edit(draft=draft, revision=revision, content=after, by=actor, now=now)
    return _go_on(content, after, act, place)


def _go_on(before: Json, after: Json, act: str, place: str) -> str:
    """The rule that was acted on, opened where it is new."""
    was, names = [each["id"] for each in before["rules"]], [each["id"] for each in after["rules"]]
    new = [name for name in names if name not in was]
    if new and act in ("add", "copy"):
        return f"?open={new[0]}#rule-{new[0]}"
    at = _number(place)
    if act in ("up", "down", "off") and 0 <= at < len(was):
        return f"#rule-{was[at]}"
    return ""


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else -1


def _again(request: HttpRequest, draft_id: int, actor: Actor, error: DomainError) -> HttpResponse:
    """The form as it was typed. After somebody else's save it carries their revision: saving again replaces theirs."""
    draft = drafting.found(organisation_id=actor.organisation_id, draft_id=draft_id)
    trial = trial_of(draft.content, {})
    typed = request.POST if "rules" in request.POST else None
    page = editor_page(draft, actor, clock.now(), trial, typed=typed, refusal=refusal_of(error))
    return render(request, "policy/editor.html", {"page": page, "here": "policy"}, status=error.status)


def acted(document: Json, act: str, place: str) -> Json:
    """The document after up, down, copy, delete, off, add or holds; any other act, or no such row, changes nothing."""
    rules = list(document["rules"])
    at = _number(place)
    if act == "add":
        # Off, and before the last: nothing changes until it is filled in.
        rules.insert(max(len(rules) - 1, 0), {"id": _free(rules), "operation": "continue", "enabled": False})
    elif act == "holds":
        return _holds(document, at)
    elif 0 <= at < len(rules):
        _move_or_drop(rules, act, at)
    return {**document, "rules": rules}


def _move_or_drop(rules: list[Json], act: str, at: int) -> None:
    if act == "delete":
        del rules[at]
    elif act == "off":
        rules[at] = {**rules[at], "enabled": not rules[at]["enabled"]}
    elif act == "copy":
        rules.insert(at + 1, {**rules[at], "id": _free(rules), "enabled": False})
    elif act == "up" and at > 0:
        rules.insert(at - 1, rules.pop(at))
    elif act == "down":
        rules.insert(at + 1, rules.pop(at))


def _free(rules: list[Json]) -> str:
    taken = {rule["id"] for rule in rules}
    return next(name for number in range(1, len(rules) + 2) if (name := f"P{number}") not in taken)


def _holds(document: Json, at: int) -> Json:
    """The argument of that place, confirmed for the number that stands there now."""
    table = tables.parsed(tables.canonical_text(document))
    if not 0 <= at < len(table.arguments):
        return document
    held = table.arguments[at]
    return tables.document_of(tables.canonical_text(confirmed_again(table, held.subject, held.evidence)))
