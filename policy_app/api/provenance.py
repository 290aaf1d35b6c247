"""`/api/v1/audit`, `/evidence`, `/assignments`: who did what and why, what it rests on, where it holds."""

import msgspec
from rest_framework.request import Request
from rest_framework.response import Response

from ecm_site.common import clock, paging
from ecm_site.common.problems import DomainError
from policy_app.api import shapes
from policy_app.api.base import Json, PolicyView, actor_of, after_number, moment_of, scope_id_of, scope_name_of, wanted
from policy_app.models import Assignment, AuditEntry, Evidence, EvidenceStatus, Policy, PolicyKind, ScopeKind
from policy_app.services import assigning, auditing, evidence, policies
from policy_app.services.evidence import Claim
from policy_app.services.refusals import NoSuch


class AuditView(PolicyView):
    """`GET /api/v1/audit?subject=&action=&limit=&cursor=`: the newest first; `subject` is a beginning."""

    def get(self, request: Request) -> Response:
        """One page of entries."""
        asked = paging.page_request(request._request)
        rows = AuditEntry.objects.filter(organisation_id=actor_of(request).organisation_id).order_by("-number")
        if subject := _word(request, "subject"):
            rows = rows.filter(subject__startswith=subject)
        if action := _word(request, "action"):
            rows = rows.filter(action=action)
        if asked.after:
            rows = rows.filter(number__lt=after_number(asked))
        page = list(rows[: asked.limit + 1])
        last = (page[asked.limit - 1].number,) if len(page) > asked.limit else None
        return Response(
            {
                "results": [shapes.audit(row) for row in page[: asked.limit]],
                "next": paging.next_address(request._request, last),
            }
        )


class ChainView(PolicyView):
    """`GET /api/v1/audit/chain`: recomputes every link of the log and of the versions."""

    def get(self, request: Request) -> Response:
        """{"audit": {entries, broken_at}, "versions": {slug: {entries, broken_at}}}."""
        organisation_id = actor_of(request).organisation_id
        rows = Policy.objects.filter(organisation_id=organisation_id).order_by("-kind", "slug")
        return Response(
            {
                "audit": _report(auditing.verify_chain(organisation_id=organisation_id)),
                "versions": {
                    auditing.chain_name(row): _report(auditing.verify_versions(policy_id=row.pk)) for row in rows
                },
            }
        )


def _report(report: auditing.ChainReport) -> Json:
    return {"entries": report.entries, "broken_at": report.broken_at}


class EvidenceGiven(msgspec.Struct, forbid_unknown_fields=True):
    """A claim as it is sent."""

    slug: str
    claim: str
    source: str
    status: EvidenceStatus
    reason: str
    number: str = ""
    scope: str = ""
    tier: str = ""
    date: str = ""

    def as_claim(self) -> Claim:
        """The claim without the reason."""
        return Claim(self.slug, self.claim, self.source, self.status, self.number, self.scope, self.tier, self.date)


class EvidenceView(PolicyView):
    """`GET /api/v1/evidence`; `POST {slug, claim, source, status, reason, …}`."""

    needs = {"POST": "edit"}

    def get(self, request: Request) -> Response:
        """{"results": [claim], "next": null}."""
        rows = Evidence.objects.filter(organisation_id=actor_of(request).organisation_id).order_by("slug")
        return Response({"results": [shapes.evidence(row) for row in rows], "next": None})

    def post(self, request: Request) -> Response:
        """201 with the claim."""
        actor, asked = actor_of(request), wanted(request, EvidenceGiven)
        made = evidence.add(claim=asked.as_claim(), reason=asked.reason, by=actor, now=clock.now())
        return Response(shapes.evidence(made), status=201)


class OneEvidenceView(PolicyView):
    """`GET /api/v1/evidence/SLUG`; `PUT` says it anew."""

    needs = {"PUT": "edit"}

    def get(self, request: Request, slug: str) -> Response:
        """The claim."""
        found = evidence.named(organisation_id=actor_of(request).organisation_id, slug=slug)
        return Response(shapes.evidence(found))

    def put(self, request: Request, slug: str) -> Response:
        """The claim as changed."""
        actor = actor_of(request)
        held = evidence.named(organisation_id=actor.organisation_id, slug=slug)
        asked = wanted(request, EvidenceGiven)
        if asked.slug != slug:
            raise DomainError("bad_slug", "The slug of a claim stays.", pointer="/slug")
        saved = evidence.change(evidence=held, claim=asked.as_claim(), reason=asked.reason, by=actor, now=clock.now())
        return Response(shapes.evidence(saved))


class AssignmentGiven(msgspec.Struct, forbid_unknown_fields=True):
    """A scope (team slug, `team/project`, or nothing for the organisation), and what holds there from when on."""

    scope_kind: ScopeKind
    reason: str
    scope: str = ""
    kind: PolicyKind = PolicyKind.TABLE
    policy: str | None = None
    version: int | None = None
    from_at: str | None = None


class AssignmentsView(PolicyView):
    """`GET /api/v1/assignments`; `POST {scope_kind, scope?, kind?, policy, version?, from_at?, reason}`."""

    needs = {"POST": "approve"}

    def get(self, request: Request) -> Response:
        """{"results": [assignment, the newest first], "next": null}; at most 500."""
        rows = Assignment.objects.filter(organisation_id=actor_of(request).organisation_id).order_by("-pk")
        page = rows.select_related("policy", "version")[:500]
        scopes = {(row.scope_kind, row.scope_id) for row in page}
        names = {scope: scope_name_of(ScopeKind(scope[0]), scope[1]) for scope in scopes}
        results = [shapes.assignment(row, names[row.scope_kind, row.scope_id]) for row in page]
        return Response({"results": results, "next": None})

    def post(self, request: Request) -> Response:
        """201 with the assignment."""
        actor, asked = actor_of(request), wanted(request, AssignmentGiven)
        scope_id = scope_id_of(actor.organisation_id, asked.scope_kind, asked.scope)
        if scope_id is None:
            raise NoSuch(asked.scope_kind.value)
        policy = None
        if asked.policy:
            policy = policies.named(organisation_id=actor.organisation_id, slug=asked.policy, kind=asked.kind)
        version = policies.numbered(policy=policy, number=asked.version) if policy and asked.version else None
        made = assigning.assign(
            kind=asked.kind,
            scope_kind=asked.scope_kind,
            scope_id=scope_id,
            policy=policy,
            version=version,
            from_at=moment_of("from_at", asked.from_at) if asked.from_at else None,
            reason=asked.reason,
            by=actor,
            now=clock.now(),
        )
        return Response(shapes.assignment(made, scope_name_of(asked.scope_kind, scope_id)), status=201)


def _word(request: Request, name: str) -> str:
    text = request.query_params.get(name, "")
    if "\0" in text or len(text) > 200:
        raise DomainError(f"bad_{name}", f"{name} has at most 200 characters and no NUL.", pointer=name)
    return text
