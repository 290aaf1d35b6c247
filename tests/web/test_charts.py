"""Geometry of the charts."""

from dataclasses import replace

from sessions_app.dashboard import charts, sparks
from sessions_app.dashboard.shapes import Cut, Sample


def sample(number: int, occupancy: int | None, window: int | None = 200_000, *, is_main: bool = True) -> Sample:
    """A call of the main chain unless said otherwise."""
    return Sample(
        number=number,
        title=f"Call {number}",
        tokens_title="",
        href=f"#c{number}",
        occupancy=occupancy,
        window=window,
        zone="GREEN" if is_main and occupancy else "",
        is_main=is_main,
        read=occupancy or 0,
        written=0,
        uncached=0,
    )


def test_timeline__a_zone_boundary__lies_on_the_line_of_its_policy() -> None:
    drawn = charts.timeline([sample(1, 150_000)], [], 200_000)
    line = next(line for line in drawn.lines if line.left == "75%")
    assert drawn.dots[0].y == line.y
    assert line.right == "150,000"
    assert line.is_policy


def test_timeline__more_than_the_window__is_drawn_unclamped() -> None:
    drawn = charts.timeline([sample(1, 276_000)], [], 200_000)
    top = next(line for line in drawn.lines if line.left == "140%")
    full = next(line for line in drawn.lines if line.left == "100%")
    assert float(top.y) < float(drawn.dots[0].y) < float(full.y)


def test_timeline__no_window_known__has_tokens_and_no_zones() -> None:
    drawn = charts.timeline([sample(1, 1_000, None)], [], None)
    assert [band.zone for band in drawn.bands] == ["UNKNOWN"]
    assert not any(line.is_policy for line in drawn.lines)
    assert len(drawn.dots) == 1


def test_timeline__after_a_compaction__nothing_is_known_until_the_next_call_of_the_main_chain() -> None:
    samples = [sample(1, 150_000), sample(2, None), sample(3, 9_000, is_main=False), sample(4, 24_000)]
    drawn = charts.timeline(samples, [Cut(2, True, "compaction", "#compaction-1")], 200_000)
    assert [mark.x for mark in drawn.marks] == ["37.5%"]
    assert [(gap.x, gap.width) for gap in drawn.gaps] == [("37.5%", "50%")]
    assert not drawn.strokes


def test_timeline__a_compaction_at_the_end__leaves_the_rest_unknown() -> None:
    drawn = charts.timeline([sample(1, 150_000), sample(2, 151_000)], [Cut(3, False, "c", "#c")], 200_000)
    assert drawn.marks[0].x == "66.67%"
    assert [(gap.x, gap.width) for gap in drawn.gaps] == [("66.67%", "33.33%")]
    assert len(drawn.strokes) == 1


def test_timeline__a_subagent__is_hollow_and_on_the_scale_of_the_session() -> None:
    drawn = charts.timeline([sample(1, 100_000), sample(2, 100_000, None, is_main=False)], [], 200_000)
    assert [dot.is_main for dot in drawn.dots] == [True, False]
    assert drawn.dots[0].y == drawn.dots[1].y


def test_timeline__thousands_of_calls__share_columns_but_never_across_a_compaction() -> None:
    samples = [sample(n, 1_000 + n) for n in range(1, 5_001)]
    drawn = charts.timeline(samples, [Cut(2_501, False, "c", "#c")], 200_000)
    assert len(drawn.stacks) <= charts.MOST_COLUMNS + 1
    assert drawn.grouped == 32
    assert {dot.href for dot in drawn.dots} >= {"#c2500", "#c5000"}
    assert len(drawn.ticks) <= 20


def test_timeline__nothing__is_empty() -> None:
    assert not charts.timeline([], [], None).dots


def test_spark__unknown_and_zero__look_different() -> None:
    values = [sparks.SparkValue(0, "a"), sparks.SparkValue(None, "b"), sparks.SparkValue(10, "c")]
    drawn = sparks.spark(values).columns
    assert [column.box.height for column in drawn] == ["0", "38", "38"]
    assert [column.is_unknown for column in drawn] == [False, True, False]


def test_strip__parts__tile_the_width() -> None:
    drawn = sparks.strip([("a", 3), ("b", 0), ("c", 1)])
    assert [(box.kind, box.x, box.width) for box in drawn.parts] == [("a", "0%", "75%"), ("c", "75%", "25%")]


def test_timeline__subagents_and_long_pauses__have_lanes_and_lines_of_their_own() -> None:
    calls = [sample(1, 9_000), sample(2, 3_000, is_main=False), sample(3, 4_000, is_main=False), sample(4, 12_000)]
    calls[1:3] = [replace(call, lane="Explore a1") for call in calls[1:3]]
    calls[3] = replace(calls[3], pause="7 min without a call", is_cold=True)
    drawn = charts.timeline(calls, [], 200_000)
    (lane,) = drawn.lanes
    assert [(box.x, box.width) for box in lane.boxes] == [("25%", "25%"), ("50%", "25%")]
    assert [(pause.x, pause.is_cold) for pause in drawn.pauses] == [("75%", True)]


def test_timeline__more_subagents_than_lanes__says_how_many() -> None:
    calls = [replace(sample(n, 3_000, is_main=False), lane=f"agent {n}") for n in range(1, 12)]
    drawn = charts.timeline(calls, [], 200_000)
    assert (len(drawn.lanes), drawn.more_lanes) == (8, 3)
