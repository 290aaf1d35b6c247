"""How sessions look from outside. Money is an exact decimal string, times are ISO 8601 in UTC."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg

from ecm_site.common import figures
from sessions_app.kernel import names, spans
from sessions_app.kernel.live_state import Figure, Now
from sessions_app.kernel.readings import Purpose
from sessions_app.models import Call, Compaction, Session, Thread
from sessions_app.services import persons

CALLS = ("calls", "aux_calls", "subagent_calls", "inherited_calls", "unpriced_calls")
TOKENS = ("uncached_input", "cache_read", "cache_write_5m", "cache_write_1h", "cache_write_unknown_ttl", "output")
_AS_THEY_ARE = (
    "host",
    "host_session_id",
    "branch",
    "version",
    "model",
    *CALLS,
    *TOKENS,
    "compactions",
    "depth",
    "threads",
    "window",
    "window_origin",
    "last_occupancy",
    "peak_occupancy",
    "zone",
    "peak_zone",
    "warnings",
    "lower_bound",
    "sources",
    "current",
    "fold_error",
)
_CALL_FIELDS = (
    "number",
    "thread",
    "purpose",
    "model",
    *TOKENS,
    "reasoning",
    "occupancy",
    "window",
    "window_origin",
    "zone",
    "known_window",
    "known_zone",
    "depth",
    "tool_share_permille",
    "externalize_age_calls",
    "origins",
    "flags",
)
_COMPACTION_FIELDS = (
    "number",
    "kind",
    "state",
    "trigger",
    "thread",
    "duration_ms",
    "depth",
    "before_tokens",
    "before_origin",
    "before_by_last_call",
    "before_by_telemetry",
    "after_tokens",
    "after_by_host",
    "saved_tokens",
    "signals",
)


def usd(amount: Decimal | None) -> str | None:
    """All known digits without trailing zeros; null stays null."""
    return None if amount is None else figures.usd_exact(amount)


def moment(at: datetime | None) -> str | None:
    """ISO 8601 with Z."""
    return None if at is None else at.isoformat().replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Parts:
    """What the sessions of one answer consist of, by session id; read in a fixed number of queries."""

    zones: Mapping[int, list[str]] = field(default_factory=dict)
    models: Mapping[int, list[str]] = field(default_factory=dict)
    compactions: Mapping[int, list[Compaction]] = field(default_factory=dict)
    threads: Mapping[int, list[Thread]] = field(default_factory=dict)
    #: Only of sessions that may name theirs.
    developers: Mapping[int, str] = field(default_factory=dict)


def parts_of(ids: Sequence[int]) -> Parts:
    """Read the parts of these sessions."""
    calls = Call.objects.filter(session__in=ids)
    points = calls.filter(purpose__in=(Purpose.TURN, Purpose.RECOUNT), thread="").values("session_id")
    zones = points.annotate(zones=ArrayAgg("zone", order_by="number")).values_list("session_id", "zones")
    models: dict[int, list[str]] = defaultdict(list)
    for session_id, model in calls.order_by("session_id", "model").values_list("session_id", "model").distinct():
        if (name := names.normalise(model)) and name not in models[session_id]:
            models[session_id].append(name)
    return Parts(
        dict(zones),
        models,
        _by_session(Compaction.objects.filter(session__in=ids).order_by("number")),
        _by_session(Thread.objects.filter(session__in=ids).order_by("first_at", "key")),
        persons.named(session_ids=ids),
    )


def _by_session[R: (Compaction, Thread)](rows: Iterable[R]) -> dict[int, list[R]]:
    found: dict[int, list[R]] = defaultdict(list)
    for row in rows:
        found[row.session_id].append(row)
    return found


def session(row: Session, parts: Parts) -> dict[str, Any]:
    """One session of a list (docs/schemas/session.schema.json)."""
    is_priced = row.cost_usd is not None or not row.total_tokens
    return {
        "id": row.pk,
        **{name: getattr(row, name) for name in _AS_THEY_ARE},
        "team": row.team.slug,
        "project": row.project.name if row.project else None,
        "developer": parts.developers.get(row.pk),
        "parent": row.parent_id,
        "models": parts.models.get(row.pk, []),
        "first_at": moment(row.first_at),
        "last_at": moment(row.last_at),
        "ended_at": moment(row.ended_at),
        "duration_s": int((row.last_at - row.first_at).total_seconds()) if row.first_at and row.last_at else None,
        "received_at": moment(row.received_at),
        "folded_at": moment(row.folded_at),
        "dirty": row.revision > row.folded_revision,
        "cost_usd": usd(row.cost_usd),
        "no_cache_cost_usd": usd(row.no_cache_cost_usd),
        "saved_usd": usd(row.saved_usd),
        "host_cost_usd": usd(row.host_cost_usd),
        "cost_complete": row.cost_complete and is_priced,
        # A session that only its gauge told of has points without calls.
        "zones": parts.zones.get(row.pk) or row.current.get("points", []),
        "compaction_entries": [_compaction(entry) for entry in parts.compactions.get(row.pk, ())],
        "thread_entries": [_thread(entry) for entry in parts.threads.get(row.pk, ())],
    }


def call(row: Call) -> dict[str, Any]:
    """One call of a session's own answer."""
    return {
        **{name: getattr(row, name) for name in _CALL_FIELDS},
        "started_at": moment(row.started_at),
        "ended_at": moment(row.ended_at),
        "cost_usd": usd(row.cost_usd),
        "no_cache_cost_usd": usd(row.no_cache_cost_usd),
        "host_cost_usd": usd(row.host_cost_usd),
        "price_row": row.price_row_id,
        "missed_tokens": row.missed_tokens,
        "miss_cause": row.miss_cause,
        "miss_cost_usd": usd(row.miss_cost_usd),
    }


