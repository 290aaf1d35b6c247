"""Write projections by difference: only rows whose content changed are touched."""

import hashlib
import itertools
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from decimal import Decimal
from typing import Any

from django.db import models

from sessions_app.kernel.facts import (
    CallFact,
    ClearingFact,
    CompactionFact,
    Leaves,
    SessionFold,
    SlotFact,
    ThreadFact,
    ToolFact,
    Worth,
)
from sessions_app.kernel.zones import Zone
from sessions_app.models import Call, Clearing, Compaction, Thread, ToolUse, UsageSlot
from sessions_app.services import rows
from sessions_app.services.store import cursor, pipeline

BATCH = 2_000
LONGEST_KEY, LONGEST_THREAD, LONGEST_SLOT = 240, 120, 160
#: What the column of a depth holds.
DEEPEST = (1 << 15) - 1


_TABLES = (Call, Compaction, Thread, Clearing, ToolUse, UsageSlot)
_STORED = " UNION ALL ".join(
    f"SELECT {number}, key, digest FROM {model._meta.db_table} WHERE session_id = %(session)b"  # noqa: S608 - our own tables
    for number, model in enumerate(_TABLES)
)


def write(session_id: int, outcome: SessionFold) -> bool:
    """Make the projections of a session equal to the fold's outcome; gives whether a call or a sum of calls changed."""
    stored: list[dict[str, str]] = [{} for _ in _TABLES]
    with cursor() as cur:
        for number, key, digest in cur.execute(_STORED, {"session": session_id}):
            stored[int(str(number))][str(key)] = str(digest)
    told: tuple[Iterable[dict[str, Any]], ...] = (
        (_call(fact) for fact in outcome.calls),
        (_compaction(fact) for fact in outcome.compactions),
        (_thread(fact) for fact in outcome.threads),
        (_clearing(fact) for fact in outcome.clearings),
        (_tool(fact) for fact in outcome.tools),
        (_slot(fact) for fact in outcome.slots),
    )
    with pipeline():
        changed = {
            model
            for model, mine, digests in zip(_TABLES, told, stored, strict=True)
            if _write(model, session_id, mine, digests)
        }
    return not changed.isdisjoint((Call, UsageSlot))


def _write(model: type[models.Model], session_id: int, told: Iterable[dict[str, Any]], stored: dict[str, str]) -> bool:
    written = False
    changed = ((row, digest) for row in told if stored.pop(row["key"], None) != (digest := _digest(row)))
    # Batch by batch: the rows of a long session would take more memory than everything else of it.
    for batch in itertools.batched(changed, BATCH):
        rows.upsert(model, session_id, [{**row, "digest": digest} for row, digest in batch])
        written = True
    if stored:
        rows.drop(model, session_id, stored)
    return written or bool(stored)


def fitted(name: str, most: int) -> str:
    """A name as long as its column: two long ones stay two."""
    if len(name) <= most:
        return name
    return f"{name[: most - 17]}~{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def _digest(row: Mapping[str, Any]) -> str:
    return hashlib.blake2b(rows.encoded(row), digest_size=8).hexdigest()


def _leaves(leaves: Leaves) -> dict[str, int]:
    return {
        "uncached_input": leaves.uncached_input,
        "cache_read": leaves.cache_read,
        "cache_write_5m": leaves.cache_write_5m,
        "cache_write_1h": leaves.cache_write_1h,
        "cache_write_unknown_ttl": leaves.cache_write_unknown_ttl,
        "output": leaves.output,
    }


