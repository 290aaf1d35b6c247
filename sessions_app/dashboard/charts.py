"""The timeline of a session: fill and tokens, call by call. Pure: values in, shapes out."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from sessions_app.dashboard.lanes import LANE_HEIGHT, lanes_of, pauses_of
from sessions_app.dashboard.shapes import (
    BARS_HEIGHT,
    PAD,
    PLOT_HEIGHT,
    Band,
    Box,
    Cut,
    Dot,
    Line,
    Mark,
    Sample,
    Segment,
    Stack,
    Tick,
    Timeline,
    level,
    number,
    percent,
)
from sessions_app.kernel.zones import Thresholds, Zone

#: More calls than this share a column: the highest of the column is drawn.
MOST_COLUMNS = 160
MOST_TICKS = 10
#: Columns up to which words fit under them.
MOST_NOTED = 16
#: (lower bound in percent, zone) from the top down.
ZONES = (
    (Thresholds().critical, Zone.CRITICAL),
    (Thresholds().red, Zone.RED),
    (Thresholds().amber, Zone.AMBER),
    (0, Zone.GREEN),
)


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


def timeline(samples: Sequence[Sample], cuts: Sequence[Cut], window: int | None) -> Timeline:
    """The two plots of a session; `window` is that of its newest call, on which subagents are drawn too."""
    if not samples:
        return Timeline()
    columns = _columns(samples, cuts)
    scale = _scale(samples, window)
    dots = _dots(columns, scale)
    places = [(_place(cut, columns), cut) for cut in cuts]
    main = [(column, y) for column in columns if (y := _highest(column, scale, is_main=True)[1]) is not None]
    columns_at = [(column.members, column.center - column.width / 2, column.width) for column in columns]
    lanes, more_lanes = lanes_of(columns_at)
    bars_top = _nice(max((_total(s) for s in samples), default=1))
    return Timeline(
        bands=_bands(scale),
        lines=_lines(scale, window),
        gaps=_gaps([x for x, _ in places], [column.center for column, _ in main]),
        strokes=_strokes([(column.center, y) for column, y in main], [x for x, _ in places]),
        dots=dots,
        marks=tuple(Mark(percent(x), cut.title, cut.href) for x, cut in places),
        pauses=pauses_of(columns_at),
        lanes=lanes,
        lanes_height=len(lanes) * LANE_HEIGHT,
        more_lanes=more_lanes,
        ticks=_ticks(columns),
        notes=_notes(columns),
        stacks=tuple(_stack(column, bars_top) for column in columns),
        levels=_levels(bars_top),
        grouped=max(len(column.members) for column in columns),
        is_wide=len(columns) > 40,
    )


def _columns(samples: Sequence[Sample], cuts: Sequence[Cut]) -> list[_Column]:
    """Columns of equal width; none reaches across a compaction. One that ends the session leaves room after it."""
    size = ceil(len(samples) / MOST_COLUMNS)
    starts = {cut.number for cut in cuts}
    groups: list[list[Sample]] = []
    for sample in samples:
        if not groups or len(groups[-1]) >= size or sample.number in starts:
            groups.append([])
        groups[-1].append(sample)
    is_open = any(cut.number > samples[-1].number for cut in cuts)
    width = 100 / (len(groups) + is_open)
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
    return columns[-1].center + columns[-1].width / 2


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
    return (*lines, *(Line(number(level(v / scale.top)), f"{v}%", _of(v, window), False) for v in ends))


def _of(share: int, window: int | None) -> str:
    return f"{share * window // 100:,}" if window else ""


def _ticks(columns: Sequence[_Column]) -> tuple[Tick, ...]:
    step = _nice(ceil(len(columns) / MOST_TICKS))
    return tuple(Tick(percent(c.center), str(c.members[0].number)) for c in columns[::step])


def _notes(columns: Sequence[_Column]) -> tuple[Tick, ...]:
    """Words under the columns, as long as they have room."""
    if len(columns) > MOST_NOTED:
        return ()
    return tuple(Tick(percent(c.center), s.note) for c in columns for s in c.members if s.note)


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
    return Stack(tuple(boxes), sample.tokens_title, sample.href)


def _levels(top: int) -> tuple[Line, ...]:
    return tuple(Line(number(level(v / top, BARS_HEIGHT)), _short(v), "", False) for v in (0, top // 2, top))


def _short(value: int) -> str:
    return f"{value // 1000:,}k" if value >= 1000 else str(value)
