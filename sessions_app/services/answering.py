"""Answer a delivery of hooks: take what it tells of compactions, give the verdict, put pins back, say what is known."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db import transaction

from policy_app.services.pinning import LivePins
from sessions_app.kernel.live_state import Now
from sessions_app.models import Session, Standing
from sessions_app.services import bracket, considering, judging, living, store, turns
from sessions_app.services.considering import Considered, Known
from sessions_app.services.deliveries import Delivery, Entry, drill_of
from sessions_app.services.living import Held


@dataclass(slots=True)
class Answered:
    """The answer in the host's dialect, and what else the client is told."""

    text: str = ""
    session: Session | None = None
    now: Now | None = None
    advice: str = ""
    keep: dict[str, Any] = field(default_factory=dict)


def answer(*, delivery: Delivery, now: datetime) -> Answered:
    """Answer one delivery, whose readings are stored already."""
    drill = drill_of(delivery.drill, now)
    asked = delivery.entries[-1] if delivery.waits and delivery.entries else None
    if delivery.is_telling or (asked is not None and asked.event in judging.DECIDES):
        with transaction.atomic():
            held, standing = _held_and_locked(delivery, is_drill=drill is not None)
            return _answer(delivery, held, standing, asked, drill, now)
    return _answer(delivery, living.held_in(_ask(delivery)), None, asked, drill, now)


def _answer(
    delivery: Delivery,
    held: Held | None,
    standing: Standing | None,
    asked: Entry | None,
    drill: dict[str, int] | None,
    now: datetime,
) -> Answered:
    if held is None:
        return Answered()
    known = considering.known(organisation_id=delivery.organisation_id, held=held, now=now)
    pins = bracket.pins_of(known.session, delivery.organisation_id, now, may_be_supplied=held.may_supply)
    if pins is not None:
        known = replace(known, pins=len(pins.pins), pins_digest=pins.digest)
    considered = considering.consider(known, now=now, drill=drill)
    answered = Answered(session=known.session, now=known.now, keep=_keep(known, pins))
    if delivery.is_telling or (asked is not None and _is_judged(asked, considered, known, drill is not None)):
        with transaction.atomic(savepoint=False):
            answered.text = turns.Turn(delivery, known, considered, pins, drill, now, standing).take(asked)
    answered.advice = considering.advice(known, considered, drill)
    return answered


def _ask(delivery: Delivery) -> store.Rows:
    return living.ask_held(team_id=delivery.team_id, host=delivery.host, name=delivery.session)


def _held_and_locked(delivery: Delivery, *, is_drill: bool) -> tuple[Held | None, Standing | None]:
    """The session and, where this process has met it, the row that its turn locks: in one round trip."""
    met = store.recall(delivery.team_id, [(delivery.host, delivery.session)])
    if met is None:
        return living.held_in(_ask(delivery)), None
    (session_id,) = met.values()
    with store.pipeline():
        locking = turns.ask_standing(session_id, "", is_drill=is_drill)
        asking = _ask(delivery)
        standing, held = turns.standing_in(locking), living.held_in(asking)
    return held, standing if held is not None and held.session.pk == session_id else None


def _is_judged(asked: Entry, considered: Considered | None, known: Known, is_drill: bool) -> bool:
    """Whether a verdict may come of it: most tool boundaries raise nothing, and need no lock to see that."""
    if asked.event in judging.DECIDES:
        return True
    if asked.event not in judging.RAISES or considered is None:
        return False
    return is_drill or bool(turns.thread_of(asked)) or judging.may_raise(considered=considered, known=known)


def _keep(known: Known, pins: LivePins | None) -> dict[str, Any]:
    """Digests of what the client keeps for when this server is away."""
    live = known.live
    policy = {"slug": live.policy, "number": live.number, "digest": live.digest} if live else None
    return {"policy": policy, "pins": {"digest": pins.digest} if pins else None}