def _call(fact: CallFact) -> dict[str, Any]:
    return {
        "key": fitted(fact.key, LONGEST_KEY),
        "number": fact.number,
        "thread": fitted(fact.thread, LONGEST_THREAD),
        "purpose": str(fact.purpose),
        "model": fact.model[:120],
        "started_at": fact.started_at,
        "ended_at": fact.ended_at,
        **_leaves(fact.leaves),
        "reasoning": fact.reasoning,
        "cost_usd": fact.cost_usd,
        "no_cache_cost_usd": fact.no_cache_cost_usd,
        "host_cost_usd": fact.host_cost_usd,
        "price_row_id": fact.price_id,
        "occupancy": fact.occupancy,
        "window": fact.window.tokens,
        "window_origin": str(fact.window.origin),
        "zone": str(fact.zone or ""),
        "known_window": fact.known_window,
        "known_zone": str(fact.known_zone or ""),
        "depth": min(fact.depth, DEEPEST),
        "tool_share_permille": fact.tool_share_permille,
        "externalize_age_calls": fact.externalize_age_calls,
        "evidence": fact.evidence,
        # The ledger fills in the rest, in the same transaction.
        "is_explained": False,
        "needed_usd": None,
        "origins": fact.origins,
        "flags": list(fact.flags),
    }


def _compaction(fact: CompactionFact) -> dict[str, Any]:
    return {
        "key": fitted(fact.key, LONGEST_KEY),
        "number": fact.number,
        "kind": str(fact.kind),
        "state": str(fact.state),
        "trigger": fact.trigger,
        "thread": fitted(fact.thread, LONGEST_THREAD),
        "at": fact.at,
        "duration_ms": fact.duration_ms,
        "depth": min(fact.depth, DEEPEST),
        "before_tokens": fact.before_tokens,
        "before_origin": fact.before_origin,
        "before_by_last_call": fact.before_by_last_call,
        "before_by_telemetry": fact.before_by_telemetry,
        "after_tokens": fact.after_tokens,
        "after_by_host": fact.after_by_host,
        "saved_tokens": fact.saved_tokens,
        "next_call": fitted(fact.next_call, LONGEST_KEY),
        "summary_call": fitted(fact.summary_call, LONGEST_KEY),
        "signals": list(fact.signals),
        **_worth(fact.worth),
        "rereads": fact.rereads,
        "reread_bytes": fact.reread_bytes,
    }


def _worth(worth: Worth | None) -> dict[str, Any]:
    names = (field.name for field in fields(Worth))
    return {name: getattr(worth, name) if worth else None for name in names}


def _clearing(fact: ClearingFact) -> dict[str, Any]:
    return {
        **asdict(fact),
        "key": fitted(fact.key, LONGEST_KEY),
        "kind": str(fact.kind),
        "thread": fitted(fact.thread, LONGEST_THREAD),
        "call": fitted(fact.call, LONGEST_KEY),
    }


def _tool(fact: ToolFact) -> dict[str, Any]:
    return {**asdict(fact), "key": fitted(fact.key, LONGEST_THREAD)}


def _thread(fact: ThreadFact) -> dict[str, Any]:
    return {
        "key": fitted(fact.key, LONGEST_THREAD),
        "agent_type": fact.agent_type[:120],
        "calls": fact.calls,
        "peak_occupancy": fact.peak_occupancy,
        "tokens": fact.tokens,
        "cost_usd": fact.cost_usd,
        "first_at": fact.first_at,
        "last_at": fact.last_at,
        "returned_tokens": fact.returned_tokens,
    }


def _slot(fact: SlotFact) -> dict[str, Any]:
    return {
        "key": fitted(fact.key, LONGEST_SLOT),
        "slot_at": fact.slot_at,
        "model": fact.model[:120],
        "calls": fact.calls,
        "aux_calls": fact.aux_calls,
        **_leaves(fact.leaves),
        "cost_usd": fact.cost_usd,
        "no_cache_cost_usd": fact.no_cache_cost_usd,
        "unpriced_calls": fact.unpriced_calls,
        "rounds": fact.rounds,
        "wide_rounds": fact.wide_rounds,
        "over_rounds": fact.over_rounds,
        "is_explained": False,
        **{str(zone).lower(): fact.zones.get(zone, 0) for zone in Zone},
    }


def exact(amount: Decimal | None) -> str | None:
    """Money as an exact plain decimal string, without trailing zeros; None stays None."""
    if amount is None:
        return None
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
