"""Who a caller is to the policies, and which scope a name means; the settings `ECM_…_RESOLVER` name these."""

from typing import Protocol

from django.db.models import Q

from policy_app.models import ScopeKind
from policy_app.services.actors import Actor
from sessions_app.models import ApiKey, KeyKind, Membership, Organisation, Project, Role, Team, Viewer
from sessions_app.services.keys import KeyHolder

#: Projects that a page offers to choose from; the others are reached over REST.
MOST_PROJECTS = 1_000


class Asker(Protocol):
    """What is read of a request, Django's or DRF's."""

    @property
    def user(self) -> Viewer:
        """The signed-in person, or nobody."""


def actor_of(request: Asker, organisation: str = "") -> Actor | None:
    """The caller as an actor of one organisation; None for strangers, ingest keys and other organisations.

    `organisation`: a slug, for people who belong to several; otherwise the first. Editors of a team may draft,
    administrators of the whole organisation decide, and admin keys do both except judging drafts.
    """
    holder = getattr(request, "auth", None)
    if isinstance(holder, KeyHolder):
        return _of_key(holder, organisation)
    if not request.user.is_authenticated:
        return None
    return _of_person(request.user.pk, request.user.get_username(), organisation)


def scope_of(organisation_id: int, kind: ScopeKind, name: str) -> int | None:
    """The organisation itself, a team by slug, or a project by `team/project`, as an id; None where there is none."""
    if kind is ScopeKind.ORGANISATION:
        return organisation_id
    slug, _, project = name.partition("/")
    teams = Team.objects.filter(organisation_id=organisation_id, slug=slug)
    if kind is ScopeKind.TEAM:
        return None if project else teams.values_list("pk", flat=True).first()
    return Project.objects.filter(team__in=teams, name=project).values_list("pk", flat=True).first()


def scope_name(kind: ScopeKind, scope_id: int) -> str:
    """The inverse of `scope_of`; empty for what is gone."""
    if kind is ScopeKind.TEAM:
        return Team.objects.filter(pk=scope_id).values_list("slug", flat=True).first() or ""
    if kind is ScopeKind.PROJECT:
        project = Project.objects.filter(pk=scope_id).select_related("team").first()
        return f"{project.team.slug}/{project.name}" if project else ""
    return Organisation.objects.filter(pk=scope_id).values_list("slug", flat=True).first() or ""


def scopes_of(organisation_id: int) -> tuple[tuple[ScopeKind, int, str], ...]:
    """The organisation, its teams, and their projects, with the names that `scope_of` takes; demo teams left out."""
    slug = Organisation.objects.filter(pk=organisation_id).values_list("slug", flat=True).first()
    teams = Team.objects.filter(organisation_id=organisation_id, is_demo=False).order_by("slug")
    projects = Project.objects.filter(team__in=teams).order_by("team__slug", "name").select_related("team")
    return (
        (ScopeKind.ORGANISATION, organisation_id, slug or ""),
        *((ScopeKind.TEAM, team.pk, team.slug) for team in teams),
        *((ScopeKind.PROJECT, each.pk, f"{each.team.slug}/{each.name}") for each in projects[:MOST_PROJECTS]),
    )


def approvers(organisation_id: int) -> int:
    """How many people may approve drafts of this organisation."""
    admins = Membership.objects.filter(organisation_id=organisation_id, team=None, role=Role.ADMIN)
    return admins.filter(user__is_active=True).values("user").distinct().count()


def _of_key(holder: KeyHolder, organisation: str) -> Actor | None:
    if holder.kind == KeyKind.INGEST:
        return None
    key = ApiKey.objects.select_related("organisation").filter(pk=holder.key_id).first()
    if key is None or (organisation and key.organisation.slug != organisation):
        return None
    is_admin = holder.kind == KeyKind.ADMIN
    return Actor(None, f"{key.kind} key {key.prefix}…", holder.organisation_id, may_edit=is_admin, may_approve=is_admin)


def _of_person(user_id: int, name: str, organisation: str) -> Actor | None:
    mine = Membership.objects.filter(user_id=user_id).order_by("organisation")
    if organisation:
        mine = mine.filter(organisation__slug=organisation)
    first = mine.values_list("organisation", flat=True).first()
    if first is None:
        return None
    here = mine.filter(organisation=first)
    return Actor(
        user_id,
        name,
        first,
        may_edit=here.filter(Q(role=Role.EDITOR) | Q(role=Role.ADMIN)).exists(),
        may_approve=here.filter(team=None, role=Role.ADMIN).exists(),
    )
