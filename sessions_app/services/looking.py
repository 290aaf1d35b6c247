"""Look up what is stored of a delivery's readings before they are merged, its sessions locked until commit."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sessions_app.kernel.live_state import LiveState
from sessions_app.kernel.readings import Reading
from sessions_app.services import living, store
from sessions_app.services.living import Place
from sessions_app.services.store import Name

#: Longest key that the table takes; a longer one is replaced by its hash.
LONGEST_KEY = 240

type Told = tuple[str, Reading]


@dataclass(frozen=True, slots=True)
class Stored:
    """Row ids by (host, host's session id), the readings of the same names, and the live states of their threads."""

    sessions: Mapping[tuple[str, str], int]
    readings: dict[Name, Reading]
    states: dict[Place, LiveState]


def look(*, team_id: int, told: Sequence[Told], received_ms: int, now: datetime) -> Stored:
    """What is stored of these readings of hosts; sessions are made where they are missing.

    A hook waits for each round trip: where this process has met the session, all is asked in one, on the guess
    that its row is the same.
    """
    pairs = sorted({(host, reading.session) for host, reading in told})
    guess = store.recall(team_id, pairs)
    if guess is not None:
        locking = store.ask_lock(team_id, pairs)
        found = _ask(guess, told, received_ms)
        if store.ids_in(locking) == guess:
            return _read(guess, found)
    sessions = store.lock_sessions(team_id, pairs, now)
    return _read(sessions, _ask(sessions, told, received_ms))


type _Asked = tuple[store.Rows, store.Rows]


def _ask(sessions: Mapping[tuple[str, str], int], told: Sequence[Told], received_ms: int) -> _Asked:
    names = {name_of(sessions, host, reading) for host, reading in told}
    places = {
        place
        for host, reading in told
        for place in living.places(sessions[host, reading.session], reading, received_ms)
    }
    return store.ask_readings(names), living.ask_states(places)


def _read(sessions: Mapping[tuple[str, str], int], asked: _Asked) -> Stored:
    return Stored(sessions, store.readings_in(asked[0]), living.states_in(asked[1]))


def name_of(sessions: Mapping[tuple[str, str], int], host: str, reading: Reading) -> Name:
    """Where a reading is stored."""
    key = reading.key
    if len(key) > LONGEST_KEY:
        key = "sha256:" + hashlib.sha256(key.encode()).hexdigest()
    return Name(sessions[host, reading.session], reading.kind, str(reading.source), key)
