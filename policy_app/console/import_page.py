"""A file becomes a draft: what was read of it and what was not, in words, before anything is made."""

from dataclasses import dataclass, replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from ecm_site.common import clock
from ecm_site.common.problems import DomainError
from policy_app.console import door
from policy_app.console.acts import refusal_of
from policy_app.console.policy_pages import sentences
from policy_app.console.review_page import Refusal
from policy_app.models import Policy, Version
from policy_app.services import interchange, policies
from policy_app.services.actors import Actor
from policy_app.services.interchange import Read
from policy_app.services.refusals import NoSuch, NotAllowed

#: Bytes of a file, as over REST.
LARGEST = 2_000_000
MOST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class ImportPage:
    """What was typed or chosen, and what came of reading it; `read` is False before anything was sent."""

    actor: Actor
    policy: Policy
    text: str = ""
    title: str = ""
    kind: str = "yaml"
    read: bool = False
    remarks: tuple[tuple[str, str, str], ...] = ()
    changes: tuple[str, ...] = ()
    refusal: Refusal | None = None


@require_http_methods(["GET", "POST"])
@door.for_members
def show_import(request: HttpRequest, slug: str) -> HttpResponse:
    """The form; `POST` with `do=check` says what the file holds, with `do=start` makes the draft."""
    actor = door.editor(request) if request.method == "POST" else door.member(request)
    policy = policies.named(organisation_id=actor.organisation_id, slug=slug)
    if request.method == "GET":
        return _shown(request, ImportPage(actor, policy))
    kind = "json" if request.POST.get("kind") == "json" else "yaml"
    page = ImportPage(actor, policy, title=request.POST.get("title", ""), kind=kind, read=True)
    try:
        source = _source(request)
        page = replace(page, text=source.decode(errors="replace"))
        file = interchange.read(source=source, is_yaml=kind == "yaml")
        if request.POST.get("do") == "start":
            return _started(request, policy, actor, file)
    except (NotAllowed, NoSuch):
        raise
    except DomainError as error:
        remarks = _remarks(error.data.get("remarks"))
        return _shown(request, replace(page, remarks=remarks, refusal=refusal_of(error)), error.status)
    live = Version.objects.live(policy.pk)
    changes = sentences(policy, live.content, file.content) if live else ()
    remarks = _remarks([interchange.remark_document(each) for each in file.remarks])
    return _shown(request, replace(page, remarks=remarks, changes=changes))


def _source(request: HttpRequest) -> bytes:
    """The chosen file, else the text; bounded."""
    file = request.FILES.get("file")
    source = file.read(LARGEST + 1) if file else request.POST.get("text", "").encode(errors="replace")
    if len(source) > LARGEST:
        raise DomainError("body_too_large", "A policy file has at most 2 MB.", 413)
    if not source.strip():
        raise DomainError("bad_body", "Choose a file, or paste its text.", pointer="text")
    return source


def _started(request: HttpRequest, policy: Policy, actor: Actor, file: Read) -> HttpResponse:
    draft = interchange.import_draft(
        policy=policy,
        file=file,
        title=request.POST.get("title", "").strip() or "Imported file",
        reason=request.POST.get("reason", ""),
        by=actor,
        now=clock.now(),
    )
    messages.success(request, f"The draft “{draft.title}” is started.")
    return redirect("policy-draft", draft_id=draft.pk)


def _remarks(raw: object) -> tuple[tuple[str, str, str], ...]:
    rows = raw if isinstance(raw, list) else []
    return tuple((str(each["severity"]), str(each["field"]), str(each["text"])) for each in rows[:MOST_SHOWN])


def _shown(request: HttpRequest, page: ImportPage, status: int = 200) -> HttpResponse:
    return render(request, "policy/import.html", {"page": page, "here": "policy"}, status=status)
