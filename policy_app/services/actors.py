"""Who acts: told by the caller, because this app knows neither keys nor memberships."""

from dataclasses import dataclass

from policy_app.services.refusals import NotAllowed


@dataclass(frozen=True, slots=True)
class Actor:
    """A person, or (without `user_id`) a key or the installation itself.

    `may_edit`: write drafts and evidence. `may_approve`: judge, publish, revert, assign, change settings.
    """

    user_id: int | None
    name: str
    organisation_id: int
    may_edit: bool = False
    may_approve: bool = False


def require_edit(actor: Actor, organisation_id: int) -> None:
    """Raise `NotAllowed` unless the actor may write drafts of this organisation."""
    if not actor.may_edit or actor.organisation_id != organisation_id:
        raise NotAllowed("Writing drafts needs the role of an editor.")


def require_approve(actor: Actor, organisation_id: int) -> None:
    """Raise `NotAllowed` unless the actor may decide for this organisation."""
    if not actor.may_approve or actor.organisation_id != organisation_id:
        raise NotAllowed("This needs an administrator of the whole organisation.")
