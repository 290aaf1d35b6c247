"""Real servers for tests: a free port, a private Redis."""

import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ecm_site.embedded import broker


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def private_redis() -> Iterator[str | None]:
    """The REDIS_URL of a Redis that ends with the block; None where no Redis is installed."""
    with tempfile.TemporaryDirectory(prefix="ecm-redis-") as folder:
        found = broker.find(Path(folder))
        if found is None:
            yield None
            return
        process = subprocess.Popen(found.command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            if not broker.wait_until_ready(found):
                raise RuntimeError("The private Redis did not start.")
            yield found.url
        finally:
            process.terminate()
            process.wait(10)
            found.socket.unlink(missing_ok=True)
            found.socket.parent.rmdir()
