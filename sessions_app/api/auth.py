"""Who asks: a bearer key or a signed-in person; and what each may do."""

import hashlib
import re
from typing import cast

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from sessions_app.models import KeyKind, Organisation, Role, Team
from sessions_app.services import keys
from sessions_app.services.ingest import Sender
from sessions_app.services.keys import KeyHolder

#: By which a client tells its machines apart: the first 12 hex digits of the SHA-256 of a name.
MACHINE_HEADER = "X-ECM-Machine"
_SHORT_HASH = re.compile(r"[0-9a-f]{12}")


class KeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer KEY`; `request.auth` becomes the KeyHolder, the user stays anonymous."""

    def authenticate(self, request: Request) -> tuple[AnonymousUser, KeyHolder] | None:
        """The holder; None without a bearer key; 401 for a key that nobody holds."""
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        holder = keys.authenticate(secret.strip())
        if holder is None:
            raise AuthenticationFailed("This key is unknown or was revoked.", code="bad_key")
        return AnonymousUser(), holder

    def authenticate_header(self, request: Request) -> str:
        """What a 401 asks for."""
        return 'Bearer realm="ecm"'


class LoginAuthentication(SessionAuthentication):
    """A signed-in person; anything but reading needs a CSRF token."""

    def enforce_csrf(self, request: Request) -> None:
        """Check Django's own request: the framework's would parse the body, which views read themselves."""
        super().enforce_csrf(cast(Request, request._request))


#: Of views that scripts and people read.
READERS = [KeyAuthentication, LoginAuthentication]


def holder_of(request: Request) -> KeyHolder | None:
    """The key's holder; None for a signed-in person."""
    return request.auth if isinstance(request.auth, KeyHolder) else None


class IngestKey(BasePermission):
    """A key that may write for one team."""

    message = "Delivering needs an ingest key of a team."

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Ingest keys, and admin keys that are bound to a team."""
        holder = holder_of(request)
        return holder is not None and holder.kind != KeyKind.READ and holder.team_id is not None


class TeamKey(BasePermission):
    """Any key of a team: for what its machines work by."""

    message = "This needs a key of a team."

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Keys of a whole organisation belong to no team."""
        holder = holder_of(request)
        return holder is not None and holder.team_id is not None


def team_of(request: Request) -> KeyHolder:
    """The holder of a key that TeamKey or IngestKey let in."""
    holder = holder_of(request)
    if holder is None or holder.team_id is None:
        raise PermissionDenied(TeamKey.message)
    return holder


def writer_of(request: Request) -> tuple[int, str | None]:
    """Team id and developer of a caller that IngestKey let in."""
    holder = holder_of(request)
    if holder is None or holder.team_id is None:
        raise PermissionDenied(IngestKey.message)
    return holder.team_id, holder.developer


def sender_of(request: Request) -> Sender:
    """On whose behalf a caller that IngestKey let in delivers, and from which machine it says."""
    return Sender(*writer_of(request), machine=machine_of(request.headers.get(MACHINE_HEADER, "")))


def machine_of(told: str) -> str:
    """A machine's short hash as clients make it; of anything else (a name?) only a hash is kept."""
    if not told or _SHORT_HASH.fullmatch(told):
        return told
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:12]


class AnyKey(BasePermission):
    """Any key or any signed-in person: for answers that tell nothing about sessions."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """All but strangers."""
        return holder_of(request) is not None or request.user.is_authenticated


class ReadAccess(BasePermission):
    """A read or admin key, or a signed-in person."""

    message = "Reading needs a read or admin key, or a login. Ingest keys only write."

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Everybody known but ingest keys."""
        holder = holder_of(request)
        if holder is not None:
            return holder.kind != KeyKind.INGEST
        return request.user.is_authenticated


class AdminAccess(BasePermission):
    """An admin key, or an administrator of a whole organisation."""

    message = "This needs an admin key, or the login of an organisation's administrator."

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Whether there is an organisation that the caller may administer."""
        return administered(request).exists()


def administered(request: Request) -> QuerySet[Organisation]:
    """Organisations that the caller may administer."""
    holder = holder_of(request)
    if holder is not None:
        mine = Organisation.objects.filter(pk=holder.organisation_id)
        return mine if holder.kind == KeyKind.ADMIN else mine.none()
    if not request.user.is_authenticated:
        return Organisation.objects.none()
    return Organisation.objects.filter(
        memberships__user_id=request.user.pk, memberships__team=None, memberships__role=Role.ADMIN
    ).distinct()


def visible_teams(request: Request) -> QuerySet[Team]:
    """Teams whose figures concern the caller: the key's team, its organisation, or the person's teams."""
    holder = holder_of(request)
    if holder is None:
        return Team.objects.for_user(request.user)
    if holder.kind == KeyKind.ADMIN:
        return Team.objects.filter(organisation_id=holder.organisation_id)
    return Team.objects.filter(pk=holder.team_id or 0)
