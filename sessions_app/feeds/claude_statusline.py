"""The status line's input of Claude Code: the host's own gauge, sampled, of the main thread only.

Before 2.1.132 `total_*_tokens` were sums of the session, so `current_usage` is what is read. It is null
before the first call and zero right after a compaction; neither is a reading of the context.
"""

import hashlib
from typing import Any

import msgspec

from sessions_app.feeds.base import Context, Feed, Husk, Parsed, Refused
from sessions_app.feeds.bodies import parse_records, payloads, unwrapped
from sessions_app.feeds.claude_line import FOLDER_RANK
from sessions_app.feeds.husk import husk
from sessions_app.feeds.numbers import LARGEST, nanodollars, token_count
from sessions_app.kernel.readings import MeterReading, Reading, SessionReading, Source

#: A git remote is surer than any folder name.
REMOTE_RANK = 1 << 46


def reduce(record: Any) -> Husk:
    """The husk of a sample, with the repository as `project`: its parts alone are names of anything."""
    reduced = husk(record)
    for place, sample in payloads(record):
        repo = _tree(_tree(sample, "workspace"), "repo")
        parts = [repo.get(name) for name in ("host", "owner", "name")]
        if all(isinstance(part, str) and part for part in parts):
            (reduced[place] if place else reduced).update(husk({"project": "/".join(map(str, parts))}))
    return reduced


def parse(body: bytes, context: Context) -> Parsed:
    """One sample, a list of them, or one a line; each may be wrapped as `{"received_at", "payload"}`."""
    return parse_records(body, context, _reduce_and_read)


def _reduce_and_read(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
    reduced = reduce(record)
    return reduced, read(reduced, context)


def _tree(record: Husk, name: str) -> Husk:
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def read(record: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one sample. Refused: `missing_session`, bad counts and amounts."""
    sample, received_ms, where = unwrapped(record, context)
    session = sample.get("session_id")
    if not isinstance(session, str) or not session:
        raise Refused("missing_session", f"{where}/session_id", "a status line payload needs session_id, a string")
    try:
        meter = _meter(sample, session, received_ms)
    except Refused as refused:
        raise Refused(refused.code, where + refused.pointer, refused.message) from None
    return meter, _facts(sample, session, received_ms, meter)


def _meter(sample: Husk, session: str, received_ms: int) -> MeterReading:
    gauge, cost, model = _tree(sample, "context_window"), _tree(sample, "cost"), _tree(sample, "model").get("id")
    uptime_ms = token_count(_whole(cost.get("total_duration_ms")), "/cost/total_duration_ms")
    usage, dollars = gauge.get("current_usage"), cost.get("total_cost_usd")
    # Without the ticking duration: a gauge that stands still for an hour is one reading and not thousands.
    named = [gauge.get("context_window_size"), usage, dollars, model]
    return MeterReading(
        session=session,
        source=Source.STATUSLINE,
        key=hashlib.sha256(msgspec.json.encode(named, order="sorted")).hexdigest()[:20],
        received_ms=received_ms,
        uptime_ms=uptime_ms,
        first_uptime_ms=uptime_ms,
        model=(uptime_ms or 0, model) if isinstance(model, str) and model else None,
        window=token_count(gauge.get("context_window_size"), "/context_window/context_window_size"),
        **_usage(usage),
        host_cost_nanousd=nanodollars(dollars, "/cost/total_cost_usd"),
        five_hour_permille=_permille(sample, "five_hour"),
        seven_day_permille=_permille(sample, "seven_day"),
    )


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value == value and abs(value) < 1 << 53 else value


def _usage(usage: object) -> dict[str, int | None]:
    """The last response; occupancy None where the host says null, 0 where it says zero."""
    if not isinstance(usage, dict):
        return {}
    where = "/context_window/current_usage"

    def count(name: str) -> int | None:
        return token_count(usage.get(name), f"{where}/{name}")

    leaves = {
        "uncached_input": count("input_tokens"),
        "cache_read": count("cache_read_input_tokens"),
        "write_total": count("cache_creation_input_tokens"),
    }
    known = [value for value in leaves.values() if value is not None]
    return {**leaves, "output": count("output_tokens"), "occupancy": min(sum(known), LARGEST) if known else None}


def _permille(sample: Husk, window: str) -> int | None:
    share = _tree(_tree(sample, "rate_limits"), window).get("used_percentage")
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1000:
        return None
    return round(share * 10)


def _facts(sample: Husk, session: str, received_ms: int, meter: MeterReading) -> SessionReading:
    remote, version = sample.get("project"), sample.get("version")
    folder = _tree(sample, "workspace").get("project_dir") or sample.get("cwd")
    project = (REMOTE_RANK, remote) if isinstance(remote, str) and remote else None
    if project is None and isinstance(folder, str) and folder:
        project = (FOLDER_RANK - received_ms, folder)
    return SessionReading(
        session=session,
        source=Source.STATUSLINE,
        key="session",
        received_ms=received_ms,
        version=(meter.uptime_ms or 0, version) if isinstance(version, str) and version else None,
        model=meter.model,
        project=project,
    )


FEED = Feed("claude-code-statusline", "claude-code", parse, read)
