"""Zones and windows by integers; boundaries are inclusive below (ECM rules, 2).

An assumed window is what the model is known for. Hosts run 1,000,000-token models on 200,000, so an
automatic compaction bounds an assumed window from above; a window stated by the host is left alone.
"""

from dataclasses import dataclass
from enum import StrEnum


class Zone(StrEnum):
    """How full a context was; UNKNOWN never escalates."""

    GREEN = "GREEN"
    AMBER = "AMBER"
    RED = "RED"
    CRITICAL = "CRITICAL"
    UNKNOWN = "UNKNOWN"


class WindowOrigin(StrEnum):
    """How a window is known."""

    STATED = "stated"
    ASSUMED = "assumed"
    BOUNDED = "bounded"
    NONE = ""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Lower bounds of the zones, in whole percent of the window."""

    amber: int = 50
    red: int = 75
    critical: int = 90


#: The lines of the table that ships as version 1.
DEFAULT_LINES = Thresholds()


@dataclass(frozen=True, slots=True)
class Window:
    """A denominator in tokens, and how it is known."""

    tokens: int | None = None
    origin: WindowOrigin = WindowOrigin.NONE


#: Limits at which hosts are known to hold sessions of larger models.
HELD_AT = (200_000,)


def zone_of(occupancy: int | None, window: int | None, thresholds: Thresholds = DEFAULT_LINES) -> Zone:
    """The zone of `occupancy` tokens in a window of `window` tokens; unclamped above 100%."""
    if occupancy is None or not window:
        return Zone.UNKNOWN
    hundredfold = occupancy * 100
    if hundredfold >= thresholds.critical * window:
        return Zone.CRITICAL
    if hundredfold >= thresholds.red * window:
        return Zone.RED
    return Zone.AMBER if hundredfold >= thresholds.amber * window else Zone.GREEN


def bound(window: Window, compacted_at: int | None, peak: int | None) -> Window:
    """The window after automatic compactions were seen, the highest of them at `compacted_at` tokens.

    `peak` is the largest occupancy of the session: above a limit, the limit was not in force.
    """
    if window.origin is not WindowOrigin.ASSUMED or window.tokens is None or compacted_at is None:
        return window
    for limit in HELD_AT:
        if max(compacted_at, peak or 0) <= limit < window.tokens:
            return Window(limit, WindowOrigin.BOUNDED)
    return window
