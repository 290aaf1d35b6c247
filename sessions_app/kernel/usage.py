"""The disjoint leaves of a call, and which record said them."""

from collections.abc import Sequence

from sessions_app.kernel.facts import Leaves, capped
from sessions_app.kernel.readings import CallReading, Source

#: Who is believed first when several records say the same thing.
TRUST = (
    Source.PROXY,
    Source.TRANSCRIPT,
    Source.CANONICAL,
    Source.OTLP_LOG,
    Source.OTLP_SPAN,
    Source.STATUSLINE,
    Source.HOOK,
    Source.OTLP_METRIC,
)


def leaves_of(reading: CallReading) -> Leaves:
    """Leaves of a merged reading: all writes are max(aggregate, split); what the split lacks has unknown TTL."""
    written_5m, written_1h = reading.write_5m or 0, reading.write_1h or 0
    written = capped(max(reading.write_total or 0, written_5m + written_1h))
    written_5m = min(written_5m, written - written_1h)
    unknown = written - written_5m - written_1h
    return Leaves(
        uncached_input=reading.uncached_input or 0,
        cache_read=reading.cache_read or 0,
        cache_write_5m=written - written_1h,
        cache_write_1h=written_1h,
        output=reading.output or 0,
        cache_write_unknown_ttl=unknown,
    )


def origins_of(group: Sequence[CallReading], leaves: Leaves) -> dict[str, object]:
    """Who said what: usage, the TTL split, the host's own price."""
    told = sorted({r.source for r in group if r.uncached_input is not None}, key=TRUST.index)
    origins: dict[str, object] = {"usage": [str(source) for source in told]}
    if leaves.cache_write_5m or leaves.cache_write_1h:
        split = [r.source for r in group if r.write_5m is not None or r.write_1h is not None]
        origins["split"] = str(min(split, key=TRUST.index)) if split else "unknown"
    if any(r.host_cost_nanousd is not None for r in group):
        origins["host_cost"] = str(next(r.source for r in group if r.host_cost_nanousd is not None))
    return origins
