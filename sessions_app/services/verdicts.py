"""Verdicts as stored values: written once, derived again at any time from what they store."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import msgspec

from policy_app.kernel.evaluate import Step, evaluate
from policy_app.kernel.evaluate import Verdict as Judged
from policy_app.kernel.rule_documents import condition_document
from policy_app.kernel.signals import Signals, value_document
from policy_app.kernel.table import Table
from policy_app.kernel.zones import Lines
from policy_app.services import tables
from sessions_app.models import Verdict
from sessions_app.services.store import cursor

#: Crockford's letters: nobody reads one for another.
_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 10


def new_id() -> str:
    """A short public name, told in messages; it opens nothing to those who may not see the session."""
    return "".join(secrets.choice(_LETTERS) for _ in range(LENGTH))


def drill_lines(drill: Mapping[str, int]) -> Lines:
    """The lines of a drill, given in percent."""
    return Lines(*(Decimal(drill[name]) / 100 for name in ("amber", "red", "critical")))


def table_for(table: Table, drill: Mapping[str, int] | None) -> Table:
    """The table as it is in force, or with the lines of a drill."""
    return replace(table, lines=drill_lines(drill)) if drill else table


_COLUMNS = tuple(f.attname for f in Verdict._meta.concrete_fields if not f.primary_key)
#: In plain SQL: composing these takes longer than running them, and a hook waits for it.
_INSERT = f"INSERT INTO sessions_app_verdict ({', '.join(_COLUMNS)}) VALUES ({', '.join(['%s'] * len(_COLUMNS))})"  # noqa: S608 - names of columns
_WITHDRAW = (
    "UPDATE sessions_app_verdict v SET adherence = '' FROM (SELECT id, printed_at FROM sessions_app_verdict"
    " WHERE session_id = %b AND thread = %b AND said_to <> '[]' AND (drill IS NOT NULL) = %b ORDER BY id DESC LIMIT 1)"
    " AS last WHERE v.id = last.id AND last.printed_at IS NULL RETURNING v.operation"
)


def store(verdict: Verdict) -> None:
    """Write a new verdict down."""
    values = (getattr(verdict, name) for name in _COLUMNS)
    with cursor() as cur:
        cur.execute(_INSERT, [_plain(value) for value in values])


def _plain(value: object) -> object:
    return msgspec.json.encode(value).decode() if isinstance(value, dict | list) else value


def withdraw_unheard(session_id: int, thread: str, *, is_drill: bool) -> str | None:
    """The operation of the thread's last message, where nobody printed it; None where somebody did.

    It was not heard, so it is not followed either.
    """
    with cursor() as cur:
        row = cur.execute(_WITHDRAW, (session_id, thread, is_drill)).fetchone()
    return None if row is None else str(row[0])


def signals_document(signals: Signals) -> dict[str, object]:
    """Signals as JSON values."""
    return {name: value_document(value) for name, value in sorted(signals.values.items())}


def outcome_document(judged: Judged) -> dict[str, Any]:
    """What must come out again: rule, operations, zone and trace."""
    return {
        "rule": judged.rule,
        "operation": str(judged.operation),
        "raw_operation": str(judged.raw_operation),
        "zone": str(judged.zone),
        "trace": [_step(step) for step in judged.trace],
    }


def _step(step: Step) -> dict[str, Any]:
    document: dict[str, Any] = {"rule": step.rule, "outcome": str(step.outcome)}
    if step.failed is not None and step.value is not None:
        document["failed"] = {step.failed.signal: condition_document(step.failed)}
        document["value"] = value_document(step.value)
    return document


@dataclass(frozen=True, slots=True)
class Rederived:
    """A verdict given again by its own version and signals; `differing` names stored fields that came out otherwise."""

    judged: Judged
    table: Table
    differing: tuple[str, ...]

    @property
    def is_equal(self) -> bool:
        """Whether everything came out as it was stored."""
        return not self.differing


def rederive(verdict: Verdict) -> Rederived:
    """Give it again. The version's content is checked against the digest that the verdict stored."""
    content = verdict.version.content
    table = table_for(tables.parsed(content), verdict.drill)
    judged = evaluate(table, Signals.of(verdict.signals))
    differing = [name for name, value in outcome_document(judged).items() if getattr(verdict, name) != value]
    if tables.digest_of(content) != verdict.digest:
        differing.append("digest")
    return Rederived(judged, table, tuple(differing))
