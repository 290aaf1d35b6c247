"""The bracket of a compaction: pins named before it, injected once after it, measured, repaired at the next prompt.

Hooks, confirmations and counts of one compaction arrive in any order, some late from a spool; they meet in one row by
their moments. The caller holds the lock on the session's standing row, so one delivery at a time is here.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q

from policy_app.kernel import messages
from policy_app.services.inforce import Scope
from policy_app.services.pinning import LivePins, live_pins, session_key
from sessions_app.kernel.situation import sink_before
from sessions_app.kernel.trail import Trail
from sessions_app.models import Restoration, Session

#: Hooks and confirmations of one compaction lie no further apart.
TOGETHER_MS = 60_000
RESULTS = frozenset(("present", "altered", "absent", "unknown"))
CLASSES = ("path", "line_number", "error_string", "version", "command", "decision_id")
MOST_PINS, MOST_COUNT = 200, 1_000_000
_PIN_ID = re.compile(r"[A-Za-z0-9_.:-]{1,80}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def pins_of(session: Session, organisation_id: int, now: datetime, *, may_be_supplied: bool) -> LivePins | None:
    """The pins in force for a session."""
    scope = Scope(organisation_id, session.team_id, session.project_id)
    key = session_key(host=session.host, session=session.host_session_id)
    return live_pins(scope=scope, session_key=key, now=now, may_be_supplied=may_be_supplied)


def note_start(*, session: Session, at_ms: int, path: Trail) -> tuple[Restoration, bool]:
    """The row of the compaction that a SessionStart tells of, and whether the hook is news."""
    known = Restoration.objects.filter(session=session, started_ms=at_ms).first()
    if known is not None:
        return known, False
    row = _near(session, at_ms, "started_ms") or Restoration(session=session)
    row.started_ms = at_ms
    row.sink = sink_before(path, at_ms)
    row.is_breach = row.sink == "none" and bool(session.project and session.project.has_crystalium)
    row.save()
    return row, True


def note_end(*, session: Session, at_ms: int, trigger: str) -> Restoration:
    """The row of the compaction that a PostCompact tells of."""
    row = Restoration.objects.filter(session=session, ended_ms=at_ms).first()
    row = row or _near(session, at_ms, "ended_ms") or Restoration(session=session)
    row.ended_ms = at_ms
    row.trigger = row.trigger or (trigger if trigger in ("manual", "auto") else "")
    row.save()
    return row


def note_survival(*, session: Session, told: Mapping[str, Any], at_ms: int | None) -> None:
    """Keep a client's counts: results per pin, identifiers per class. What is not of the known form is left out."""
    compaction = told.get("compaction")
    compaction = compaction if isinstance(compaction, dict) else {}
    moment = _ms(compaction.get("at")) or at_ms
    if moment is None:
        return
    row = note_end(session=session, at_ms=moment, trigger=str(compaction.get("trigger", "")))
    if row.survival is None:
        row.survival, row.specifics = _results(told.get("pins")), _counts(told.get("specifics"))
        row.save(update_fields=["survival", "specifics"])


def note_printed(*, session: Session, told: Mapping[str, Any], now: datetime) -> bool:
    """Mark the injection that the client confirms as delivered; False where it was none of the bracket's."""
    waiting = Restoration.objects.filter(session=session, delivered_at=None)
    row = waiting.filter(answer_digest=digest_in(told.get("sha256")) or "-").order_by("-pk").first()
    if row is None:
        digest, at_ms = digest_in(told.get("digest")), _ms(told.get("at")) or int(now.timestamp() * 1000)
        is_kept = told.get("event") == "SessionStart" and told.get("by") == "kept" and digest
        if not is_kept:
            return False
        now = datetime.fromtimestamp(at_ms / 1000, UTC)
        if Restoration.objects.filter(session=session, delivered_at=now).exists():
            # Told again: the answer to the first telling came too late for the client.
            return True
        row = _near(session, at_ms, "delivered_at") or Restoration(session=session)
        row.pins_digest = digest
    row.delivered_at = now
    row.save()
    return True


def before(pins: LivePins | None) -> str:
    """What the summariser reads: names of the pins, with the word that they come back by themselves."""
    return pins.before_text if pins else ""


def restore(*, row: Restoration, pins: LivePins, now: datetime, is_sure: bool) -> str:
    """The pins' text, once for each compaction; `is_sure` where the host itself takes the answer."""
    if row.offered_at is not None or row.delivered_at is not None or not pins.restore_text:
        return ""
    row.offered_at, row.delivered_at = now, now if is_sure else None
    _offer(row, pins)
    return pins.restore_text


def repair(*, session: Session, pins: LivePins | None, now: datetime) -> tuple[str, Restoration | None]:
    """The pins' text where the last compaction's injection never arrived; and the row of that compaction."""
    row = Restoration.objects.filter(session=session).order_by("-pk").first()
    if row is None or pins is None or not pins.restore_text:
        return "", row
    if row.delivered_at is not None or row.repaired_at is not None:
        return "", row
    row.repaired_at = now
    _offer(row, pins)
    return pins.restore_text, row


def _offer(row: Restoration, pins: LivePins) -> None:
    row.pin_set, row.pin_set_number, row.pins_digest = pins.slug, pins.number, pins.digest
    row.pins = [pin.id for pin in pins.pins]
    row.injected_tokens += messages.tokens_at_most(pins.restore_text)
    row.save()


def survived(row: Restoration) -> tuple[int, int] | None:
    """Pins that the summary itself held word for word, of those that could be looked for; None where none could."""
    results = [result for result in (row.survival or {}).values() if result != "unknown"]
    return (results.count("present"), len(results)) if results else None


def _near(session: Session, at_ms: int, empty: str) -> Restoration | None:
    """The newest row without `empty` that another sign of the same compaction made."""
    low, high = at_ms - TOGETHER_MS, at_ms + TOGETHER_MS
    moments = [datetime.fromtimestamp(ms / 1000, UTC) for ms in (low, high)]
    near = Q(started_ms__range=(low, high)) | Q(ended_ms__range=(low, high)) | Q(delivered_at__range=tuple(moments))
    return Restoration.objects.filter(near, session=session, **{f"{empty}__isnull": True}).order_by("-pk").first()


def _results(raw: object) -> dict[str, str]:
    pairs = raw.items() if isinstance(raw, dict) else ()
    return dict(_bounded((k, v) for k, v in pairs if _PIN_ID.fullmatch(k) and isinstance(v, str) and v in RESULTS))


def _bounded(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return list(pairs)[:MOST_PINS]


def _counts(raw: object) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for name in CLASSES:
        counts = raw.get(name) if isinstance(raw, dict) else None
        if isinstance(counts, dict):
            had, kept = counts.get("before"), counts.get("kept")
            if type(had) is int and type(kept) is int and 0 <= kept <= had <= MOST_COUNT:
                found[name] = {"before": had, "kept": kept}
    return found


def digest_in(raw: object) -> str:
    """A SHA-256 that a client told; empty where it is none."""
    return raw if isinstance(raw, str) and _DIGEST.fullmatch(raw) else ""


def _ms(raw: object) -> int | None:
    """Epoch seconds as milliseconds, where they can be a moment of ours."""
    is_number = isinstance(raw, int | float) and not isinstance(raw, bool) and 1e9 < raw < 1e10
    return int(raw * 1000) if is_number and isinstance(raw, int | float) else None
