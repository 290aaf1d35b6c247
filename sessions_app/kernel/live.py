"""The newest reading of the main chain: value, origin, time; UNKNOWN after a compaction."""

from collections.abc import Sequence
from typing import Any

from sessions_app.kernel.facts import CallFact, FoldInput
from sessions_app.kernel.gauges import in_order, stated_windows
from sessions_app.kernel.readings import MeterReading
from sessions_app.kernel.times import when
from sessions_app.kernel.zones import Thresholds, WindowOrigin, Zone, zone_of

ORDER = (Zone.UNKNOWN, Zone.GREEN, Zone.AMBER, Zone.RED, Zone.CRITICAL)


def current(given: FoldInput, calls: Sequence[CallFact], ends_with_compaction: bool) -> dict[str, Any]:
    """Window, occupancy and zone of now and of the peak, as fields of the session row."""
    meters = in_order(r for r in given.readings if isinstance(r, MeterReading))
    main = [c for c in calls if c.zone is not None]
    if not main:
        return _by_meters(meters, given.thresholds)
    last = main[-1]
    zone = Zone.UNKNOWN if ends_with_compaction else last.zone
    peak = max(main, key=lambda c: c.occupancy or 0)
    return {
        "window": last.window.tokens,
        "window_origin": str(last.window.origin),
        "last_occupancy": last.occupancy,
        "peak_occupancy": peak.occupancy,
        "zone": str(zone),
        "peak_zone": str(max((c.zone or Zone.UNKNOWN for c in main), key=ORDER.index)),
        "current": {
            "occupancy": None if ends_with_compaction else last.occupancy,
            "origin": "call",
            "at": last.started_at.isoformat(),
            "zone": str(zone),
            "tool_share_permille": None if ends_with_compaction else last.tool_share_permille,
            "why": "no usage since the last compaction" if ends_with_compaction else "",
        },
    }


def _by_meters(meters: Sequence[MeterReading], thresholds: Thresholds) -> dict[str, Any]:
    """The host's gauge alone: null before the first call is no point, zero after a compaction is unknown."""
    windows = stated_windows(meters)
    window = next(iter(sorted(windows.values(), reverse=True)), None)
    points = [(m, zone_of(m.occupancy, m.window, thresholds)) for m in meters if m.occupancy]
    last = meters[-1] if meters else None
    known = bool(last and last.occupancy)
    zone = points[-1][1] if points and known else Zone.UNKNOWN
    return {
        "window": last.window if last and last.window else window,
        "window_origin": str(WindowOrigin.STATED) if window else "",
        "last_occupancy": points[-1][0].occupancy if points else None,
        "peak_occupancy": max((m.occupancy or 0 for m, _ in points), default=None),
        "zone": str(zone),
        "peak_zone": str(max((z for _, z in points), key=ORDER.index, default=Zone.UNKNOWN)),
        "current": {
            "occupancy": last.occupancy if last and known else None,
            "origin": "statusline" if meters else "",
            "at": when(last.received_ms or 0).isoformat() if last else None,
            "zone": str(zone),
            "why": "" if known or not points else "the host says zero, as it does right after a compaction",
            "points": [str(z) for _, z in points],
        },
    }
