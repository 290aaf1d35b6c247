"""The walk along the main chain: windows, zones, depth, tool-result share, externalize age."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sessions_app.kernel import names
from sessions_app.kernel.gauges import stated_window
from sessions_app.kernel.readings import Mark, MarkReading, StepsReading, ToolSize
from sessions_app.kernel.usage import TRUST
from sessions_app.kernel.zones import Thresholds, Window, WindowOrigin, Zone, bound, zone_of

#: The rough size of a token in bytes of transcript; every figure made with it is an estimate.
BYTES_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Point:
    """One call of the main chain as the walk sees it."""

    key: str
    at_ms: int
    model: str
    occupancy: int
    #: As stated beside the call.
    window: int | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """What the walk says of one point."""

    window: Window
    zone: Zone
    known_window: int | None
    known_zone: Zone
    depth: int
    tool_share_permille: int | None
    externalize_age_calls: int | None


def tool_sizes(steps: Iterable[StepsReading]) -> dict[str, ToolSize]:
    """Sizes by tool use; where several sources measured one result, the most trusted one counts."""
    ranked: dict[str, tuple[int, ToolSize]] = {}
    for step in steps:
        rank = TRUST.index(step.source)
        for key, size in step.tools.items():
            held = ranked.get(key)
            if held is None or rank == held[0]:
                ranked[key] = (rank, held[1].merge(size) if held else size)
            else:
                first, second = (size, held[1]) if rank < held[0] else (held[1], size)
                ranked[key] = (min(rank, held[0]), _filled(first, second))
    return {key: size for key, (_, size) in ranked.items()}


def _filled(first: ToolSize, second: ToolSize) -> ToolSize:
    """The first, completed by the second where it is silent."""
    return ToolSize(
        name=first.name or second.name,
        result_bytes=second.result_bytes if first.result_bytes is None else first.result_bytes,
        input_bytes=second.input_bytes if first.input_bytes is None else first.input_bytes,
        failed=second.failed if first.failed is None else first.failed,
        at_ms=second.at_ms if first.at_ms is None else first.at_ms,
        thread=first.thread or second.thread,
        input_hash=first.input_hash or second.input_hash,
    )


class Shares:
    """Tool results of the main thread by time, to be asked for the share at a moment."""

    def __init__(self, tools: Mapping[str, ToolSize]) -> None:
        timed = sorted(
            (t.at_ms, t.result_bytes)
            for t in tools.values()
            if not t.thread and t.at_ms is not None and t.result_bytes is not None
        )
        self._times = [at for at, _ in timed]
        self._sums = [0]
        for _, size in timed:
            self._sums.append(self._sums[-1] + size)

    def permille(self, since_ms: int, until_ms: int, occupancy: int) -> int | None:
        """Estimated share of tool results in the context; None when no result was ever seen."""
        if not self._times or occupancy <= 0:
            return None
        inside = self._sums[bisect_right(self._times, until_ms)] - self._sums[bisect_right(self._times, since_ms)]
        return min(1000, inside * 1000 // (BYTES_PER_TOKEN * occupancy))


def walk(
    order: Sequence[Point | int],
    *,
    windows: Mapping[str, int],
    assumed: Mapping[str, int | None],
    compacted_at: Mapping[str, int],
    base_depth: int,
    shares: Shares,
    marks: Iterable[MarkReading],
    thresholds: Thresholds,
) -> dict[str, Placed]:
    """Place each point; an int in `order` is a compaction that ended at that moment (ms).

    `compacted_at` is the highest count at which the host compacted by itself, by plain name of the model.
    """
    points = [item for item in order if isinstance(item, Point)]
    peak = max((p.occupancy for p in points), default=None)
    externalized = sorted(m.at_ms or m.received_ms or 0 for m in marks if m.mark is Mark.EXTERNALIZE)
    placed: dict[str, Placed] = {}
    depth, since_ms, seen = base_depth, 0, list[int]()
    for item in order:
        if isinstance(item, int):
            depth, since_ms = depth + 1, item
            continue
        known = _window(item, windows, assumed)
        final = bound(known, compacted_at.get(names.normalise(item.model)), peak)
        seen.append(item.at_ms)
        placed[item.key] = Placed(
            window=final,
            zone=zone_of(item.occupancy, final.tokens, thresholds),
            known_window=known.tokens,
            known_zone=zone_of(item.occupancy, known.tokens, thresholds),
            depth=depth,
            tool_share_permille=shares.permille(since_ms, item.at_ms, item.occupancy),
            externalize_age_calls=_age(externalized, seen, item.at_ms),
        )
    return placed


def _window(point: Point, stated: Mapping[str, int], assumed: Mapping[str, int | None]) -> Window:
    tokens = point.window or stated_window(point.model, stated)
    if tokens:
        return Window(tokens, WindowOrigin.STATED)
    guess = assumed.get(point.model)
    return Window(guess, WindowOrigin.ASSUMED) if guess else Window()


def _age(externalized: Sequence[int], seen: Sequence[int], at_ms: int) -> int | None:
    """Calls since the last externalize before `at_ms`; None when there was none."""
    before = bisect_right(externalized, at_ms)
    if not before:
        return None
    return sum(1 for moment in reversed(seen) if moment > externalized[before - 1])
