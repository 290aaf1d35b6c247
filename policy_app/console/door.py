"""Who is at the door of a page, and what the services' refusals become there."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import wraps

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.module_loading import import_string
from django.views.decorators.cache import cache_control
from django.views.decorators.vary import vary_on_cookie

from ecm_site.common.problems import DomainError
from policy_app.models import ScopeKind
from policy_app.services.actors import Actor
from policy_app.services.refusals import NoSuch, NotAllowed

type View = Callable[..., HttpResponse]


def for_members(view: View) -> View:
    """Signed in only; what is not there is 404, what the role does not reach is 403."""

    @wraps(view)
    def guarded(request: HttpRequest, **places: object) -> HttpResponse:
        try:
            return view(request, **places)
        except NoSuch as error:
            raise Http404 from error
        except NotAllowed as error:
            raise PermissionDenied from error

    kept: View = cache_control(private=True, no_cache=True)(vary_on_cookie(login_required(guarded)))
    return kept


def member(request: HttpRequest) -> Actor:
    """Who asks; 403 for somebody without a role in any organisation."""
    resolve: Callable[[HttpRequest, str], Actor | None] = import_string(settings.ECM_ACTOR_RESOLVER)
    actor = resolve(request, request.GET.get("organisation", ""))
    if actor is None:
        raise PermissionDenied
    return actor


def editor(request: HttpRequest) -> Actor:
    """Who asks; 403 unless they may write drafts."""
    actor = member(request)
    if not actor.may_edit:
        raise PermissionDenied
    return actor


def approver(request: HttpRequest) -> Actor:
    """Who asks; 403 unless they may decide."""
    actor = member(request)
    if not actor.may_approve:
        raise PermissionDenied
    return actor


def scope_name(kind: ScopeKind, scope_id: int) -> str:
    """What a scope is called."""
    name: Callable[[ScopeKind, int], str] = import_string(settings.ECM_SCOPE_NAMER)
    return name(kind, scope_id)


def scope_named(organisation_id: int, name: str) -> tuple[ScopeKind, int]:
    """The organisation for no name, a team by its slug, a project by `team/project`; `DomainError` for none of them."""
    kind = ScopeKind.PROJECT if "/" in name else ScopeKind.TEAM if name else ScopeKind.ORGANISATION
    resolve: Callable[[int, ScopeKind, str], int | None] = import_string(settings.ECM_SCOPE_RESOLVER)
    scope_id = None if "\0" in name else resolve(organisation_id, kind, name)
    if scope_id is None:
        raise DomainError("bad_scope", f"There is no such {kind.value}.", pointer="scope")
    return kind, scope_id


def scopes(organisation_id: int) -> tuple[tuple[ScopeKind, int, str], ...]:
    """The organisation, its teams and their projects: kind, id and name."""
    listed: Callable[[int], tuple[tuple[ScopeKind, int, str], ...]] = import_string(settings.ECM_SCOPE_LISTER)
    return listed(organisation_id)


def number_in(values: Mapping[str, str], name: str) -> int:
    """A positive whole number of a form or an address; `DomainError` for anything else."""
    text = values.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text) > 0):
        raise DomainError(f"bad_{name}", f"{name} is a whole number from 1.", pointer=name)
    return int(text)


def moment_in(values: Mapping[str, str], name: str) -> datetime | None:
    """A time of a form, UTC; None where it was left empty, `DomainError` for anything else."""
    text = values.get(name, "").strip()
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise DomainError(f"bad_{name}", "A time is written as 2026-12-31T18:00.", pointer=name) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
