"""The shapes that chart templates draw. Pure values.

Horizontal places are percentages of the plot and vertical ones are pixels, both as text: a plot then
fits any width while its dots and letters keep their size.
"""

from dataclasses import dataclass

PLOT_HEIGHT = 264
BARS_HEIGHT = 112
PAD = 10


@dataclass(frozen=True, slots=True)
class Sample:
    """One call as the charts see it; `occupancy` is None for calls that are no point."""

    number: int
    #: The fill, and the tokens, in words.
    title: str
    tokens_title: str
    href: str
    occupancy: int | None
    window: int | None
    zone: str
    is_main: bool
    read: int
    written: int
    uncached: int
    #: A word under the call's tokens, such as "agent".
    note: str = ""
    #: The name of its subagent, and what the pause before it was, if it was long; whether the cache outlived that.
    lane: str = ""
    pause: str = ""
    is_cold: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """A compaction: on the call that wrote its summary, or on the edge before call `number`."""

    number: int
    is_on_call: bool
    title: str
    href: str


@dataclass(frozen=True, slots=True)
class Dot:
    """The fill after a call."""

    x: str
    y: str
    zone: str
    is_main: bool
    title: str
    href: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A straight stroke between two points."""

    x1: str
    y1: str
    x2: str
    y2: str


@dataclass(frozen=True, slots=True)
class Band:
    """A zone's strip across the plot."""

    zone: str
    y: str
    height: str
    label_y: str


@dataclass(frozen=True, slots=True)
class Line:
    """A level across the plot with what it stands for on either side."""

    y: str
    left: str
    right: str
    is_policy: bool


@dataclass(frozen=True, slots=True)
class Box:
    """A filled rectangle of one class."""

    kind: str
    x: str
    y: str
    width: str
    height: str


@dataclass(frozen=True, slots=True)
class Stack:
    """The tokens of one call or of one column of calls, as boxes from the axis up."""

    boxes: tuple[Box, ...]
    title: str
    href: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A vertical line, where a compaction was."""

    x: str
    title: str
    href: str


@dataclass(frozen=True, slots=True)
class Pause:
    """A vertical line before a call that came after a long pause."""

    x: str
    title: str
    is_cold: bool


@dataclass(frozen=True, slots=True)
class Lane:
    """The columns in which one subagent made calls."""

    name: str
    y: int
    text_y: int
    boxes: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class Tick:
    """A call number under the plot."""

    x: str
    label: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """Fill and tokens of a session, call by call, on one horizontal axis."""

    bands: tuple[Band, ...] = ()
    lines: tuple[Line, ...] = ()
    gaps: tuple[Box, ...] = ()
    strokes: tuple[Segment, ...] = ()
    dots: tuple[Dot, ...] = ()
    marks: tuple[Mark, ...] = ()
    pauses: tuple[Pause, ...] = ()
    lanes: tuple[Lane, ...] = ()
    lanes_height: int = 0
    #: Subagents beyond those that have a lane.
    more_lanes: int = 0
    ticks: tuple[Tick, ...] = ()
    notes: tuple[Tick, ...] = ()
    stacks: tuple[Stack, ...] = ()
    levels: tuple[Line, ...] = ()
    #: How many calls share one column at most; 1 where each has its own.
    grouped: int = 1
    is_wide: bool = False
    height: int = PLOT_HEIGHT
    bars_height: int = BARS_HEIGHT
    #: The bars with the call numbers under them, and the base line of those.
    tokens_height: int = BARS_HEIGHT + 28
    tick_y: int = BARS_HEIGHT + 10
    note_y: int = BARS_HEIGHT + 24


def number(value: float) -> str:
    """A coordinate: at most two decimals, never in scientific notation."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("", "-0") else text


def percent(value: float) -> str:
    """A horizontal place or length."""
    return number(value) + "%"


def level(share: float, height: int = PLOT_HEIGHT) -> float:
    """The pixel of a share of the scale, 0 at the bottom and 1 at the top."""
    return PAD + (1 - share) * (height - 2 * PAD)
