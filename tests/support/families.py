"""Made-up families of sessions: forks of forks that copied history and lost ids on the way."""

import json
import random
from dataclasses import dataclass, field

from tests.support import told
from tests.support.deliveries import Delivery

MOST_SESSIONS = 6


@dataclass(slots=True)
class Family:
    """Its deliveries, one record each, and how many calls there are in truth; call n has n uncached tokens."""

    deliveries: list[Delivery] = field(default_factory=list)
    calls: int = 0


def family(rng: random.Random) -> Family:
    """A root and its descendants, their names in no order of birth."""
    made = Family()
    names = [f"s{number}" for number in range(MOST_SESSIONS)]
    rng.shuffle(names)
    held: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        parent = rng.choice(names[:place]) if place else None
        copied = held[parent][: rng.randint(1, len(held[parent]))] if parent else []
        first = made.calls + 1
        made.calls += rng.randint(0 if parent else 3, 4)
        own = list(range(first, made.calls + 1))
        held[name] = copied + own
        made.deliveries += _copies(name, parent, copied, rng)
        for number in own:
            made.deliveries += _first_hand(name, number, rng)
    return made


def _copies(name: str, parent: str | None, numbers: list[int], rng: random.Random) -> list[Delivery]:
    """The copied lines; a host may lose one of the two ids, and may or may not name the parent."""
    lost = rng.choice([{}, {"requestId": None}, {"id": None}])
    marks = {"forkedFrom": {"sessionId": parent}} if rng.random() < 0.4 else {}
    return [told.transcript(_line(name, number, lost, marks)) for number in numbers]


def _first_hand(name: str, number: int, rng: random.Random) -> list[Delivery]:
    """The line that has both ids; maybe telemetry, with the request id or without; maybe a proxy's record."""
    found = [told.transcript(_line(name, number, {}, {}))]
    if rng.random() < 0.4:
        request_id = rng.choice([f"req_m{number}", None])
        found.append(told.logs(told.request(name, 60 * number + 0.4, _used(number), request_id=request_id)))
    if rng.random() < 0.2:
        found.append(_proxied(name, number, rng.choice(["litellm", "claude-code"])))
    return found


def _line(name: str, number: int, lost: dict[str, None], marks: told.Line) -> told.Line:
    message = None if "id" in lost else f"m{number}"
    request_id = None if "requestId" in lost else f"req_m{number}"
    return told.call(name, message, 60 * number, _used(number), requestId=request_id, **marks)


def _proxied(name: str, number: int, host: str) -> Delivery:
    record = {"type": "proxy_call", "host": host, "session": name, "request_id": f"req_m{number}", "model": told.SONNET}
    leaves = {"uncached_input": number, "cache_read": 10 * number, "cache_write_5m": 7, "output": 3}
    return Delivery("canonical", json.dumps({**record, **leaves, "started_at": told.at(60 * number)}).encode())


def _used(number: int) -> told.Line:
    return told.usage(number, 10 * number, 7, 3)
