"""Who may see what: organisation, teams, projects, people."""

from typing import Self

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.contrib.postgres.expressions import ArraySubquery
from django.db import models
from django.db.models import BooleanField, F, Func, Q


class Role(models.TextChoices):
    """What a member may do; each role includes the ones before it."""

    VIEWER = "viewer"
    EDITOR = "editor"
    ADMIN = "admin"


#: From least to most.
ROLE_ORDER = (Role.VIEWER, Role.EDITOR, Role.ADMIN)

type Viewer = AbstractBaseUser | AnonymousUser


class Organisation(models.Model):
    """One installation's company; teams live inside it."""

    name = models.CharField(max_length=120)
    slug = models.SlugField(unique=True)
    #: What the company pays of list prices, by its contracts; sums are kept at list price.
    price_multiplier = models.DecimalField(max_digits=6, decimal_places=4, default=1)
    #: Whether sessions name their developers; even then not in teams below the floor (services/persons.py).
    names_persons = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class _IsOneOf(Func):
    """`column = ANY(ARRAY(query))`."""

    arg_joiner = " = ANY("
    template = "%(expressions)s)"
    output_field = BooleanField()


def among(column: str, teams: "TeamQuerySet") -> Func:
    """Rows whose team is one of these. PostgreSQL lists them once; as a join it would ask for each row of a sum."""
    return _IsOneOf(F(column), ArraySubquery(teams.values("pk")))


class TeamQuerySet(models.QuerySet["Team"]):
    def for_user(self, user: Viewer, role: Role = Role.VIEWER) -> Self:
        """Teams in which the user has at least `role`, by team or by whole organisation."""
        if not user.is_authenticated:
            return self.none()
        roles = ROLE_ORDER[ROLE_ORDER.index(role) :]
        mine = Membership.objects.filter(user_id=user.pk, role__in=roles)
        return self.filter(
            Q(pk__in=mine.filter(team__isnull=False).values("team"))
            | Q(organisation__in=mine.filter(team__isnull=True).values("organisation"))
        )


class Team(models.Model):
    """The tenant: a key belongs to one team, and equal host ids of two teams never meet."""

    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="teams")
    slug = models.SlugField()
    name = models.CharField(max_length=120)
    #: A demo team is shown by itself and never summed with real ones.
    is_demo = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    objects = TeamQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organisation", "slug"], name="team_slug_once")]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A role of a user in a team, or (team empty) in the whole organisation."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="memberships")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, null=True, blank=True, related_name="memberships")
    role = models.CharField(max_length=8, choices=Role.choices)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "organisation", "team"], name="membership_once", nulls_distinct=False
            ),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role}"


class Project(models.Model):
    """A code base, by git remote, or weakly by the name of its folder."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="projects")
    name = models.CharField(max_length=200)
    #: True when known by git remote; a folder name may stand for several code bases.
    is_strong = models.BooleanField(default=False)
    #: Whether the memory service CRYSTALIUM was seen at work here.
    has_crystalium = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "name"], name="project_name_once")]

    def __str__(self) -> str:
        return self.name


class Developer(models.Model):
    """A person, by own key or by a keyed hash of what telemetry said; never by address."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="developers")
    identity = models.CharField(max_length=64)
    name = models.CharField(max_length=120, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "identity"], name="developer_identity_once")]

    def __str__(self) -> str:
        return self.name or self.identity[:8]
