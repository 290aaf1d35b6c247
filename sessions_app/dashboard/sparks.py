"""Small charts beside figures: columns by day, and parts of a whole. Pure: values in, shapes out."""

from collections.abc import Sequence
from dataclasses import dataclass

from sessions_app.dashboard.shapes import Box, number, percent

SPARK_HEIGHT = 40


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

    parts: tuple[Box, ...] = ()


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
