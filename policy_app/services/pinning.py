"""The pins in force for a session: the organisation's set, what team and project add, what clients supplied.

The sets are held in memory like tables; what clients supplied is one query by an index, because it changes with each
step of a plan and must be there at the next compaction, whichever process answers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from django.db import connection

from policy_app.kernel.canonical import digest
from policy_app.kernel.pins import Pin, Source, Tier, rendered
from policy_app.services import inforce
from policy_app.services.inforce import LiveSet, Scope


@dataclass(frozen=True, slots=True)
class LivePins:
    """What comes back after a compaction. Slug, number and id are the base set's; `digest` is of all that is told.

    `left_out`: ids of pins that had no room in the host's limit. `restore_text` is empty where there are no pins.
    """

    slug: str
    number: int
    version_id: int
    digest: str
    pins: tuple[Pin, ...]
    restore_text: str
    before_text: str
    left_out: tuple[str, ...] = ()


#: In plain SQL: composing the query takes longer than running it, and each hook waits for it.
_SUPPLIED = (
    "SELECT pin_id, text, why, tier FROM policy_app_suppliedpin WHERE team_id = %s"
    " AND ((session_key = '' AND project_id = %s) OR (session_key <> '' AND session_key = %s))"
    " ORDER BY session_key = '', project_id, id"
)


def session_key(*, host: str, session: str) -> str:
    """How a session is named here, by its host and the host's own id of it."""
    return f"{host}/{session}"


def live_pins(*, scope: Scope, session_key: str | None, now: datetime, may_be_supplied: bool = True) -> LivePins | None:
    """The pins in force; None before the organisation has a set. The sets cost no query while the memory is fresh.

    `may_be_supplied`: False where it is known that no client of the team has supplied any, which saves the query.
    """
    sets = inforce.live_sets(scope=scope, now=now)
    if not sets:
        return None
    return _told(sets, _supplied(scope, session_key) if may_be_supplied else ())


def _supplied(scope: Scope, session_key: str | None) -> tuple[Pin, ...]:
    """The session's, then the project's: the narrowest decides."""
    if scope.team_id is None or (scope.project_id is None and session_key is None):
        return ()
    with connection.cursor() as cursor:
        cursor.execute(_SUPPLIED, (scope.team_id, scope.project_id, session_key))
        return tuple(Pin(name, text, why, Tier(tier), Source.CLIENT) for name, text, why, tier in cursor.fetchall())


def name_of(sets: Iterable[tuple[str, int]]) -> str:
    """How the injected text names its sets, by slug and number."""
    return "pin set " + " + ".join(f"{slug} v{number}" for slug, number in sets)


@lru_cache(maxsize=512)
def _told(sets: tuple[LiveSet, ...], supplied: tuple[Pin, ...]) -> LivePins:
    name = name_of((each.slug, each.number) for each in sets)
    told = rendered(name, [each.pins for each in sets], supplied)
    return LivePins(
        slug=sets[0].slug,
        number=sets[0].number,
        version_id=sets[0].version_id,
        digest=_digest(told.pins, told.restore_text, told.before_text),
        pins=told.pins,
        restore_text=told.restore_text,
        before_text=told.before_text,
        left_out=told.left_out,
    )


def _digest(pins: Sequence[Pin], restore_text: str, before_text: str) -> str:
    ids = [[pin.id, str(pin.tier), pin.sha256] for pin in pins]
    return digest({"pins": ids, "restore_text": restore_text, "before_text": before_text})
