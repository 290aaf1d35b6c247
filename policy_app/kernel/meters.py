"""Meters and verdicts in the shape of the ECM files."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

from policy_app.kernel.evaluate import Verdict
from policy_app.kernel.fields import object_of
from policy_app.kernel.signals import UNKNOWN, Signals, Value


def signals_of(meter: object) -> Signals:
    """The signals that a meter file holds.

    Tokens and window decide over the rounded `utilization` beside them; a zone of *unknown* stays unknown whatever
    stands beside it (right after a compaction the old count still does). Unknown keys are not read.
    """
    document = object_of("meter", meter)
    budget = object_of("meter.budget", document.get("budget") or {})
    raw: dict[str, Any] = {
        "zone": document.get("zone"),
        "utilization": document.get("utilization"),
        "context_tokens": document.get("used_tokens_est"),
        "window_tokens": document.get("window_tokens"),
        "depth": document.get("compaction_count") or 0,
        "tool_result_share": document.get("tool_result_share_est"),
        "externalize_age_calls": document.get("externalize_age_turns"),
        "budget_spent_tokens": budget.get("spent_tokens_est"),
        "budget_ceiling_tokens": "unset" if budget.get("ceiling_tokens") is None else budget["ceiling_tokens"],
    }
    if raw["zone"] is None:
        del raw["zone"]
    return Signals.of(raw)


def verdict_document(verdict: Verdict) -> dict[str, object]:
    """A verdict with the nine fields of the ECM files."""
    known = verdict.situation.signals
    ratio = known["budget_spent_ratio"]
    return {
        "rule": verdict.rule,
        "operation": str(verdict.operation),
        "raw_operation": str(verdict.raw_operation),
        "zone": verdict.zone.lower(),
        "compaction_count": known["depth"],
        "tool_result_share_est": _decimal(known["tool_result_share"]),
        "budget_ceiling_set": isinstance(ratio, Fraction) or ratio is UNKNOWN,
        "budget_spent_gte_ceiling": isinstance(ratio, Fraction) and ratio >= 1,
        "subagent": verdict.subagent,
    }


def _decimal(value: Value) -> Decimal | None:
    return Decimal(value.numerator) / Decimal(value.denominator) if isinstance(value, Fraction) else None
