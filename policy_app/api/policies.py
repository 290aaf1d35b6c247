"""`/api/v1/policies…` and `/pin-sets…`: policies, their versions, what is live; and verdicts of tables."""

from typing import Any

import msgspec
from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from ecm_site.common import clock, paging
from ecm_site.common.etags import tagged
from ecm_site.common.problems import DomainError
from policy_app.api import shapes
from policy_app.api.base import Json, PolicyView, actor_of, after_number, body_of, wanted, whole_param
from policy_app.kernel.errors import Refused
from policy_app.kernel.evaluate import evaluate
from policy_app.kernel.meters import signals_of
from policy_app.kernel.signals import Signals
from policy_app.models import Policy, PolicyKind, Version
from policy_app.services import blaming, contents, evidence, findings, policies, publishing, tables
from policy_app.services.actors import Actor

#: Situations of one request.
MOST_SITUATIONS = 2_000


class NewPolicy(msgspec.Struct, forbid_unknown_fields=True):
    """A policy to make."""

    slug: str
    name: str
    reason: str
    four_eyes: bool = True


class Settings(msgspec.Struct, forbid_unknown_fields=True):
    """Settings to change."""

    four_eyes: bool
    reason: str


class Reversal(msgspec.Struct, forbid_unknown_fields=True):
    """Which version to bring back."""

    version: int
    reason: str


class Settlement(msgspec.Struct, forbid_unknown_fields=True):
    """What came of a provisional version."""

    outcome: str


class PoliciesView(PolicyView):
    """`GET`: all policies. `POST {slug, name, reason, four_eyes?}`: one more, without versions."""

    needs = {"POST": "approve"}

    def get(self, request: Request) -> Response:
        """{"results": [policy with its live version], "next": null}."""
        rows = Policy.objects.of(actor_of(request).organisation_id, self.kind).order_by("slug")
        newest = Version.objects.filter(policy__in=rows).order_by("policy", "-number").distinct("policy")
        live = {each.policy_id: each for each in newest.select_related("reverts", "provisional")}
        return Response({"results": [shapes.policy(row, live.get(row.pk)) for row in rows], "next": None})

    def post(self, request: Request) -> Response:
        """201 with the policy."""
        asked = wanted(request, NewPolicy)
        made = policies.create(
            slug=asked.slug,
            name=asked.name,
            four_eyes=asked.four_eyes,
            reason=asked.reason,
            by=actor_of(request),
            now=clock.now(),
            kind=self.kind,
        )
        return Response(shapes.policy(made, None), status=201)


class OnePolicyView(PolicyView):
    """`GET`: a policy, its rules’ age, findings, unfit arguments. `PATCH {four_eyes, reason}`."""

    needs = {"PATCH": "approve"}

    def get(self, request: Request, slug: str) -> Response:
        """The policy with `blame`, `findings` and `arguments_that_no_longer_match`."""
        policy, actor = self.policy_of(request, slug)
        return Response(_told(policy, actor))

    def patch(self, request: Request, slug: str) -> Response:
        """The policy as changed."""
        policy, actor = self.policy_of(request, slug)
        asked = wanted(request, Settings)
        now = clock.now()
        policies.set_four_eyes(policy=policy, wanted=asked.four_eyes, reason=asked.reason, by=actor, now=now)
        return Response(_told(policy, actor))


def _told(policy: Policy, actor: Actor) -> Json:
    live = Version.objects.select_related("reverts").live(policy.pk)
    found = findings.findings_of(policy=policy, content=live.content, now=clock.now()) if live else ()
    told = {
        **shapes.policy(policy, live),
        "blame": [shapes.blame(each) for each in blaming.blame(policy=policy)],
        "findings": [tables.finding_document(each) for each in found],
    }
    if policy.kind != PolicyKind.TABLE:
        return told
    unfit = evidence.mismatches(organisation_id=actor.organisation_id, content=live.content) if live else []
    return {**told, "arguments_that_no_longer_match": [shapes.mismatch(each) for each in unfit]}


class VersionsView(PolicyView):
    """`GET …/versions`: the newest first."""

    def get(self, request: Request, slug: str) -> Response:
        """One page of versions without their tables."""
        policy, _ = self.policy_of(request, slug)
        asked = paging.page_request(request._request)
        rows = Version.objects.filter(policy=policy).select_related("reverts", "provisional").order_by("-number")
        if asked.after:
            rows = rows.filter(number__lt=after_number(asked))
        page = list(rows[: asked.limit + 1])
        last = (page[asked.limit - 1].number,) if len(page) > asked.limit else None
        return Response(
            {
                "results": [shapes.version(row) for row in page[: asked.limit]],
                "next": paging.next_address(request._request, last),
            }
        )


