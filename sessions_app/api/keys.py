"""`POST /api/v1/keys`: keys for teams, by an administrator."""

import msgspec
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ecm_site.common import clock
from ecm_site.common.http import read_body
from ecm_site.common.problems import DomainError
from sessions_app.api.auth import READERS, AdminAccess, administered
from sessions_app.models import KeyKind, Organisation
from sessions_app.services import keys, teams

LARGEST = 16_384


class KeyRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Whose key, and what for."""

    team: str
    kind: str = KeyKind.INGEST
    developer: str = ""
    label: str = ""


class KeysView(APIView):
    """`POST /api/v1/keys {"team": slug, "kind"?: "ingest"|"read", "developer"?, "label"?}`."""

    authentication_classes = READERS
    permission_classes = [AdminAccess]
    parser_classes = []

    def post(self, request: Request) -> Response:
        """201 with the key, which is told only now; the team is made when missing."""
        wanted = _wanted(read_body(request._request, LARGEST, LARGEST))
        now = clock.now()
        organisation = _organisation(request, wanted.team)
        team = teams.ensure(organisation=organisation, slug=wanted.team, now=now)
        developer = teams.ensure_developer(team=team, identity=wanted.developer) if wanted.developer else None
        key, secret = keys.issue(kind=KeyKind(wanted.kind), now=now, team=team, developer=developer, label=wanted.label)
        return Response({"key": secret, "id": key.pk, "team": team.slug, "kind": key.kind}, status=201)


def _organisation(request: Request, slug: str) -> Organisation:
    """Of several that the caller administers, the one that has the team, else the first."""
    mine = administered(request)
    return mine.filter(teams__slug=slug).order_by("pk").first() or mine.earliest("pk")


def _wanted(body: bytes) -> KeyRequest:
    try:
        wanted = msgspec.json.decode(body, type=KeyRequest)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DomainError("bad_body", 'The body is a JSON object such as {"team": "backend"}.') from error
    if not teams.is_slug(wanted.team):
        message = "team is a slug: lower-case letters, digits, - and _, at most 50."
        raise DomainError("bad_team", message, pointer="/team")
    if wanted.kind not in (KeyKind.INGEST, KeyKind.READ):
        raise DomainError("bad_kind", "kind is ingest or read.", pointer="/kind")
    for name, longest in (("developer", 64), ("label", 120)):
        value: str = getattr(wanted, name)
        if len(value) > longest or "\0" in value:
            raise DomainError(f"bad_{name}", f"{name} has at most {longest} characters.", pointer=f"/{name}")
    return wanted
