"""What `make up` tells its terminal."""

import contextlib
import time
from collections.abc import Sequence

from ecm_site.embedded.first_run import FirstRun
from ecm_site.embedded.options import Options
from ecm_site.embedded.sightings import Sighting

#: Bytes per second that an import reads, roughly; only for the estimate.
IMPORT_SPEED = 60e6


def say(text: str = "") -> None:
    """Print a line. A terminal that is gone must not stop the server."""
    with contextlib.suppress(OSError):
        print(text, flush=True)


def part(name: str, text: str, since: float) -> None:
    """One part that is up, with the seconds since a monotonic instant."""
    say(f"  {name:<15} {text:<54} {time.monotonic() - since:>5.1f} s")


def ready(seconds: float) -> None:
    """All parts are up, `seconds` after the command was typed."""
    say(f"  {'web worker beat':<15} {'ready':<54} {seconds:>5.1f} s in all")


def day(sighting: Sighting) -> str:
    """`2 Nov to 30 Nov`"""
    first, last = sighting.first, sighting.last
    return f"{first.day} {first:%b} to {last.day} {last:%b}"


def doors(options: Options, first: FirstRun) -> None:
    """How to get in."""
    say(f"\n  Open    {options.url}{first.entry_path}     signs you in once, valid 10 minutes")
    say(f"  Keep    admin password and keys are in {options.shown(first.file)} (only you can read it)")


def next_steps(seen: Sequence[Sighting], demo_loaded: bool) -> None:
    """What lies on this machine and what can be done now."""
    if seen:
        say("\n  On this machine I can see, and have not opened:")
        for s in seen:
            say(f"    {s.host:<12} {s.sessions:>5,} sessions   {day(s):<18} {s.size / 1e6:>7,.0f} MB")
        seconds = max(1, round(sum(s.size for s in seen) / IMPORT_SPEED))
        offer(f"Bring them in, numbers only, about {seconds} s", "make import      (in a second terminal)")
    else:
        say("\n  On this machine I see no sessions of your own yet.")
        offer("Bring some in from elsewhere, numbers only", "make import PATHS=/folder/with/transcripts")
    if demo_loaded:
        offer("The team Demo is invented and never summed with yours", "make demo-drop   removes it")
    else:
        offer("A team to look around in", "make demo")
    say("  Ctrl-C stops everything. make up again goes on where it was.\n")


def offer(what: str, command: str) -> None:
    """One thing to do, and how."""
    say(f"  {what:<55} {command}")
