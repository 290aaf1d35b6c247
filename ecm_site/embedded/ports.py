"""Whether a port is free, and who has it."""

import contextlib
import socket

import psutil


def is_free(host: str, port: int) -> bool:
    """Whether a server could listen there now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def holder(port: int) -> str:
    """`node (pid 4121)`, or `another program` where the system does not tell."""
    for process in psutil.process_iter(["name"]):
        with contextlib.suppress(psutil.Error):
            for wire in process.net_connections("tcp"):
                if wire.status == psutil.CONN_LISTEN and wire.laddr.port == port:
                    return f"{process.info['name']} (pid {process.pid})"
    return "another program"


def next_free(host: str, port: int) -> int:
    """The next port that is free."""
    return next((p for p in range(port + 1, min(port + 200, 65_536)) if is_free(host, p)), port + 1)
