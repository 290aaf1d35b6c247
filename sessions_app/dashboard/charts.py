"""Geometry of the charts. Pure: values in, coordinates out.

Horizontal places are percentages of the plot and vertical ones are pixels, both as text: a plot then
fits any width while its dots and letters keep their size.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil

PLOT_HEIGHT = 264
BARS_HEIGHT = 112
SPARK_HEIGHT = 40
PAD = 10
#: More calls than this share a column: the highest of the column is drawn.
MOST_COLUMNS = 240
MOST_TICKS = 10
#: (lower bound in percent, zone) from the top down.
ZONES = ((90, "CRITICAL"), (75, "RED"), (50, "AMBER"), (0, "GREEN"))


@dataclass(frozen=True, slots=True)
class Sample:
    """One call as the charts see it; `occupancy` is None for calls that are no point."""

    number: int
    title: str
    href: str
    occupancy: int | None
    window: int | None
    zone: str
    is_main: bool
    read: int
    written: int
    uncached: int


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
    ticks: tuple[Tick, ...] = ()
    stacks: tuple[Stack, ...] = ()
    levels: tuple[Line, ...] = ()
    #: How many calls share one column at most; 1 where each has its own.
    grouped: int = 1
    is_wide: bool = False
    height: int = PLOT_HEIGHT
    bars_height: int = BARS_HEIGHT


@dataclass(frozen=True, slots=True)
class _Column:
    members: tuple[Sample, ...]
    center: float
    width: float


@dataclass(frozen=True, slots=True)
class _Scale:
    """From occupancy to pixels: in percent of each call's window, or in tokens where none is known."""

    top: int
    by_tokens: bool
    session_window: int | None

    def y(self, sample: Sample) -> float | None:
        """The height of a sample; None when it has no place on this scale."""
        if sample.occupancy is None:
            return None
        if self.by_tokens:
            return level(sample.occupancy / self.top)
        window = sample.window or (None if sample.is_main else self.session_window)
        return level(sample.occupancy * 100 / window / self.top) if window else None


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


def timeline(samples: Sequence[Sample], cuts: Sequence[Cut], window: int | None) -> Timeline:
    """The two plots of a session; `window` is that of its newest call, on which subagents are drawn too."""
    if not samples:
        return Timeline()
    columns = _columns(samples, cuts)
    scale = _scale(samples, window)
    dots = _dots(columns, scale)
    places = [(_place(cut, columns), cut) for cut in cuts]
    main = [(column, y) for column in columns if (y := _highest(column, scale, is_main=True)[1]) is not None]
    bars_top = _nice(max((_total(s) for s in samples), default=1))
    return Timeline(
        bands=_bands(scale),
        lines=_lines(scale, window),
        gaps=_gaps([x for x, _ in places], [column.center for column, _ in main]),
        strokes=_strokes([(column.center, y) for column, y in main], [x for x, _ in places]),
        dots=dots,
        marks=tuple(Mark(percent(x), cut.title, cut.href) for x, cut in places),
        ticks=_ticks(columns),
        stacks=tuple(_stack(column, bars_top) for column in columns),
        levels=_levels(bars_top),
        grouped=max(len(column.members) for column in columns),
        is_wide=len(columns) > 40,
    )


def _columns(samples: Sequence[Sample], cuts: Sequence[Cut]) -> list[_Column]:
    """Columns of equal width; none reaches across a compaction."""
    size = ceil(len(samples) / MOST_COLUMNS)
    starts = {cut.number for cut in cuts}
    groups: list[list[Sample]] = []
    for sample in samples:
        if not groups or len(groups[-1]) >= size or sample.number in starts:
            groups.append([])
        groups[-1].append(sample)
    width = 100 / len(groups)
    return [_Column(tuple(group), (index + 0.5) * width, width) for index, group in enumerate(groups)]


def _scale(samples: Sequence[Sample], window: int | None) -> _Scale:
    occupied = [s for s in samples if s.occupancy is not None]
    if not any(s.window for s in occupied):
        return _Scale(_nice(max((s.occupancy or 0 for s in occupied), default=1)), True, window)
    peak = max((ceil((s.occupancy or 0) * 100 / s.window) for s in occupied if s.window), default=0)
    return _Scale(max(100, ceil(peak / 10) * 10), False, window)


def _nice(value: int) -> int:
    """The next of 1, 2, 5 times a power of ten."""
    size = 1
    while size * 10 < value:
        size *= 10
    return next(size * step for step in (1, 2, 5, 10) if size * step >= value)


def _place(cut: Cut, columns: Sequence[_Column]) -> float:
    for column in columns:
        if column.members[-1].number >= cut.number:
            return column.center if cut.is_on_call else column.center - column.width / 2
    return 100.0


def _highest(column: _Column, scale: _Scale, *, is_main: bool) -> tuple[Sample | None, float | None]:
    placed = [(y, s) for s in column.members if s.is_main is is_main and (y := scale.y(s)) is not None]
    if not placed:
        return None, None
    y, sample = min(placed, key=lambda pair: pair[0])
    return sample, y


def _dots(columns: Sequence[_Column], scale: _Scale) -> tuple[Dot, ...]:
    found: list[Dot] = []
    for column in columns:
        for is_main in (False, True):
            sample, y = _highest(column, scale, is_main=is_main)
            if sample is not None and y is not None:
                zone = sample.zone or "UNKNOWN"
                found.append(Dot(percent(column.center), number(y), zone, is_main, sample.title, sample.href))
    return tuple(found)


