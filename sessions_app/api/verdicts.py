"""`GET /api/v1/verdicts/ID`, `GET /api/v1/sessions/ID/verdicts`, `POST …/mute`, `POST /api/v1/externalize`."""

from datetime import datetime
from typing import Any

from django.http import Http404, HttpResponse
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ecm_site.common import clock, paging
from ecm_site.common.http import read_body
from ecm_site.common.problems import DomainError
from sessions_app.api.auth import READERS, AnyKey, ReadAccess, holder_of, visible_teams
from sessions_app.api.ingest import MIB, IngestView
from sessions_app.api.shapes import moment
from sessions_app.feeds import canonical
from sessions_app.feeds.base import Refused
from sessions_app.feeds.lines import decode, encode
from sessions_app.models import KeyKind, Session, Verdict
from sessions_app.services import muting, verdicts

_AS_THEY_ARE = (
    "thread",
    "event",
    "policy",
    "number",
    "digest",
    "pins_digest",
    "drill",
    "signals",
    "origins",
    "trace",
    "rule",
    "operation",
    "raw_operation",
    "zone",
    "addressees",
    "said_to",
    "silence",
    "to_model",
    "to_human",
    "injected_tokens",
    "adherence",
    "adherence_calls",
)


def verdict(row: Verdict) -> dict[str, Any]:
    """One verdict as it was stored (docs/schemas/verdict.schema.json)."""
    return {
        "id": row.public_id,
        "session": row.session_id,
        "at": moment(row.at),
        "latency_us": row.latency_us,
        "version": row.version_id,
        **{name: getattr(row, name) for name in _AS_THEY_ARE},
        "printed_at": moment(row.printed_at),
    }


class VerdictView(APIView):
    """`GET /api/v1/verdicts/ID`: one verdict, and whether it comes out the same today."""

    authentication_classes = READERS
    permission_classes = [ReadAccess]

    def get(self, request: Request, public_id: str) -> Response:
        """The verdict with {"rederived": {"equal", "differing"}}."""
        rows = Verdict.objects.filter(session__team__in=visible_teams(request)).select_related("version")
        row = rows.filter(public_id=public_id).first()
        if row is None:
            raise Http404
        again = verdicts.rederive(row)
        return Response({**verdict(row), "rederived": {"equal": again.is_equal, "differing": list(again.differing)}})


class SessionVerdictsView(APIView):
    """`GET /api/v1/sessions/ID/verdicts?limit=&cursor=`: a session's verdicts, the newest first."""

    authentication_classes = READERS
    permission_classes = [ReadAccess]

    def get(self, request: Request, session_id: int) -> Response:
        """{"results": […], "next"}."""
        if not Session.objects.filter(team__in=visible_teams(request), pk=session_id).exists():
            raise Http404
        asked = paging.page_request(request._request)
        rows = Verdict.objects.filter(session=session_id).order_by("-pk")
        match asked.after:
            case None:
                pass
            case (int(pk),):
                rows = rows.filter(pk__lt=pk)
            case _:
                raise DomainError("bad_cursor", "cursor must come from `next` of an earlier answer.", pointer="cursor")
        page = list(rows[: asked.limit + 1])
        after = (page[asked.limit - 1].pk,) if len(page) > asked.limit else None
        results = [verdict(row) for row in page[: asked.limit]]
        return Response({"results": results, "next": paging.next_address(request._request, after)})


class MuteView(APIView):
    """`POST /api/v1/sessions/ID/mute` `{"muted": true|false}`: an ingest or admin key, or a login."""

    authentication_classes = READERS
    permission_classes = [AnyKey]
    parser_classes = []

    def post(self, request: Request, session_id: int) -> Response:
        """{"muted"} as it is now. Pins still come back in a muted session."""
        holder = holder_of(request)
        if holder is not None and holder.kind == KeyKind.READ:
            raise PermissionDenied("A read key cannot mute.")
        session = Session.objects.filter(team__in=visible_teams(request), pk=session_id).first()
        if session is None:
            raise Http404
        muted = _object(read_body(request._request, 1_000, 1_000)).get("muted")
        if not isinstance(muted, bool):
            raise DomainError("not_a_flag", "muted must be true or false", pointer="/muted")
        muting.mute(session=session, muted=muted, now=clock.now())
        return Response({"muted": session.muted_at is not None})


class ExternalizeView(IngestView):
    """`POST /api/v1/externalize`: exact specifics were written to durable memory; `{"session", "host"?, "sink"?, …}`.

    The same as a record `externalize` of the own format.
    """

    feed = canonical.FEED
    limit = inflated_limit = 1 * MIB
    status = 202

    def take(self, request: Request, body: bytes, now: datetime) -> HttpResponse:
        """Store the mark; a receipt is the answer."""
        record = {**_object(body), "type": "externalize"}
        return super().take(request, encode(record), now)


def _object(body: bytes) -> dict[str, Any]:
    try:
        told, _ = decode(body)
    except Refused as refused:
        raise DomainError(refused.code, refused.message, 400, pointer=refused.pointer) from None
    if not isinstance(told, dict):
        raise DomainError("not_an_object", "the body must be a JSON object", 400)
    return told
