"""`make up`: everything on one machine, until Ctrl-C."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from ecm_site.embedded import first_run, leftovers, options, places, ports, report, sightings
from ecm_site.embedded.first_run import FirstRun, Refused
from ecm_site.embedded.lock import AlreadyRuns, UpLock
from ecm_site.embedded.options import ROOT, Options
from ecm_site.embedded.places import Unavailable
from ecm_site.embedded.postgres import Failed
from ecm_site.embedded.processes import Supervisor
from ecm_site.embedded.services import Services
from ecm_site.env import BadEnvironment

LOOK_SECONDS = 0.25
LOG_SECONDS = 60.0
#: Read by settings, so that commands in a second terminal meet what runs here.
RUNNING = "running.env"


class Stop(BaseException):
    """A signal asked us to end."""


def _on_signal(number: int, frame: FrameType | None) -> None:
    raise Stop


def main() -> int:
    """Run until asked to stop; the exit status."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Under nohup a hang-up stays ignored.
        if signal.getsignal(number) != signal.SIG_IGN or number != signal.SIGHUP:
            signal.signal(number, _on_signal)
    try:
        chosen = options.read(os.environ)
        places.make_folder(chosen.data)
        lock = UpLock(chosen.data / "up.lock")
        lock.take(chosen.url)
    except (AlreadyRuns, BadEnvironment, Unavailable) as error:
        return _complain(error)
    except Stop:
        return 0
    return _hold(chosen, lock)


def _complain(error: Exception) -> int:
    print(error, file=sys.stderr, flush=True)
    return 1


def _hold(chosen: Options, lock: UpLock) -> int:
    supervisor = Supervisor(chosen.logs, chosen.data / "children.json", report.say)
    status = 0
    try:
        _start(chosen, supervisor)
        _watch(supervisor, _parent_is_gone())
    except Stop:
        pass
    except (Failed, Refused, Unavailable, OSError) as error:
        status = _complain(error)
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        lock.tell(chosen.url, stopping=True)
        if supervisor.children:
            report.say("\n  Stopping …")
        supervisor.stop_all()
        (chosen.data / RUNNING).unlink(missing_ok=True)
        if not status:
            report.say("  Stopped. make up goes on where it was.")
        lock.release()
    return status


def _start(chosen: Options, supervisor: Supervisor) -> None:
    begun = options.started_at(time.time())
    ended = leftovers.end(leftovers.read(supervisor.record))
    if ended:
        report.say(f"  Stopped what an earlier, killed make up had left: {', '.join(ended)}")
    if not ports.is_free(chosen.host, chosen.port):
        free = ports.next_free(chosen.host, chosen.port)
        raise Unavailable(f"Port {chosen.port} is used by {ports.holder(chosen.port)}. Try: make up ECM_PORT={free}")
    services = Services(chosen, supervisor)
    for start in (services.start_database, services.start_broker):
        since = time.monotonic()
        report.part(*start(), since)
    first = _install(chosen, services)
    seen = sightings.look(Path.home(), dict(chosen.environ))
    demo_loaded = _load_demo(chosen, services, has_own=bool(seen))
    services.wait_until_ready(services.start_processes())
    report.ready(time.time() - begun)
    report.doors(chosen, first)
    report.next_steps(seen, demo_loaded)


def _install(chosen: Options, services: Services) -> FirstRun:
    """Keep the addresses for other terminals, migrate, make what is missing."""
    services.addresses |= {"ECM_DATA": str(chosen.data), "ECM_PUBLIC_URL": chosen.url}
    if not chosen.environ.get("ECM_SECRET_KEY"):
        services.addresses["ECM_SECRET_KEY_FILE"] = str(first_run.secret_key_file(chosen.data))
    kept = "".join(f"{name}={value}\n" for name, value in services.addresses.items() if name != "ECM_DATA")
    first_run.write_private(chosen.data / RUNNING, kept)
    services.manage("migrate", "--no-input", "--verbosity", "0")
    return first_run.ensure(data=chosen.data, root=ROOT, env=services.env, given=chosen.environ, url=chosen.url)


def _load_demo(chosen: Options, services: Services, *, has_own: bool) -> bool:
    """Load the demo team when asked to, or by ourselves once on a machine without own sessions."""
    told = chosen.data / "demo-offered"
    wanted = chosen.demo if chosen.demo is not None else not has_own and not told.exists()
    if wanted:
        since = time.monotonic()
        services.manage("demo")
        report.part("Demo", "a team of invented sessions, to look around in", since)
    told.touch()
    return wanted


def _parent_is_gone() -> Callable[[], bool]:
    """Whether the make that started us was killed: its death must end us too, or the port stays taken."""
    parent = os.getppid()
    if "MAKELEVEL" not in os.environ:
        return lambda: False
    return lambda: os.getppid() != parent


def _watch(supervisor: Supervisor, is_over: Callable[[], bool]) -> None:
    looked = time.monotonic()
    while not is_over():
        supervisor.watch()
        if time.monotonic() - looked > LOG_SECONDS:
            supervisor.shorten_logs()
            looked = time.monotonic()
        time.sleep(LOOK_SECONDS)
