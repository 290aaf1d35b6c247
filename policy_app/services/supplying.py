"""Pins that clients supply for a project or a session: said anew, taken back, and gone after a while."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction

from ecm_site.common.problems import DomainError
from policy_app.kernel.pins import Pin, Source
from policy_app.models import SuppliedPin
from policy_app.services import inforce
from policy_app.services.inforce import Scope

#: Of one project or one session.
MOST_SUPPLIED = 20
#: A session's pins are kept so long after the last one was said.
KEPT = timedelta(days=30)


class NotOpen(DomainError):
    """409: a set in force says this pin itself; a client adds to it or fills what it keeps open."""

    def __init__(self, pin_id: str) -> None:
        super().__init__("pin_not_open", f"The pin set in force says {pin_id} itself.", 409, pin=pin_id)


class TooManyPins(DomainError):
    """409: a project or session has as many supplied pins as it may."""

    def __init__(self) -> None:
        super().__init__("too_many_pins", f"A project or session has at most {MOST_SUPPLIED} pins of its own.", 409)


class NoTarget(DomainError):
    """400: supplied pins are either a session's or a project's."""

    def __init__(self) -> None:
        super().__init__("bad_target", "Name either a session or a project.", pointer="/session")


@transaction.atomic
def supply(
    *,
    scope: Scope,
    session_key: str | None,
    pins: Sequence[Pin],
    withdrawn: Sequence[str],
    by_name: str,
    now: datetime,
) -> None:
    """Say `pins` for the session, or without one for the scope's project; take back those named in `withdrawn`.

    What a set in force says itself cannot be reworded. Raises `NotOpen`, `TooManyPins` or `NoTarget`.
    """
    project_id = scope.project_id if session_key is None else None
    if scope.team_id is None or (session_key is None and project_id is None):
        raise NoTarget
    _require_open(scope, pins, now)
    mine = SuppliedPin.objects.filter(team_id=scope.team_id, session_key=session_key or "", project_id=project_id)
    mine.filter(pin_id__in=withdrawn).delete()
    rows = [
        SuppliedPin(
            team_id=scope.team_id,
            project_id=project_id,
            session_key=session_key or "",
            pin_id=pin.id,
            text=pin.text,
            why=pin.why,
            tier=str(pin.tier),
            by_name=by_name,
            at=now,
        )
        for pin in sorted(pins, key=lambda pin: pin.id)
    ]
    SuppliedPin.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["team_id", "session_key", "project_id", "pin_id"],
        update_fields=["text", "why", "tier", "by_name", "at"],
    )
    if mine.count() > MOST_SUPPLIED:
        raise TooManyPins
    SuppliedPin.objects.filter(team_id=scope.team_id, project_id=None, at__lt=now - KEPT).delete()


def _require_open(scope: Scope, pins: Sequence[Pin], now: datetime) -> None:
    sets = inforce.live_sets(scope=scope, now=now)
    said = {pin.id for each in sets for pin in each.pins.pins if pin.source is Source.ADMIN}
    for pin in pins:
        if pin.id in said:
            raise NotOpen(pin.id)
