"""Who may be named. No figure is ever grouped, filtered or summed by person; a session may name its developer.

Off until an administrator of the organisation turns it on, and even then only in teams where at least `FLOOR`
developers have sessions. That is counted over all of a team and all of its time, never over what an address asks
for: so no filter, stretch of time or difference of two answers brings a name out.
"""

from collections.abc import Sequence
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, QuerySet

from policy_app.services import auditing
from policy_app.services.actors import Actor, require_approve
from policy_app.services.locks import lock_organisation
from sessions_app.models import Organisation, Session, Team
from sessions_app.models.session import SessionQuerySet
from sessions_app.services.own_keys import identity_of

FLOOR = 5


def naming_teams() -> QuerySet[Team]:
    """Teams whose sessions may name their developers. Counted are developers with sessions, so keys do not pad it."""
    teams = Team.objects.filter(organisation__names_persons=True)
    return teams.annotate(n=Count("sessions__developer", distinct=True)).filter(n__gte=FLOOR)


def named(*, session_ids: Sequence[int]) -> dict[int, str]:
    """Names of developers by session id, of the sessions that may name theirs."""
    rows = Session.objects.filter(pk__in=session_ids, developer__isnull=False, team__in=naming_teams().values("pk"))
    return {row.pk: str(row.developer) for row in rows.select_related("developer").only("pk", "developer")}


def own_sessions(user: User) -> SessionQuerySet:
    """Sessions that came by the user's own keys, in the teams that the user is in."""
    return Session.objects.for_user(user).filter(developer__identity=identity_of(user))


@transaction.atomic
def set_naming(*, organisation: Organisation, is_on: bool, reason: str, actor: Actor, now: datetime) -> None:
    """Let sessions name their developers, or no longer. Refused: `not_allowed`, `bad_reason`."""
    require_approve(actor, organisation.pk)
    lock_organisation(organisation.pk)
    act = "persons.named" if is_on else "persons.withheld"
    subject = f"organisation/{organisation.slug}"
    auditing.record(actor=actor, action=act, subject=subject, reason=reason, now=now)
    Organisation.objects.filter(pk=organisation.pk).update(names_persons=is_on)