def live(row: Session, now: Now, calls: Iterable[Call]) -> dict[str, Any]:
    """What is known of the main thread now; each figure with origin, time and how many calls it may be behind."""
    points = [call for call in calls if call.zone]
    share = points[-1].tool_share_permille if points else None
    return {
        "occupancy": _figure(now.occupancy),
        "window": {"value": now.window.tokens, "origin": str(now.window.origin)},
        "zone": str(now.zone),
        "cache": {
            "expires_at": now.cache_expires_at,
            "ttl_seconds": now.cache_ttl_seconds,
            "ttl_assumed": now.cache_ttl_assumed,
            "cold_costs_usd": usd(now.cold_costs_usd),
        },
        "depth": _folded(row, row.depth),
        "tool_share_permille": _folded(row, share),
        "cost_usd": _folded(row, usd(row.cost_usd)),
    }


def zone_spans(row: Session, parts: Parts, calls: Iterable[Call]) -> list[dict[str, Any]]:
    """The main thread's time by zone, each stretch with the window it is of and how that is known."""
    points = [spans.Reached(c.started_at, c.zone, c.window, c.window_origin) for c in calls if c.zone]
    replaced = [
        entry.at
        for entry in parts.compactions.get(row.pk, ())
        if entry.at and entry.kind == "compaction" and entry.state in ("completed", "summary_only") and not entry.thread
    ]
    return [
        {
            "zone": span.zone,
            "window": span.window,
            "window_origin": span.window_origin,
            "started_at": moment(span.started_at),
            "ended_at": moment(span.ended_at),
            "calls": span.calls,
        }
        for span in spans.spans(points, replaced, row.last_at)
    ]


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "value": figure.value,
        "origin": figure.origin,
        "taken_at": figure.taken_at,
        "calls_behind": figure.calls_behind,
    }


def _folded(row: Session, value: Any) -> dict[str, Any]:
    """A figure of the last fold; behind as long as readings wait for the next one."""
    return {
        "value": value,
        "origin": "fold",
        "taken_at": moment(row.folded_at),
        "dirty": row.revision > row.folded_revision,
    }


def _compaction(row: Compaction) -> dict[str, Any]:
    return {**{name: getattr(row, name) for name in _COMPACTION_FIELDS}, "at": moment(row.at)}


def _thread(row: Thread) -> dict[str, Any]:
    return {
        "thread": row.key,
        "agent_type": row.agent_type,
        "calls": row.calls,
        "tokens": row.tokens,
        "peak_occupancy": row.peak_occupancy,
        "cost_usd": usd(row.cost_usd),
        "first_at": moment(row.first_at),
        "last_at": moment(row.last_at),
    }
