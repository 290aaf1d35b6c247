"""`/api/v1/policies/SLUG/drafts…`: from a draft to a version."""

from collections.abc import Callable
from typing import Any

import msgspec
from rest_framework.request import Request
from rest_framework.response import Response

from ecm_site.common import clock
from policy_app.api import shapes
from policy_app.api.base import PolicyView, moment_of, wanted
from policy_app.models import OPEN_STATES, Draft
from policy_app.services import contents, drafting, publishing, reviewing
from policy_app.services.actors import Actor
from policy_app.services.publishing import Terms
from policy_app.services.refusals import NoSuch


class NewDraft(msgspec.Struct, forbid_unknown_fields=True):
    """A draft to start; without `table` (or `pin_set`) it begins as the live version."""

    title: str
    table: Any = None
    pin_set: Any = None
    reason: str = ""


class Edit(msgspec.Struct, forbid_unknown_fields=True):
    """A content to save as the revision after `revision`; `onto`: the live version on which it stands from now on."""

    revision: int
    table: Any = None
    pin_set: Any = None
    title: str | None = None
    reason: str = ""
    onto: int | None = None


class Reason(msgspec.Struct, forbid_unknown_fields=True):
    """Why."""

    reason: str


class Judgement(msgspec.Struct, forbid_unknown_fields=True):
    """Why, and which revision was read."""

    revision: int
    reason: str


class TermsGiven(msgspec.Struct, forbid_unknown_fields=True):
    """Terms of a provisional version."""

    authority: str
    undo: str
    expires_at: str


class Publication(msgspec.Struct, forbid_unknown_fields=True):
    """Why, which revision, and whether it is provisional."""

    revision: int
    reason: str
    provisional: TermsGiven | None = None


class _OneDraftView(PolicyView):
    """A view of one draft."""

    def draft_of(self, request: Request, slug: str, draft_id: int) -> tuple[Draft, Actor]:
        """The draft of this policy, and the caller; or 404."""
        policy, actor = self.policy_of(request, slug)
        draft = drafting.found(organisation_id=actor.organisation_id, draft_id=draft_id)
        if draft.policy_id != policy.pk:
            raise NoSuch("draft")
        return draft, actor


class DraftsView(PolicyView):
    """`GET …/drafts[?state=all]`: open drafts. `POST {title, table?, reason?}`: one more."""

    needs = {"POST": "edit"}

    def get(self, request: Request, slug: str) -> Response:
        """{"results": [draft without table], "next": null}."""
        policy, actor = self.policy_of(request, slug)
        rows = Draft.objects.filter(policy=policy).select_related("policy", "base").order_by("-pk")
        if request.query_params.get("state") != "all":
            rows = rows.filter(state__in=OPEN_STATES)
        return Response({"results": [shapes.draft(row, actor) for row in rows[:500]], "next": None})

    def post(self, request: Request, slug: str) -> Response:
        """201 with the draft."""
        policy, actor = self.policy_of(request, slug)
        asked = wanted(request, NewDraft)
        made = drafting.start(
            policy=policy,
            title=asked.title,
            content=getattr(asked, contents.of(policy).field),
            reason=asked.reason,
            by=actor,
            now=clock.now(),
        )
        return Response(shapes.draft_with_content(made, actor), status=201)


class DraftView(_OneDraftView):
    """`GET …/drafts/ID`; `PUT {revision, table, title?, reason?, onto?}` saves, or 409 with the difference."""

    needs = {"PUT": "edit"}

    def get(self, request: Request, slug: str, draft_id: int) -> Response:
        """The draft with table, findings, diff, edits and reviews."""
        draft, actor = self.draft_of(request, slug, draft_id)
        return Response(shapes.draft_with_content(draft, actor))

    def put(self, request: Request, slug: str, draft_id: int) -> Response:
        """The draft as saved."""
        draft, actor = self.draft_of(request, slug, draft_id)
        asked = wanted(request, Edit)
        saved = drafting.edit(
            draft=draft,
            revision=asked.revision,
            content=getattr(asked, contents.of(draft.policy).field),
            title=asked.title,
            reason=asked.reason,
            onto=asked.onto,
            by=actor,
            now=clock.now(),
        )
        return Response(shapes.draft_with_content(saved, actor))


class _ActView(_OneDraftView):
    """One act on a draft."""

    def _told(self, draft: Draft, actor: Actor) -> Response:
        again = drafting.found(organisation_id=actor.organisation_id, draft_id=draft.pk)
        return Response(shapes.draft_with_content(again, actor))


class DiscardView(_ActView):
    """`POST …/discard {reason}`."""

    needs = {"POST": "edit"}

    def post(self, request: Request, slug: str, draft_id: int) -> Response:
        """The draft."""
        draft, actor = self.draft_of(request, slug, draft_id)
        drafting.discard(draft=draft, reason=wanted(request, Reason).reason, by=actor, now=clock.now())
        return self._told(draft, actor)


class AskView(_ActView):
    """`POST …/ask-review {reason}`."""

    needs = {"POST": "edit"}

    def post(self, request: Request, slug: str, draft_id: int) -> Response:
        """The draft."""
        draft, actor = self.draft_of(request, slug, draft_id)
        reviewing.ask(draft=draft, reason=wanted(request, Reason).reason, by=actor, now=clock.now())
        return self._told(draft, actor)


class _JudgeView(_ActView):
    """A reviewer's word on a revision."""

    needs = {"POST": "approve"}
    judge: Callable[..., object]

    def post(self, request: Request, slug: str, draft_id: int) -> Response:
        """The draft."""
        draft, actor = self.draft_of(request, slug, draft_id)
        asked = wanted(request, Judgement)
        self.judge(draft=draft, revision=asked.revision, reason=asked.reason, by=actor, now=clock.now())
        return self._told(draft, actor)


class ApproveView(_JudgeView):
    """`POST …/approve {revision, reason}`: by somebody who did not edit the draft."""

    judge = staticmethod(reviewing.approve)


class RejectView(_JudgeView):
    """`POST …/reject {revision, reason}`: sends it back."""

    judge = staticmethod(reviewing.reject)


class CommentView(_ActView):
    """`POST …/comment {reason}`: a remark without a verdict, by anybody in person who may read."""

    def post(self, request: Request, slug: str, draft_id: int) -> Response:
        """The draft."""
        draft, actor = self.draft_of(request, slug, draft_id)
        reviewing.comment(draft=draft, words=wanted(request, Reason).reason, by=actor, now=clock.now())
        return self._told(draft, actor)


class PublishView(_OneDraftView):
    """`POST …/publish {revision, reason, provisional?: {authority, undo, expires_at}}`."""

    needs = {"POST": "approve"}

    def post(self, request: Request, slug: str, draft_id: int) -> Response:
        """201 with the version."""
        draft, actor = self.draft_of(request, slug, draft_id)
        asked = wanted(request, Publication)
        given = asked.provisional
        terms = None if given is None else Terms(given.authority, given.undo, moment_of("expires_at", given.expires_at))
        made = publishing.publish(
            draft=draft, revision=asked.revision, reason=asked.reason, terms=terms, by=actor, now=clock.now()
        )
        return Response(shapes.version(made), status=201)
