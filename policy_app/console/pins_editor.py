"""The editor of a pin set: rows of a form and back, its acts, a meter that counts what is typed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers

from ecm_site.common import clock
from ecm_site.common.problems import DomainError
from policy_app.console import door
from policy_app.console.acts import refusal_of
from policy_app.console.pins_page import Preview, base_ids, preview_of
from policy_app.console.places import Places, places_of
from policy_app.console.policy_pages import sentences
from policy_app.console.review_page import Refusal
from policy_app.kernel.findings import Finding
from policy_app.kernel.pin_documents import set_of
from policy_app.kernel.pins import MOST_PINS, Source, Tier, tokens
from policy_app.models import OPEN_STATES, Draft
from policy_app.services import contents, drafting, tables
from policy_app.services.actors import Actor
from policy_app.services.findings import findings_of
from policy_app.services.refusals import NoSuch, NotAllowed

FIELDS = ("id", "text", "why", "tier", "source")
TIERS = ((Tier.T0.value, "T0, own"), (Tier.T1.value, "T1, user"))
SOURCES = ((Source.ADMIN.value, "this text"), (Source.CLIENT.value, "the client’s"))

type Json = dict[str, Any]
type Fields = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PinRow:
    """One pin as inputs; `at` begins the names of its fields."""

    at: str
    index: int
    id: str
    text: str
    why: str
    tier: str
    source: str
    tokens: int
    is_base: bool


@dataclass(frozen=True, slots=True)
class PinsEditorPage:
    """All that the template shows. Rows and preview are of what was typed, or of what is saved."""

    now: datetime
    actor: Actor
    draft: Draft
    places: Places
    may_save: bool
    rows: tuple[PinRow, ...]
    preview: Preview | None
    findings: tuple[Finding, ...]
    changes: tuple[str, ...]
    refusal: Refusal | None
    is_measured: bool
    tiers: tuple[tuple[str, str], ...] = TIERS
    sources: tuple[tuple[str, str], ...] = SOURCES


def edit(request: HttpRequest, draft: Draft, actor: Actor) -> HttpResponse:
    """Show the editor; `POST` measures, or saves the form after the act that the pressed button names."""
    if request.method != "POST":
        return _shown(request, draft, actor)
    if request.POST.get("do") == "measure":
        return _measured(request, draft, actor)
    try:
        _save(request, draft, actor)
    except (NotAllowed, NoSuch):
        raise
    except DomainError as error:
        again = drafting.found(organisation_id=actor.organisation_id, draft_id=draft.pk)
        return _shown(request, again, actor, typed=_typed(request.POST), refusal=refusal_of(error))
    messages.success(request, "Saved.")
    return redirect("policy-draft", draft_id=draft.pk)


def _measured(request: HttpRequest, draft: Draft, actor: Actor) -> HttpResponse:
    """The size of what is typed, unsaved: as a part of the page for scripts, else the whole page."""
    try:
        document = document_from(request.POST)
        contents.pins_text(document)
    except DomainError as error:
        return _shown(request, draft, actor, typed=_typed(request.POST), refusal=refusal_of(error))
    return _shown(request, draft, actor, typed=document["pins"], is_measured=True)


def _save(request: HttpRequest, draft: Draft, actor: Actor) -> None:
    revision = door.number_in(request.POST, "revision")
    act, _, place = request.POST.get("do", "save").partition(":")
    content = acted(document_from(request.POST), act, place)
    drafting.edit(draft=draft, revision=revision, content=content, by=actor, now=clock.now())


def document_from(fields: Fields) -> Json:
    """The document that a form holds: `pins` says how many, `p0-id`, `p0-text`, … what."""
    return {"pins": [{name: fields.get(f"p{index}-{name}", "") for name in FIELDS} for index in range(_count(fields))]}


def _count(fields: Fields) -> int:
    text = fields.get("pins", "")
    if not (text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= MOST_PINS):
        raise DomainError("bad_pins", f"A set has at most {MOST_PINS} pins.", pointer="pins")
    return int(text)


def _typed(fields: Fields) -> list[Json] | None:
    """The rows as they were typed; None where nothing can be made of them."""
    try:
        pins: list[Json] = document_from(fields)["pins"]
    except DomainError:
        return None
    return pins


def acted(document: Json, act: str, place: str) -> Json:
    """The document after up, down, delete or add; any other act, or no such row, changes nothing."""
    pins = list(document["pins"])
    at = int(place) if place.isascii() and place.isdigit() and len(place) < 4 else -1
    if act == "add":
        pins.append({"id": _free(pins), "text": "Say here what must not be lost.", "why": "Say why.", "tier": "T0"})
    elif not 0 <= at < len(pins):
        return document
    elif act == "delete":
        del pins[at]
    elif act == "up" and at > 0:
        pins.insert(at - 1, pins.pop(at))
    elif act == "down":
        pins.insert(at + 1, pins.pop(at))
    return {**document, "pins": pins}


def _free(pins: list[Json]) -> str:
    taken = {pin["id"] for pin in pins}
    return next(name for number in range(1, len(pins) + 2) if (name := f"pin_{number}") not in taken)


def _shown(
    request: HttpRequest,
    draft: Draft,
    actor: Actor,
    *,
    typed: list[Json] | None = None,
    refusal: Refusal | None = None,
    is_measured: bool = False,
) -> HttpResponse:
    page = _page(draft, actor, typed, refusal, is_measured)
    is_part = "HX-Request" in request.headers and request.method == "POST"
    template = "policy/pins_part.html" if is_part else "policy/pins_editor.html"
    # htmx shows nothing of an answer that is no success.
    status = 200 if refusal is None or is_part else refusal.status
    response = render(request, template, {"page": page, "here": "policy"}, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _page(
    draft: Draft, actor: Actor, typed: list[Json] | None, refusal: Refusal | None, is_measured: bool
) -> PinsEditorPage:
    pins: list[Json] = tables.document_of(draft.content)["pins"] if typed is None else typed
    base = base_ids(draft.policy)
    held = set_of({"pins": pins}) if refusal is None else None
    number = draft.base.number + 1 if draft.base else 1
    return PinsEditorPage(
        now=clock.now(),
        actor=actor,
        draft=draft,
        places=places_of(draft.policy),
        may_save=actor.may_edit and draft.state in OPEN_STATES,
        rows=tuple(_row(index, pin, base) for index, pin in enumerate(pins)),
        preview=preview_of(held, draft.policy.slug, number) if held else None,
        findings=findings_of(policy=draft.policy, content=draft.content, now=clock.now()),
        changes=sentences(draft.policy, draft.base.content, draft.content) if draft.base else (),
        refusal=refusal,
        is_measured=is_measured,
    )


def _row(index: int, pin: Json, base: frozenset[str]) -> PinRow:
    said = {name: str(pin.get(name, "")) for name in FIELDS}
    return PinRow(at=f"p{index}-", index=index, tokens=tokens(said["text"]), is_base=said["id"] in base, **said)
