"""What a client keeps for the moments without us, and the pins that it supplies: open to a team's own keys."""

from typing import Any, NamedTuple

import msgspec
from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from ecm_site.common import clock
from ecm_site.common.etags import tagged
from ecm_site.common.http import read_body
from ecm_site.common.problems import DomainError
from policy_app.api import shapes
from policy_app.kernel.errors import Duplicate, Refused
from policy_app.kernel.names import id_of, text_of
from policy_app.kernel.pins import LIMIT_CHARS, Pin, tier_of
from policy_app.models import Version
from policy_app.services import inforce, pinning, supplying
from policy_app.services.inforce import Scope
from policy_app.services.pinning import LivePins
from policy_app.services.refusals import NoSuch
from sessions_app.api.auth import IngestKey, KeyAuthentication, TeamKey, team_of
from sessions_app.models import Host, Project, Session
from sessions_app.services import people
from sessions_app.services.keys import KeyHolder

LARGEST = 131_072
MOST_NAME = 200


class GivenPin(msgspec.Struct, forbid_unknown_fields=True):
    """A pin as a client says it; an empty text takes it back."""

    id: str
    text: str
    why: str = "supplied by the client"
    tier: str = "T1"


class Supply(msgspec.Struct, forbid_unknown_fields=True):
    """Pins of a session (a host's id) or of a project (by name)."""

    pins: list[GivenPin]
    session: str = ""
    host: str = Host.CLAUDE_CODE.value
    project: str = ""


class _Given(NamedTuple):
    pins: list[Pin]
    withdrawn: list[str]


class LivePinsView(APIView):
    """`GET /api/v1/pins/live?host=&project=&session=`: what comes back after a compaction, word for word."""

    authentication_classes = [KeyAuthentication]
    permission_classes = [TeamKey]

    def get(self, request: Request) -> HttpResponse:
        """The pins in force with both texts; 304 for the ETag that the caller has; 404 without any set."""
        scope, key = _asked(request)
        live = pinning.live_pins(scope=scope, session_key=key, now=clock.now())
        if live is None:
            raise NoSuch("pin set in force")
        return tagged(request._request, live.digest, lambda: Response(told(live)))


class LivePolicyView(APIView):
    """`GET /api/v1/policies/live?host=&project=&session=`: the table in force for the key's team, or a part of it."""

    authentication_classes = [KeyAuthentication]
    permission_classes = [TeamKey]

    def get(self, request: Request) -> HttpResponse:
        """The version with its table, as `…/policies/SLUG/live`; 304 for the ETag that the caller has."""
        scope, _ = _asked(request)
        live = inforce.live_table(scope=scope, now=clock.now())
        if live is None:
            raise NoSuch("policy in force")
        tag = f"{live.version_id}-{live.digest}"
        return tagged(request._request, tag, lambda: _version(live.policy, live.version_id))


class SuppliedPinsView(APIView):
    """`POST /api/v1/pins {"session": ID, "host"?} or {"project": NAME}, "pins": [{"id", "text", "why"?, "tier"?}]`."""

    authentication_classes = [KeyAuthentication]
    permission_classes = [IngestKey]
    parser_classes = []

    def post(self, request: Request) -> Response:
        """The pins that are in force now for that session or project, as `GET …/pins/live`."""
        asked = _wanted(read_body(request._request, LARGEST, LARGEST))
        if bool(asked.session) == bool(asked.project):
            raise supplying.NoTarget
        holder = team_of(request)
        host, session = _host(asked.host), _name("session", asked.session)
        if project := _name("project", asked.project):
            people.project_of(_team(holder), project, strong=False)
        given = _given(asked.pins)
        scope, key, now = _scope(holder, project, host, session), _key(host, session), clock.now()
        supplying.supply(
            scope=scope,
            session_key=key,
            pins=given.pins,
            withdrawn=given.withdrawn,
            by_name=holder.developer or f"key {holder.key_id}",
            now=now,
        )
        live = pinning.live_pins(scope=scope, session_key=key, now=now)
        return Response(told(live) if live else {"pin_set": None, "pins": []})


def told(live: LivePins) -> dict[str, Any]:
    """The pins in force as a client keeps them."""
    return {
        "digest": live.digest,
        "pin_set": {"slug": live.slug, "number": live.number},
        "pins": [
            {"id": pin.id, "tier": pin.tier, "source": pin.source, "text": pin.text, "sha256": pin.sha256}
            for pin in live.pins
        ],
        "restore_text": live.restore_text,
        "before_text": live.before_text,
        "limit_chars": LIMIT_CHARS,
        "left_out": list(live.left_out),
    }


def _version(slug: str, version_id: int) -> Response:
    version = Version.objects.select_related("policy", "reverts", "provisional").get(pk=version_id)
    return Response({"policy": slug, **shapes.version_with_content(version, version.policy)})


def _asked(request: Request) -> tuple[Scope, str | None]:
    """Where the caller asks from, and its session if it names one."""
    asked = request.query_params
    host, session = _host(asked.get("host", "") or Host.CLAUDE_CODE), _name("session", asked.get("session", ""))
    scope = _scope(team_of(request), _name("project", asked.get("project", "")), host, session)
    return scope, _key(host, session)


def _scope(holder: KeyHolder, project: str, host: str, session: str) -> Scope:
    """The project of the session where that is known, else the named one.

    A client knows a project by its folder; of the session we may know the git remote, and that decides for verdicts.
    """
    team_id, found = _team(holder), None
    if session:
        mine = Session.objects.filter(team=team_id, host=host, host_session_id=session)
        found = mine.values_list("project", flat=True).first()
    if found is None and project:
        found = Project.objects.filter(team=team_id, name=project).values_list("pk", flat=True).first()
    return Scope(holder.organisation_id, team_id, found)


def _team(holder: KeyHolder) -> int:
    return holder.team_id or 0


def _key(host: str, session: str) -> str | None:
    return pinning.session_key(host=host, session=session) if session else None


def _host(text: str) -> str:
    if text not in Host.values:
        raise DomainError("bad_host", f"host is one of {', '.join(Host.values)}.", pointer="host")
    return text


def _name(field: str, text: str) -> str:
    try:
        return text_of(field, text, most=MOST_NAME, empty=True)
    except Refused as error:
        raise DomainError(f"bad_{field}", str(error), pointer=field) from error


def _wanted(body: bytes) -> Supply:
    try:
        return msgspec.json.decode(body, type=Supply)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise DomainError(
            "bad_body", f"The body is a JSON object with pins and a session or project: {error}"
        ) from error


def _given(told: list[GivenPin]) -> _Given:
    pins: list[Pin] = []
    withdrawn: list[str] = []
    for index, each in enumerate(told):
        try:
            if (name := id_of("id", each.id)) in (*withdrawn, *(pin.id for pin in pins)):
                raise Duplicate("id", name, "must be there once")
            if each.text:
                pins.append(Pin(name, each.text, each.why, tier_of(each.tier)))
            else:
                withdrawn.append(name)
        except Refused as error:
            pointer = f"/pins/{index}/{error.field}"
            raise DomainError("bad_pin", str(error), pointer=pointer, reason=error.code) from error
    return _Given(pins, withdrawn)
