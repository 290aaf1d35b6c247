"""Commands of a second terminal need a running `make up`, unless they have a database of their own."""

import os
import sys
import time
import urllib.request

from ecm_site.embedded import options
from ecm_site.embedded.lock import UpLock
from ecm_site.embedded.places import Unavailable
from ecm_site.env import BadEnvironment

PATIENCE_SECONDS = 90.0


def main() -> int:
    """0 once `make up` of this data folder is ready; 1 with a sentence when it does not run."""
    try:
        chosen = options.read(os.environ)
    except (BadEnvironment, Unavailable) as error:
        print(error, file=sys.stderr)
        return 1
    if chosen.database_url:
        return 0
    lock = UpLock(chosen.data / "up.lock")
    until = time.monotonic() + PATIENCE_SECONDS
    while lock.is_held() and time.monotonic() < until:
        if _is_ready(str(lock.holder().get("url", ""))):
            return 0
        time.sleep(0.2)
    print("ECM server does not run. Start it in another terminal: make up", file=sys.stderr)
    return 1


def _is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=5.0) as answer:  # noqa: S310 - written by make up
            return bool(answer.status == 200)
    except (OSError, ValueError):
        return False
