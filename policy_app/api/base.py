"""What every view shares: who asks, a bounded body read strictly, one page of a list."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import msgspec
from django.conf import settings
from django.utils.module_loading import import_string
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from ecm_site.common.http import read_body
from ecm_site.common.paging import PageRequest
from ecm_site.common.problems import DomainError
from policy_app.kernel.errors import Refused
from policy_app.models import Policy, PolicyKind, ScopeKind
from policy_app.services import policies, tables
from policy_app.services.actors import Actor
from policy_app.services.refusals import NotAllowed

#: Bytes of a body; a table of 200 rules has some 100 kB.
LARGEST = 2_000_000


def actor_or_none(request: Request) -> Actor | None:
    """Who asks, as the project's other app knows it."""
    resolve: Callable[[Request, str], Actor | None] = import_string(settings.ECM_ACTOR_RESOLVER)
    return resolve(request, request.query_params.get("organisation", ""))


def actor_of(request: Request) -> Actor:
    """Who asks; `NotAllowed` for nobody of an organisation."""
    actor = actor_or_none(request)
    if actor is None:
        raise NotAllowed(Known.message)
    return actor


def scope_id_of(organisation_id: int, kind: ScopeKind, name: str) -> int | None:
    """The id of a named scope of the organisation."""
    resolve: Callable[[int, ScopeKind, str], int | None] = import_string(settings.ECM_SCOPE_RESOLVER)
    return resolve(organisation_id, kind, name)


def scope_name_of(kind: ScopeKind, scope_id: int) -> str:
    """The name of a scope."""
    name: Callable[[ScopeKind, int], str] = import_string(settings.ECM_SCOPE_NAMER)
    return name(kind, scope_id)


class Known(BasePermission):
    """Reading: members of the organisation, read and admin keys. Writing: by role, before the body is read."""

    message = "This needs a read or admin key, or a login with a role in the organisation."

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Whether the role reaches the view's need for this method."""
        actor = actor_or_none(request)
        if actor is None:
            return False
        need = getattr(view, "needs", {}).get(request.method, "read")
        return need == "read" or (actor.may_edit if need == "edit" else actor.may_approve)


class PolicyView(APIView):
    """A view of the policies; `needs` says for each method whether it asks to `read`, `edit` or `approve`."""

    permission_classes = [Known]
    parser_classes = []
    needs: Mapping[str, str] = {}
    #: Tables and pin sets have the same life; `as_view(kind=…)` says whose addresses these are.
    kind = PolicyKind.TABLE

    def policy_of(self, request: Request, slug: str) -> tuple[Policy, Actor]:
        """The policy of the caller's organisation, and the caller; or 404."""
        actor = actor_of(request)
        return policies.named(organisation_id=actor.organisation_id, slug=slug, kind=self.kind), actor

    def get_authenticators(self) -> list[BaseAuthentication]:
        """Of the setting `ECM_READER_AUTHENTICATION`: keys and logins belong to the other app."""
        return [import_string(name)() for name in settings.ECM_READER_AUTHENTICATION]


def raw_body(request: Request) -> bytes:
    """The body, bounded: 413 beyond."""
    return read_body(request._request, LARGEST, LARGEST)


def body_of(request: Request) -> object:
    """The body as JSON with exact numbers; duplicate keys and NaN are refused."""
    try:
        return tables.read_json(raw_body(request))
    except Refused as error:
        raise DomainError("bad_body", f"The body is no JSON that can be read exactly: {error}") from error


def wanted[T](request: Request, shape: type[T]) -> T:
    """The body as a msgspec Struct; 400 names the field."""
    try:
        return msgspec.convert(body_of(request), shape)
    except msgspec.ValidationError as error:
        raise DomainError("bad_body", str(error)) from error


def whole_param(request: Request, name: str) -> int | None:
    """A positive whole number of the query; None without it."""
    text = request.query_params.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and 0 < int(text[:10]) < 2**31 and len(text) <= 10):
        raise DomainError(f"bad_{name}", f"{name} is a whole number from 1.", pointer=name)
    return int(text)


def after_number(page: PageRequest) -> int:
    """The number of the last row before this page, from the cursor."""
    value = page.after[0] if page.after else None
    if not isinstance(value, int) or not 0 < value < 2**31:
        raise DomainError("bad_cursor", "cursor must come from `next` of an earlier answer.", pointer="cursor")
    return value


def moment_of(name: str, text: str) -> datetime:
    """An aware moment in ISO 8601."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise DomainError(
            f"bad_{name}", f"{name} is a time with its offset, such as 2026-12-01T12:00:00Z.", pointer=name
        )
    return moment


type Json = dict[str, Any]
