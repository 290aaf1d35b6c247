"""`/api/v1/prices` and `/api/v1/markers`."""

from dataclasses import fields
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ecm_site.common import clock
from ecm_site.common.http import read_body
from ecm_site.common.problems import DomainError
from sessions_app.api import params, shapes
from sessions_app.api.auth import READERS, AdminAccess, AnyKey, IngestKey, ReadAccess, holder_of, visible_teams
from sessions_app.kernel import names
from sessions_app.kernel.pricing import Price
from sessions_app.models import KeyKind, Marker, PriceRow, Project, Role, Team
from sessions_app.services import marking, pricing_rows

LARGEST = 16_384
MOST_ROWS = 1_000
_MONEY = (*pricing_rows.RATES, "fast_multiplier", "web_search_usd")
_PLAIN = ("id", "model", "provider", "above_tokens", "window", "min_prefix", "hours", "source", "revision", "added_by")


class PriceBody(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A row to add; money in USD per million tokens, as decimal text so that nothing is rounded."""

    model: str
    valid_from: datetime
    input: Decimal
    output: Decimal
    source: str
    provider: str = ""
    valid_to: datetime | None = None
    cache_read: Decimal | None = None
    cache_write_5m: Decimal | None = None
    cache_write_1h: Decimal | None = None
    above_tokens: int | None = None
    above_input: Decimal | None = None
    above_output: Decimal | None = None
    above_cache_read: Decimal | None = None
    above_cache_write_5m: Decimal | None = None
    above_cache_write_1h: Decimal | None = None
    fast_multiplier: Decimal | None = None
    web_search_usd: Decimal | None = None
    window: int | None = None
    min_prefix: int | None = None
    hours: str = ""


class PricesView(APIView):
    """`GET /api/v1/prices?model=` for whoever reads; `POST` a new row by administrators."""

    authentication_classes = READERS
    parser_classes = []

    def get_permissions(self) -> list[Any]:
        """Reading and adding are for different people."""
        return [AdminAccess() if self.request.method == "POST" else ReadAccess()]

    def get(self, request: Request) -> Response:
        """Rows by model and day, the newest first; at most 1,000."""
        rows = PriceRow.objects.order_by("model", "-valid_from", "-revision")
        if model := params.text(request, "model"):
            rows = rows.filter(model__in=names.spellings(model))
        return Response({"results": [_row(row) for row in rows[:MOST_ROWS]]})

    def post(self, request: Request) -> Response:
        """201 with the row. Calls that it concerns are priced again in the background and keep the former figure."""
        body = decoded(request, PriceBody, "model, valid_from, input, output and source; money as decimal text")
        values = {f.name: getattr(body, f.name) for f in fields(Price) if hasattr(body, f.name)}
        run = pricing_rows.add(price=Price(**values), source=body.source, by=_name(request), now=clock.now())
        return Response({**_row(run.price_row), "repricing": run.pk}, status=201)


def _row(row: PriceRow) -> dict[str, Any]:
    return {
        **{name: getattr(row, name) for name in _PLAIN},
        **{name: shapes.usd(getattr(row, name)) for name in _MONEY},
        "valid_from": shapes.moment(row.valid_from),
        "valid_to": shapes.moment(row.valid_to),
        "checked_at": row.checked_at.isoformat() if row.checked_at else None,
        "added_at": shapes.moment(row.added_at),
    }


class MarkerBody(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A moment to compare before and after; without `at` it is now."""

    title: str
    kind: str = "note"
    at: datetime | None = None
    team: str = ""
    project: str = ""


class MarkersView(APIView):
    """`GET /api/v1/markers`, and `POST` one by a key of the team (deployments set them) or an editor."""

    authentication_classes = READERS
    permission_classes = [AnyKey]
    parser_classes = []

    def get(self, request: Request) -> Response:
        """The newest 100 of the teams that may be read."""
        if not ReadAccess().has_permission(request, self):
            self.permission_denied(request, message=ReadAccess.message)
        rows = Marker.objects.filter(team__in=params.teams(request, visible_teams(request)))
        rows = rows.select_related("team", "project").order_by("-at", "-pk")[:100]
        return Response({"results": [_marker(row) for row in rows]})

    def post(self, request: Request) -> Response:
        """201 for a new marker, 200 for one that was told already."""
        body = decoded(request, MarkerBody, 'an object such as {"title": "gateway 1.9"}')
        team = self._team(request, body.team)
        project = None
        if body.project:
            project = Project.objects.filter(team=team, name=body.project[:300].replace("\0", "")).first()
            if project is None:
                raise DomainError("bad_project", "project is the name of a project of the team.", pointer="/project")
        now = clock.now()
        at = body.at if body.at and body.at.tzinfo else now
        marker, is_new = marking.mark(
            team=team, at=at, kind=body.kind, title=body.title, project=project, by=_name(request), now=now
        )
        return Response(_marker(marker), status=201 if is_new else 200)

    def _team(self, request: Request, slug: str) -> Team:
        """The key's own team; administrators and editors name one."""
        holder = holder_of(request)
        if holder is not None and IngestKey().has_permission(request, self):
            return Team.objects.get(pk=holder.team_id or 0)
        if holder is not None and holder.kind != KeyKind.ADMIN:
            self.permission_denied(request, message="Setting a marker needs an ingest or admin key, or an editor.")
        mine = visible_teams(request) if holder is not None else Team.objects.for_user(request.user, Role.EDITOR)
        if not mine.exists():
            self.permission_denied(request, message="Setting a marker needs the role of an editor.")
        team = mine.filter(slug=slug.replace("\0", "")).first()
        if team is None:
            raise DomainError("bad_team", "team is the slug of a team of yours.", pointer="/team")
        return team


def _marker(row: Marker) -> dict[str, Any]:
    return {
        "id": row.pk,
        "team": row.team.slug,
        "project": row.project.name if row.project else None,
        "at": shapes.moment(row.at),
        "kind": row.kind,
        "title": row.title,
        "automatic": not row.made_by,
    }


def _name(request: Request) -> str:
    holder = holder_of(request)
    return f"key {holder.key_id}" if holder is not None else request.user.get_username()


def decoded[T: msgspec.Struct](request: Request, kind: type[T], what: str) -> T:
    try:
        return msgspec.json.decode(read_body(request._request, LARGEST, LARGEST), type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DomainError("bad_body", f"The body is {what}.") from error
