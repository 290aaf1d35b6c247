"""`GET /api/v1/…`: figures for scripts. Every answer takes a fixed number of queries."""

from typing import Any

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.http import Http404
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ecm_site.common import paging
from ecm_site.common.problems import DomainError
from sessions_app.api import params, shapes
from sessions_app.api.auth import READERS, AnyKey, ReadAccess, visible_teams
from sessions_app.api.totals import GROUPS, totals
from sessions_app.feeds.husk_strings import kept_id
from sessions_app.models import Call, Host, Session
from sessions_app.services import living
from sessions_app.services.folding import MOST_FAILURES

MOST_GROUPS = 10_000


class LagView(APIView):
    """`GET /api/v1/lag`: how many sessions wait for a fold, and how many were given up until news come."""

    authentication_classes = READERS
    permission_classes = [AnyKey]

    def get(self, request: Request) -> Response:
        """{"dirty_sessions": n, "parked_sessions": n} of the caller's teams."""
        waiting = Session.objects.dirty().filter(team__in=visible_teams(request))
        parked = waiting.filter(fold_failures__gte=MOST_FAILURES).count()
        return Response({"dirty_sessions": waiting.count() - parked, "parked_sessions": parked})


class SessionsView(APIView):
    """`GET /api/v1/sessions?host=&host_session_id=&team=&limit=&cursor=`: the newest first."""

    authentication_classes = READERS
    permission_classes = [ReadAccess]

    def get(self, request: Request) -> Response:
        """One page of sessions (docs/schemas/sessions.schema.json)."""
        asked = paging.page_request(request._request)
        rows = _ordered(_sessions(request, params.teams(request, visible_teams(request))), asked.after)
        page = list(rows[: asked.limit + 1])
        last = page[asked.limit - 1] if len(page) > asked.limit else None
        page = page[: asked.limit]
        parts = shapes.parts_of([row.pk for row in page])
        after = None if last is None else ((last.last_at or last.created_at).isoformat(), last.pk)
        return Response(
            {
                "results": [shapes.session(row, parts) for row in page],
                "next": paging.next_address(request._request, after),
            }
        )


def _sessions(request: Request, teams: QuerySet[Any]) -> QuerySet[Session]:
    rows = Session.objects.filter(team__in=teams).select_related("team", "project")
    if host := params.choice(request, "host", tuple(Host.values)):
        rows = rows.filter(host=host)
    if name := params.text(request, "host_session_id"):
        rows = rows.filter(host_session_id=kept_id(name))
    return rows


def _ordered(rows: QuerySet[Session], after: tuple[str | int, ...] | None) -> QuerySet[Session]:
    rows = rows.annotate(sign_at=Coalesce("last_at", "created_at")).order_by(F("sign_at").desc(), "-pk")
    if after is None:
        return rows
    match after:
        case (str(at), int(pk)):
            moment = params.moment_of(at)
        case _:
            moment = None
    if moment is None:
        raise DomainError("bad_cursor", "cursor must come from `next` of an earlier answer.", pointer="cursor")
    return rows.filter(Q(sign_at__lt=moment) | Q(sign_at=moment, pk__lt=pk))


class SessionView(APIView):
    """`GET /api/v1/sessions/ID`: one session with its calls."""

    authentication_classes = READERS
    permission_classes = [ReadAccess]

    def get(self, request: Request, session_id: int) -> Response:
        """The session as in the list, `live` (what is known now) and `call_entries` in order."""
        rows = Session.objects.filter(team__in=visible_teams(request))
        row = rows.select_related("team", "project").filter(pk=session_id).first()
        if row is None:
            raise Http404
        calls = Call.objects.filter(session=row).order_by("number", "pk")
        live = shapes.live(row, living.now_of(row), calls)
        parts = shapes.parts_of([row.pk])
        answer = {**shapes.session(row, parts), "live": live, "zone_spans": shapes.zone_spans(row, parts, calls)}
        return Response({**answer, "call_entries": [*map(shapes.call, calls)]})


class TotalsView(APIView):
    """`GET /api/v1/totals?since=&until=&team=&tz=&group_by=&limit=&cursor=`."""

    authentication_classes = READERS
    permission_classes = [ReadAccess]

    def get(self, request: Request) -> Response:
        """Groups of the asked stretch, with the bounds that were used (docs/schemas/totals.schema.json)."""
        group_by = params.choice(request, "group_by", GROUPS)
        tz = params.zone(request)
        span = params.span(request, tz)
        asked = paging.page_request(request._request, default=500, most=MOST_GROUPS)
        start = _start(asked.after)
        rows = totals(params.teams(request, visible_teams(request)), span, group_by, tz)
        end = start + asked.limit
        return Response(
            {
                "results": rows[start:end],
                "next": paging.next_address(request._request, (end,) if end < len(rows) else None),
                "since": shapes.moment(span.since),
                "until": shapes.moment(span.until),
                "tz": tz.key,
                "group_by": group_by or None,
            }
        )


def _start(after: tuple[str | int, ...] | None) -> int:
    match after:
        case None:
            return 0
        case (int(position),) if 0 <= position < 1 << 31:
            return position
    raise DomainError("bad_cursor", "cursor must come from `next` of an earlier answer.", pointer="cursor")
