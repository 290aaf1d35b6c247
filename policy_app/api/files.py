"""`…/export` and `…/import`: policies as files."""

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from ecm_site.common import clock
from ecm_site.common.problems import DomainError
from policy_app.api import shapes
from policy_app.api.base import PolicyView, raw_body, whole_param
from policy_app.models import PolicyKind
from policy_app.services import auditing, interchange, policies


class ExportView(PolicyView):
    """`GET …/export[?version=N][&as=json|yaml]`: the canonical content, or ECM's `policy.yaml`."""

    def get(self, request: Request, slug: str) -> HttpResponse:
        """The file, named after policy and version."""
        policy, _ = self.policy_of(request, slug)
        version = policies.numbered(policy=policy, number=whole_param(request, "version"))
        kind = request.query_params.get("as", "json")
        # ECM's file of pins has no place for their texts.
        offered = ("json", "yaml") if self.kind is PolicyKind.TABLE else ("json",)
        if kind not in offered:
            raise DomainError("bad_as", f"as is {' or '.join(offered)}.", pointer="as")
        text = version.content if kind == "json" else interchange.export_yaml(version=version)
        name = auditing.chain_name(policy).replace("/", "-")
        response = HttpResponse(text, content_type=f"application/{kind}")
        response.headers["Content-Disposition"] = f'attachment; filename="{name}-v{version.number}.{kind}"'
        return response


class ImportView(PolicyView):
    """`POST …/import[?title=][&reason=][&check=1]`: a file as the body; JSON, or YAML by its Content-Type."""

    needs = {"POST": "edit"}

    def post(self, request: Request, slug: str) -> Response:
        """201 with the draft, 200 without one for `check`: {"draft", "remarks", "pins"}."""
        policy, actor = self.policy_of(request, slug)
        asked = request.query_params
        file = interchange.read(source=raw_body(request), is_yaml="yaml" in request.headers.get("Content-Type", ""))
        told = {"remarks": [interchange.remark_document(each) for each in file.remarks], "pins": list(file.pins)}
        if asked.get("check") == "1":
            return Response({"draft": None, **told})
        draft = interchange.import_draft(
            policy=policy,
            file=file,
            title=asked.get("title", "") or "Imported file",
            reason=asked.get("reason", ""),
            by=actor,
            now=clock.now(),
        )
        return Response({"draft": shapes.draft_with_content(draft, actor), **told}, status=201)
