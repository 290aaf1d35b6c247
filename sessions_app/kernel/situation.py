"""What is known of a thread at a hook, as values with their origin: the raw material of a verdict.

Unknown stays unknown; nothing here waits for a fold, and what only a fold knows carries its age.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sessions_app.kernel import names, trail
from sessions_app.kernel.live_state import LiveState, Now
from sessions_app.kernel.times import when
from sessions_app.kernel.trail import Trail
from sessions_app.kernel.zones import Window, WindowOrigin

#: Sinks of durable memory, by what the reading names.
SINKS = ("crystalium", "file", "server")


@dataclass(frozen=True, slots=True)
class Folded:
    """What the last fold knew of the session, and of when that is."""

    depth: int = 0
    compactions: int = 0
    window: int | None = None
    window_origin: str = ""
    tool_share_permille: int | None = None
    at: datetime | None = None
    is_behind: bool = False


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value is from, when it was taken (ISO 8601), and how many calls it may be behind."""

    origin: str
    taken_at: str | None = None
    calls_behind: int = 0


@dataclass(frozen=True, slots=True)
class Situation:
    """Values by signal (None: unknown; "unset": there is none) with their origins, and moments that count calls."""

    values: Mapping[str, object]
    origins: Mapping[str, Origin]
    calls_since_compaction: int | None
    trail: Trail


def situation(
    state: LiveState, known: Now, folded: Folded, *, host: str, subagent: bool, now: datetime, soon_calls: int
) -> Situation:
    """The situation of one thread; a subagent's depth is its own, and it has none."""
    path = state.trail or Trail()
    depth = 0 if subagent else folded.depth + max(0, trail.compactions_told(path) - folded.compactions)
    last = trail.last_compactions(path)
    since = trail.calls_after(path, last[0]) if last else None
    gauge = Origin(known.occupancy.origin, known.occupancy.taken_at, known.occupancy.calls_behind)
    window = _window(known.window, folded)
    values: dict[str, object] = {
        "context_tokens": known.occupancy.value,
        "window_tokens": window.tokens,
        "behind_calls": None if known.occupancy.value is None else known.occupancy.calls_behind,
        "depth": depth,
        "externalize_age_calls": _externalize_age(path, state),
        "calls_since_compaction": ("unset" if depth == 0 else None) if since is None else since,
        "repeat_failures": trail.repeated_failures(path) if path.outcomes else None,
        "thrash": _compacted_twice(path, last, soon_calls),
        "thread_kind": "subagent" if subagent else "main",
        "host": host,
    }
    origins = {"context_tokens": gauge, "window_tokens": Origin(str(window.origin) or "none"), "behind_calls": gauge}
    live = Origin("live", now.isoformat())
    origins |= dict.fromkeys(("depth", "externalize_age_calls", "calls_since_compaction", "thrash"), live)
    origins["repeat_failures"] = Origin("hook" if path.outcomes else "")
    if window.tokens:
        values["window_kind"] = str(window.origin)
    if folded.tool_share_permille is not None and not subagent and known.occupancy.value is not None:
        values["tool_result_share"] = f"{folded.tool_share_permille / 1000:.3f}"
        taken = folded.at.isoformat() if folded.at else None
        origins["tool_result_share"] = Origin("estimated", taken, int(folded.is_behind))
    _add_use(values, origins, state, known, now)
    return Situation(values, origins, since, path)


def _add_use(
    values: dict[str, object], origins: dict[str, Origin], state: LiveState, known: Now, now: datetime
) -> None:
    """What follows from the newest call: its model, how long ago it was, when its cache expires."""
    use = state.use
    if use is None:
        return
    taken = Origin(use.source, when(use.at_ms).isoformat())
    values["idle_seconds"] = max(0, int((now - when(use.at_ms)).total_seconds()))
    origins["idle_seconds"] = taken
    if use.model:
        values["model"], origins["model"] = names.normalise(use.model), taken
    if known.cache_expires_at is not None:
        left = (datetime.fromisoformat(known.cache_expires_at) - now).total_seconds()
        values["cache_expiry_seconds"] = max(0, int(left))
        origins["cache_expiry_seconds"] = Origin("assumed" if known.cache_ttl_assumed else use.source, taken.taken_at)


def _window(live: Window, folded: Folded) -> Window:
    """An assumed window is bounded by an automatic compaction that the fold saw."""
    is_bounded = folded.window_origin == WindowOrigin.BOUNDED and folded.window is not None
    if live.origin is WindowOrigin.ASSUMED and is_bounded:
        return Window(folded.window, WindowOrigin.BOUNDED)
    return live


def _externalize_age(path: Trail, state: LiveState) -> object:
    """Calls since the last write; unset: never, as far as anything was seen at all."""
    if path.externalized is None:
        return "unset" if state.use or state.gauge else None
    return trail.calls_after(path, path.externalized[0])


def _compacted_twice(path: Trail, last: tuple[int, ...], soon_calls: int) -> bool | None:
    if len(last) < 2:
        return False if path.calls else None
    between = trail.calls_after(path, last[1]) - trail.calls_after(path, last[0])
    return between <= soon_calls


def sink_before(path: Trail, compaction_ms: int, apart_ms: int = 5_000) -> str:
    """Where specifics were written between the compaction before this one and this one; none where nowhere."""
    if path.externalized is None:
        return "none"
    at, tool = path.externalized
    before = max((each for each in path.compactions.values() if each < compaction_ms - apart_ms), default=0)
    return sink_of(tool) if before < at <= compaction_ms + apart_ms else "none"


def sink_of(tool: str) -> str:
    """The class of a sink by the tool that wrote, or by the name that a client gave."""
    if tool.startswith("mcp__crystalium__"):
        return "crystalium"
    return tool if tool in SINKS else "file"
