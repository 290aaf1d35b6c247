"""Rules and conditions as JSON values and back."""

from collections.abc import Mapping

from policy_app.kernel.conditions import Bound, Condition, InRange, Is, OneOf, Only
from policy_app.kernel.errors import UnknownName, WrongType
from policy_app.kernel.fields import flag, list_of, object_of, text
from policy_app.kernel.numbers import decimal_of, plain
from policy_app.kernel.operations import operation_of
from policy_app.kernel.parameter_documents import parameters_document, parameters_of
from policy_app.kernel.signals import Kind, Special, signal_of
from policy_app.kernel.table import Limits, Rule

_RULE = ("id", "when", "operation", "parameters", "reason", "evidence", "enabled")
_CONDITION = ("from", "from_inclusive", "to", "to_inclusive", "in", "is", "only", "or")
_INCLUSIVE = {"from": True, "to": False}


def rule_document(rule: Rule) -> dict[str, object]:
    """One rule as JSON values."""
    return {
        "id": rule.id,
        "when": {condition.signal: condition_document(condition) for condition in rule.when},
        "operation": str(rule.operation),
        "parameters": parameters_document(rule.takes),
        "reason": rule.reason,
        "evidence": list(rule.evidence),
        "enabled": rule.enabled,
    }


def condition_document(condition: Condition) -> dict[str, object]:
    """One condition: `from` and `to` (null is open) with `..._inclusive`, or `in`, `is`, `only`.

    `or` lists the special values that are taken as well. A bound that names a limit is `{"limit": name}`.
    """
    accepts = sorted(special.value for special in condition.accepts)
    if isinstance(condition, Only):
        return {"only": accepts}
    document: dict[str, object] = {"or": accepts} if accepts else {}
    if isinstance(condition, OneOf):
        return {**document, "in": list(condition.members)}
    if isinstance(condition, Is):
        return {**document, "is": condition.value}
    whole = signal_of(condition.signal).kind is Kind.WHOLE
    for end, bound in (("from", condition.low), ("to", condition.high)):
        document[end] = None if bound is None else _bound_document(bound, whole)
        if bound is not None:
            document[f"{end}_inclusive"] = bound.inclusive
    return document


def _bound_document(bound: Bound, whole: bool) -> object:
    if bound.limit:
        return {"limit": bound.limit}
    return int(bound.value) if whole else plain(bound.value)


def rule_of(raw: object, limits: Limits, *, field: str = "rule") -> Rule:
    """The rule that a document holds; bounds that name a limit get its number."""
    document = object_of(field, raw, _RULE)
    operation = operation_of(f"{field}.operation", document.get("operation"))
    when = object_of(f"{field}.when", document.get("when", {}))
    evidence = list_of(f"{field}.evidence", document.get("evidence"))
    return Rule(
        id=text(f"{field}.id", document.get("id")),
        operation=operation,
        when=tuple(condition_of(name, each, limits, field=f"{field}.when.{name}") for name, each in when.items()),
        parameters=parameters_of(operation, document.get("parameters", {}), field=f"{field}.parameters"),
        reason=text(f"{field}.reason", document.get("reason", "")),
        evidence=tuple(text(f"{field}.evidence", each) for each in evidence),
        enabled=flag(f"{field}.enabled", document.get("enabled", True)),
    )


def condition_of(signal: str, raw: object, limits: Limits, *, field: str = "when") -> Condition:
    """The condition that a document holds."""
    signal_of(signal, field=field)
    document = object_of(field, raw, _CONDITION)
    accepts = _specials_of(f"{field}.or", document.get("or"))
    if sum(name in document for name in ("in", "is", "only")) + ("from" in document or "to" in document) != 1:
        raise WrongType(field, sorted(document), "must be one of from/to, in, is, only")
    if "only" in document:
        return Only(signal, _specials_of(f"{field}.only", document["only"]))
    if "in" in document:
        members = list_of(f"{field}.in", document["in"])
        return OneOf(signal, tuple(text(f"{field}.in", each) for each in members), accepts)
    if "is" in document:
        return Is(signal, flag(f"{field}.is", document["is"]), accepts)
    return InRange(signal, _end_of(document, "from", limits, field), _end_of(document, "to", limits, field), accepts)


def _end_of(document: Mapping[str, object], end: str, limits: Limits, field: str) -> Bound | None:
    raw = document.get(end)
    if raw is None:
        return None
    inclusive = flag(f"{field}.{end}_inclusive", document.get(f"{end}_inclusive", _INCLUSIVE[end]))
    if isinstance(raw, Mapping):
        name = text(f"{field}.{end}.limit", object_of(f"{field}.{end}", raw, ("limit",)).get("limit"))
        return Bound(limits.number(name), inclusive, name)
    return Bound(decimal_of(f"{field}.{end}", raw), inclusive)


def _specials_of(field: str, raw: object) -> frozenset[Special]:
    return frozenset(_special_of(field, each) for each in list_of(field, raw))


def _special_of(field: str, raw: object) -> Special:
    for special in Special:
        if raw == special.value:
            return special
    raise UnknownName(field, raw, "must be unknown or unset")
