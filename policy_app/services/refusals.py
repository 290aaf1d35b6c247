"""What the services refuse, by name."""

from collections.abc import Mapping

from ecm_site.common.problems import DomainError


class NotAllowed(DomainError):
    """403: the actor's role does not reach that far."""

    def __init__(self, message: str) -> None:
        super().__init__("not_allowed", message, 403)


class OwnEdit(DomainError):
    """403: who edited a draft may not approve it."""

    def __init__(self) -> None:
        super().__init__("own_edit", "You edited this draft: you may send it back, not approve it.", 403)


class EditedByKey(DomainError):
    """403: a draft with an edit through a key cannot be approved, because anybody may have held the key."""

    def __init__(self) -> None:
        message = (
            "This draft was edited through a key, so nobody can show not to have edited it. Start it anew signed in."
        )
        super().__init__("edited_by_key", message, 403)


class NoPerson(DomainError):
    """403: a key cannot judge."""

    def __init__(self) -> None:
        super().__init__("no_person", "A review is a person's word: sign in.", 403)


class NoSuch(DomainError):
    """404: no such policy, version, draft or evidence in this organisation."""

    def __init__(self, what: str) -> None:
        super().__init__("not_found", f"There is no such {what}.", 404)


class StaleRevision(DomainError):
    """409: somebody saved meanwhile. `diff` leads from what is saved now to what was sent."""

    def __init__(self, revision: int, by: str, diff: list[dict[str, object]]) -> None:
        message = f"{by} saved revision {revision} meanwhile. Nothing of yours was saved."
        super().__init__("stale_revision", message, 409, revision=revision, updated_by=by, diff=diff)


class BaseMoved(DomainError):
    """409: another version was published since the draft's base. `diff` leads from the base to the live version."""

    def __init__(self, base: int | None, live: int | None, diff: list[dict[str, object]]) -> None:
        message = f"This draft stands on version {base}, and version {live} is live. Save it on top of that first."
        super().__init__("base_moved", message, 409, base=base, live=live, diff=diff)


class WrongState(DomainError):
    """409: the draft is not in a state in which this can be done."""

    def __init__(self, state: str, wanted: str) -> None:
        super().__init__("wrong_state", f"The draft is {state}; this needs {wanted}.", 409, state=state)


class NotApproved(DomainError):
    """409: four eyes are asked for, and the newest revision has no approval."""

    def __init__(self) -> None:
        super().__init__("not_approved", "Nobody who did not edit it has approved the newest revision.", 409)


class NothingChanged(DomainError):
    """409: the content is the live version's already."""

    def __init__(self) -> None:
        super().__init__("nothing_changed", "The live version says the same already.", 409)


class Taken(DomainError):
    """409: the slug is in use."""

    def __init__(self, what: str) -> None:
        super().__init__("slug_taken", f"There is such a {what} already.", 409, pointer="/slug")


class Reserved(DomainError):
    """400: the slug is that of a page."""

    def __init__(self, slug: str) -> None:
        super().__init__("bad_slug", f"“{slug}” is the address of a page; choose another slug.", pointer="/slug")


class BadText(DomainError):
    """400: a text is missing, too long or holds NUL."""

    def __init__(self, name: str, most: int) -> None:
        super().__init__(f"bad_{name}", f"{name} has 1 to {most} characters and no NUL.", pointer=f"/{name}")


class BadTable(DomainError):
    """400: what was sent is no table; `field` is where, `reason` the kernel's code."""

    def __init__(self, message: str, *, field: str, reason: str) -> None:
        super().__init__("bad_table", message, field=field, reason=reason)


class BadPins(DomainError):
    """400: what was sent is no pin set; `field` is where, `reason` the kernel's code."""

    def __init__(self, message: str, *, field: str, reason: str) -> None:
        super().__init__("bad_pin_set", message, field=field, reason=reason)


class NotPublishable(DomainError):
    """409: the content can be kept as a draft, but a finding forbids to publish it."""

    def __init__(self, findings: list[Mapping[str, object]]) -> None:
        message = "It has errors that keep it from being published."
        super().__init__("not_publishable", message, 409, findings=findings)


def checked_text(name: str, value: str, *, most: int) -> str:
    """The text without surrounding space, or `BadText`."""
    kept = value.strip()
    if not kept or len(kept) > most or "\0" in kept:
        raise BadText(name, most)
    return kept


MOST_REASON = 2_000


def checked_reason(value: str) -> str:
    """A reason of 1 to 2,000 characters, or `BadText`."""
    return checked_text("reason", value, most=MOST_REASON)
