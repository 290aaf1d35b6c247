"""The status line's input of Claude Code: the host's own gauge, sampled, of the main thread only.

Before 2.1.132 `total_*_tokens` were sums of the session, so `current_usage` is what is read. It is null
before the first call and zero right after a compaction; neither is a reading of the context.
"""

import hashlib
from typing import Any

import msgspec

from sessions_app.feeds.base import Context, Feed, Husk, Item, Parsed, Refusal, Refused
from sessions_app.feeds.claude_transcript import FOLDER_RANK
from sessions_app.feeds.husk import husk
from sessions_app.feeds.lines import decode, parse_lines
from sessions_app.feeds.numbers import nanodollars, token_count
from sessions_app.kernel.readings import MeterReading, Reading, SessionReading, Source

#: A git remote is surer than any folder name.
REMOTE_RANK = 1 << 46


def parse(body: bytes, context: Context) -> Parsed:
    """One sample, or one a line."""
    if b"\n" in body.strip():
        try:
            decode(body.strip())
        except Refused:
            return parse_lines(body, context, _reduce_and_read)
    parsed = Parsed()
    try:
        record, _ = decode(body.strip())
        parsed.items.append(Item(1, *_reduce_and_read(record, context)))
    except Refused as refused:
        parsed.refusals.append(Refusal(1, refused.pointer, refused.code, refused.message))
    return parsed


def _reduce_and_read(record: Any, context: Context) -> tuple[Husk, tuple[Reading, ...]]:
    reduced = husk(record)
    repo = _tree(_tree(record, "workspace"), "repo")
    names = [repo.get(name) for name in ("host", "owner", "name")]
    if all(isinstance(name, str) and name for name in names):
        reduced["project"] = "/".join(map(str, names))[:200]
    return reduced, read(reduced, context)


def _tree(record: Any, name: str) -> Husk:
    value = record.get(name) if isinstance(record, dict) else None
    return value if isinstance(value, dict) else {}


def read(sample: Husk, context: Context) -> tuple[Reading, ...]:
    """Readings of one sample."""
    session = sample.get("session_id")
    if not isinstance(session, str) or not session:
        raise Refused("missing_session", "/session_id", "a status line payload needs session_id, a string")
    gauge = _tree(sample, "context_window")
    cost, model = _tree(sample, "cost"), _tree(sample, "model").get("id")
    rank = token_count(_whole(cost.get("total_duration_ms")), "/cost/total_duration_ms") or 0
    named = {"gauge": gauge, "cost": cost, "model": model, "prompt": sample.get("prompt_id")}
    key = hashlib.sha256(msgspec.json.encode(named, order="sorted")).hexdigest()[:20]
    meter = MeterReading(
        session=session,
        source=Source.STATUSLINE,
        key=key,
        received_ms=context.received_ms,
        uptime_ms=rank,
        model=(rank, model) if isinstance(model, str) and model else None,
        window=token_count(gauge.get("context_window_size"), "/context_window/context_window_size"),
        **_usage(gauge.get("current_usage")),
        host_cost_nanousd=nanodollars(cost.get("total_cost_usd"), "/cost/total_cost_usd"),
        five_hour_permille=_permille(sample, "five_hour"),
        seven_day_permille=_permille(sample, "seven_day"),
    )
    return meter, _facts(sample, session, context, model)


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
    return {**leaves, "output": count("output_tokens"), "occupancy": sum(v or 0 for v in leaves.values())}


def _permille(sample: Husk, window: str) -> int | None:
    share = _tree(_tree(sample, "rate_limits"), window).get("used_percentage")
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1000:
        return None
    return round(share * 10)


def _facts(sample: Husk, session: str, context: Context, model: object) -> SessionReading:
    workspace = _tree(sample, "workspace")
    remote = sample.get("project")
    folder = workspace.get("project_dir") or sample.get("cwd")
    received = context.received_ms
    project = (REMOTE_RANK, remote) if isinstance(remote, str) and remote else None
    if project is None and isinstance(folder, str) and folder:
        project = (FOLDER_RANK - received, folder)
    version = sample.get("version")
    return SessionReading(
        session=session,
        source=Source.STATUSLINE,
        key="session",
        received_ms=received,
        version=(received, version) if isinstance(version, str) and version else None,
        model=(received, model) if isinstance(model, str) and model else None,
        project=project,
    )


FEED = Feed("claude-code-statusline", "claude-code", parse, read)