class VersionView(PolicyView):
    """`GET …/versions/N[?against=M]`: a version with its table, and what it changes on M (the one before)."""

    def get(self, request: Request, slug: str, number: int) -> Response:
        """The version, `table` and `diff`."""
        policy, _ = self.policy_of(request, slug)
        version = policies.numbered(policy=policy, number=number)
        against = whole_param(request, "against") or number - 1
        diff = []
        if against:
            diff = contents.of(policy).differences(
                policies.numbered(policy=policy, number=against).content, version.content
            )
        return Response({**shapes.version_with_content(version, policy), "against": against or None, "diff": diff})


class SettleView(PolicyView):
    """`POST …/versions/N/settle {outcome}`: end the provisional state."""

    needs = {"POST": "approve"}

    def post(self, request: Request, slug: str, number: int) -> Response:
        """The version."""
        policy, actor = self.policy_of(request, slug)
        outcome = wanted(request, Settlement).outcome
        version = policies.numbered(policy=policy, number=number)
        publishing.settle(version=version, outcome=outcome, by=actor, now=clock.now())
        return Response(shapes.version(policies.numbered(policy=policy, number=number)))


class RevertView(PolicyView):
    """`POST …/revert {version, reason}`: a new version with the content of an old one."""

    needs = {"POST": "approve"}

    def post(self, request: Request, slug: str) -> Response:
        """201 with the new version."""
        policy, actor = self.policy_of(request, slug)
        asked = wanted(request, Reversal)
        made = publishing.revert(policy=policy, number=asked.version, reason=asked.reason, by=actor, now=clock.now())
        return Response(shapes.version(made), status=201)


class LiveView(PolicyView):
    """`GET …/live`: the live version with its table; 304 for the ETag that the caller has."""

    def get(self, request: Request, slug: str) -> HttpResponse:
        """The version; the ETag is its chain, which differs between versions of equal content."""
        policy, _ = self.policy_of(request, slug)
        version = policies.numbered(policy=policy, number=None)
        return tagged(
            request._request,
            version.chain,
            lambda: Response({"policy": policy.slug, **shapes.version_with_content(version, policy)}),
        )


class EvaluateView(PolicyView):
    """`POST …/evaluate[?version=N]`: verdicts for a list of `{"meter": …, "subagent"?}` or `{"signals": …}`."""

    def post(self, request: Request, slug: str) -> Response:
        """{"policy", "version", "digest", "results": [verdict with its trace]}, in the order of the request."""
        policy, _ = self.policy_of(request, slug)
        version = policies.numbered(policy=policy, number=whole_param(request, "version"))
        table = tables.parsed(version.content)
        results = [
            shapes.verdict(evaluate(table, signals, subagent=subagent)) for signals, subagent in _situations(request)
        ]
        return Response(
            {"policy": policy.slug, "version": version.number, "digest": version.digest, "results": results}
        )


def _situations(request: Request) -> list[tuple[Signals, bool]]:
    body = body_of(request)
    if not isinstance(body, list) or len(body) > MOST_SITUATIONS:
        raise DomainError("bad_body", f"The body is a list of at most {MOST_SITUATIONS} situations.")
    return [_situation(index, each) for index, each in enumerate(body)]


def _situation(index: int, raw: Any) -> tuple[Signals, bool]:
    wrong = DomainError(
        "bad_situation",
        'A situation is {"meter": …} or {"signals": …}, each with "subagent": true or false if wanted.',
        pointer=f"/{index}",
    )
    if (
        not isinstance(raw, dict)
        or not set(raw) <= {"meter", "signals", "subagent"}
        or ("meter" in raw) == ("signals" in raw)
    ):
        raise wrong
    subagent = raw.get("subagent", False)
    if not isinstance(subagent, bool) or not isinstance(raw.get("signals", {}), dict):
        raise wrong
    try:
        signals = signals_of(raw["meter"]) if "meter" in raw else Signals.of(raw["signals"])
    except Refused as error:
        raise DomainError("bad_signals", str(error), pointer=f"/{index}/{error.field}", reason=error.code) from error
    return signals, subagent
