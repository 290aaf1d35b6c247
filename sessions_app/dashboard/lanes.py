"""Which subagents were at work while the main chain went on, and when it paused. Pure: values in, shapes out."""

from collections.abc import Sequence

from sessions_app.dashboard.shapes import Box, Lane, Pause, Sample, percent

LANE_HEIGHT = 18
MOST_LANES = 8

#: Calls that share a column, its left edge and its width in percent of the plot.
type Place = tuple[Sequence[Sample], float, float]


def lanes_of(places: Sequence[Place]) -> tuple[tuple[Lane, ...], int]:
    """(a lane for each subagent in the order of their first calls, how many more there are)."""
    found: dict[str, list[Box]] = {}
    for members, left, width in places:
        for name in dict.fromkeys(sample.lane for sample in members if sample.lane):
            found.setdefault(name, []).append(Box("lane", percent(left), "0", percent(width), str(LANE_HEIGHT - 6)))
    lanes = [
        Lane(name, index * LANE_HEIGHT + 3, index * LANE_HEIGHT + LANE_HEIGHT // 2, tuple(boxes))
        for index, (name, boxes) in enumerate(found.items())
    ]
    return tuple(lanes[:MOST_LANES]), max(0, len(lanes) - MOST_LANES)


def pauses_of(places: Sequence[Place]) -> tuple[Pause, ...]:
    """A line before each column whose calls came after a long pause; a cold one hides a warm one."""
    found = []
    for members, left, _ in places:
        paused = sorted((sample for sample in members if sample.pause), key=lambda sample: not sample.is_cold)
        if paused:
            found.append(Pause(percent(left), "; ".join(s.pause for s in paused), paused[0].is_cold))
    return tuple(found)