def _strokes(points: Sequence[tuple[float, float]], cuts: Sequence[float]) -> tuple[Segment, ...]:
    """Between neighbours of the main chain, but never across a compaction."""
    return tuple(
        Segment(percent(x1), number(y1), percent(x2), number(y2))
        for (x1, y1), (x2, y2) in pairwise(points)
        if not any(x1 <= cut <= x2 for cut in cuts)
    )


def _gaps(cuts: Sequence[float], centers: Sequence[float]) -> tuple[Box, ...]:
    """From each compaction to the next call of the main chain nothing is known."""
    found: list[Box] = []
    for cut in cuts:
        until = next((center for center in centers if center > cut), 100.0)
        if until > cut:
            found.append(Box("unknown", percent(cut), number(PAD), percent(until - cut), number(PLOT_HEIGHT - 2 * PAD)))
    return tuple(found)


def _bands(scale: _Scale) -> tuple[Band, ...]:
    if scale.by_tokens:
        height = PLOT_HEIGHT - 2 * PAD
        return (Band("UNKNOWN", number(PAD), number(height), number(PAD + height / 2)),)
    found: list[Band] = []
    top = scale.top
    for low, zone in ZONES:
        upper, lower = level(top / scale.top), level(low / scale.top)
        found.append(Band(zone, number(upper), number(lower - upper), number((upper + lower) / 2)))
        top = low
    return tuple(found)


def _lines(scale: _Scale, window: int | None) -> tuple[Line, ...]:
    if scale.by_tokens:
        return tuple(Line(number(level(v / scale.top)), "", f"{v:,}", False) for v in (0, scale.top // 2, scale.top))
    lines = [Line(number(level(low / scale.top)), f"{low}%", _of(low, window), True) for low, _ in ZONES if low]
    ends = [0, 100] + ([scale.top] if scale.top > 100 else [])
    return tuple([*lines, *(Line(number(level(v / scale.top)), f"{v}%", _of(v, window), False) for v in ends)])


def _of(share: int, window: int | None) -> str:
    return f"{share * window // 100:,}" if window else ""


def _ticks(columns: Sequence[_Column]) -> tuple[Tick, ...]:
    step = _nice(ceil(len(columns) / MOST_TICKS))
    return tuple(Tick(percent(c.center), str(c.members[0].number)) for c in columns[::step])


def _total(sample: Sample) -> int:
    return sample.read + sample.written + sample.uncached


def _stack(column: _Column, top: int) -> Stack:
    """The largest call of the column, from the axis up: read, written, uncached."""
    sample = max(column.members, key=_total)
    inner = column.width * 0.72
    boxes: list[Box] = []
    base = 0
    for kind, count in (("read", sample.read), ("written", sample.written), ("uncached", sample.uncached)):
        if count:
            upper, lower = level((base + count) / top, BARS_HEIGHT), level(base / top, BARS_HEIGHT)
            x = percent(column.center - inner / 2)
            boxes.append(Box(kind, x, number(upper), percent(inner), number(max(lower - upper, 0.75))))
            base += count
    return Stack(tuple(boxes), sample.title, sample.href)


def _levels(top: int) -> tuple[Line, ...]:
    return tuple(Line(number(level(v / top, BARS_HEIGHT)), _short(v), "", False) for v in (0, top // 2, top))


def _short(value: int) -> str:
    return f"{value // 1000:,}k" if value >= 1000 else str(value)


@dataclass(frozen=True, slots=True)
class Spark:
    """A small column chart; each column has its title."""

    columns: tuple["SparkColumn", ...] = ()
    height: int = SPARK_HEIGHT


@dataclass(frozen=True, slots=True)
class SparkColumn:
    """One column; `is_unknown` where nothing is known, which is not zero."""

    box: Box
    title: str
    is_unknown: bool = False


@dataclass(frozen=True, slots=True)
class SparkValue:
    """A value in any unit; None is unknown."""

    value: int | None
    title: str


def spark(values: Sequence[SparkValue]) -> Spark:
    """Columns scaled to the largest; what is above zero is at least a pixel and a half high."""
    if not values:
        return Spark()
    largest = max((v.value or 0 for v in values), default=0) or 1
    width = 100 / len(values)
    inner = width * 0.8
    columns: list[SparkColumn] = []
    for index, entry in enumerate(values):
        height = SPARK_HEIGHT - 2 if entry.value is None else entry.value / largest * (SPARK_HEIGHT - 2)
        if entry.value:
            height = max(height, 1.5)
        x = percent(index * width + (width - inner) / 2)
        box = Box("spark", x, number(SPARK_HEIGHT - height), percent(inner), number(height))
        columns.append(SparkColumn(box, entry.title, entry.value is None))
    return Spark(tuple(columns))


@dataclass(frozen=True, slots=True)
class Strip:
    """Parts of a whole side by side."""

    parts: tuple[Box, ...] = field(default_factory=tuple)


def strip(parts: Sequence[tuple[str, int]], height: int = 14) -> Strip:
    """Boxes that tile the width in proportion; empty parts are left out."""
    whole = sum(count for _, count in parts)
    boxes: list[Box] = []
    x = 0.0
    for kind, count in parts:
        if count > 0 and whole:
            width = count * 100 / whole
            boxes.append(Box(kind, percent(x), "0", percent(width), str(height)))
            x += width
    return Strip(tuple(boxes))
