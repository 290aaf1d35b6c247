"""Which model was asked when: some hosts name it once per turn and not beside each call."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable

from sessions_app.kernel.readings import Mark, MarkReading, Reading


class ModelsInForce:
    """The changes of model that a session's records tell, by thread."""

    def __init__(self, readings: Iterable[Reading]) -> None:
        found: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for r in readings:
            if isinstance(r, MarkReading) and r.mark is Mark.MODEL and r.detail is not None and r.at_ms is not None:
                found[r.thread[1]].append((r.at_ms, r.detail[1]))
        self._by_thread = {thread: sorted(changes) for thread, changes in found.items()}

    def at(self, thread: str, at_ms: int) -> str:
        """The model in force, or the first one named where the record begins before any; empty where none is."""
        changes = self._by_thread.get(thread) or self._by_thread.get("") or []
        place = bisect_right(changes, at_ms, key=lambda change: change[0])
        return changes[max(place - 1, 0)][1] if changes else ""
