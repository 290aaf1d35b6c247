"""A table as a JSON document and back; the document is what is stored, hashed, exported and sent.

Decimals are text, whole numbers are integers, every field is written. Unknown fields are refused, so that nobody
believes in a key that nothing reads.
"""

from decimal import Decimal
from typing import Any

from policy_app.kernel.canonical import digest
from policy_app.kernel.conditions import InRange
from policy_app.kernel.errors import UnknownName, WrongType
from policy_app.kernel.fields import list_of, object_of, text
from policy_app.kernel.names import ModelPattern
from policy_app.kernel.numbers import decimal_of, plain, whole_of
from policy_app.kernel.operations import Operation, operation_of
from policy_app.kernel.rule_documents import condition_of, rule_document, rule_of
from policy_app.kernel.table import DEFAULT_REMAP, LIMIT_NAMES, Argument, Limits, Table
from policy_app.kernel.zones import LINE_NAMES, HitPolicy, Lines, WorkingWindow, Zone, ZoneRow, ZoneTable

FORMAT = "ecm-table/1"

_TABLE = ("format", "hit_policy", "zones", "limits", "working_windows", "rules", "remap", "arguments")


def table_document(table: Table) -> dict[str, object]:
    """The whole table as JSON values."""
    return {
        "format": FORMAT,
        "hit_policy": str(table.hit_policy),
        "zones": {name: plain(getattr(table.lines, name)) for name in LINE_NAMES},
        "limits": {name: _number(getattr(table.limits, name)) for name in LIMIT_NAMES},
        "working_windows": [{"model": each.pattern.text, "tokens": each.tokens} for each in table.working_windows],
        "rules": [rule_document(rule) for rule in table.rules],
        "remap": {str(was): str(becomes) for was, becomes in table.remap.items()},
        "arguments": [
            {"subject": each.subject, "evidence": each.evidence, "number": each.number} for each in table.arguments
        ],
    }


def identity(table: Table) -> str:
    """The SHA-256 of the canonical document, as 64 hexadecimal digits: equal tables, equal identity."""
    return digest(table_document(table))


def table_of(raw: object) -> Table:
    """The table that a document holds; missing fields have their defaults.

    Raises the refusals of `errors`, with the path of the field.
    """
    document = object_of("table", raw, _TABLE)
    if document.get("format", FORMAT) != FORMAT:
        raise UnknownName("format", document["format"], f"must be {FORMAT}")
    limits = _limits_of(document.get("limits", {}))
    rules = list_of("rules", document.get("rules"))
    return Table(
        rules=tuple(rule_of(each, limits, field=f"rules[{index}]") for index, each in enumerate(rules)),
        hit_policy=hit_policy_of(document.get("hit_policy", str(HitPolicy.FIRST))),
        lines=_lines_of(document.get("zones", {})),
        limits=limits,
        working_windows=tuple(_window_of(each) for each in list_of("working_windows", document.get("working_windows"))),
        remap=_remap_of(document["remap"]) if "remap" in document else DEFAULT_REMAP,
        arguments=tuple(_argument_of(each) for each in list_of("arguments", document.get("arguments"))),
    )


def zone_table_of(raw: object) -> ZoneTable:
    """Zones as free rows: `{hit_policy, rules: [{id, when: {utilization: {from, to, …}}, then: {zone}}]}`.

    The signal may be spelled `utilisation`; other fields (`table`, `domain`) say nothing that is not fixed here.
    """
    document = object_of("table", raw, ("table", "hit_policy", "domain", "rules"))
    rules = list_of("rules", document.get("rules"))
    return ZoneTable(
        rows=tuple(_zone_row_of(each, f"rules[{index}]") for index, each in enumerate(rules)),
        hit_policy=hit_policy_of(document.get("hit_policy", str(HitPolicy.UNIQUE))),
    )


def hit_policy_of(raw: object) -> HitPolicy:
    """`first` or `unique`; DMN's other policies answer with more than one rule."""
    if isinstance(raw, str) and raw in HitPolicy:
        return HitPolicy(raw)
    raise UnknownName("hit_policy", raw, "must be first or unique")


def _zone_row_of(raw: object, field: str) -> ZoneRow:
    document = object_of(field, raw, ("id", "when", "then"))
    when = object_of(f"{field}.when", document.get("when"), ("utilization", "utilisation"))
    span = condition_of("utilization", next(iter(when.values()), {}), Limits(), field=f"{field}.when.utilization")
    zone = object_of(f"{field}.then", document.get("then"), ("zone",)).get("zone")
    if not isinstance(span, InRange) or len(when) != 1:
        raise WrongType(f"{field}.when", dict(when), "must be one range of utilization")
    if not isinstance(zone, str) or zone not in Zone:
        raise UnknownName(f"{field}.then.zone", zone, f"must be one of {', '.join(Zone)}")
    return ZoneRow(text(f"{field}.id", document.get("id")), span, Zone(zone))


def _number(value: int | Decimal) -> object:
    return value if isinstance(value, int) else plain(value)


def _lines_of(raw: object) -> Lines:
    document = object_of("zones", raw, LINE_NAMES)
    return Lines(**{name: decimal_of(f"zones.{name}", value) for name, value in document.items()})


def _limits_of(raw: object) -> Limits:
    checked_by_the_class: dict[str, Any] = dict(object_of("limits", raw, LIMIT_NAMES))
    return Limits(**checked_by_the_class)


def _window_of(raw: object) -> WorkingWindow:
    document = object_of("working_windows", raw, ("model", "tokens"))
    pattern = ModelPattern(text("working_windows.model", document.get("model")))
    return WorkingWindow(pattern, whole_of("working_windows.tokens", document.get("tokens"), low=1))


def _remap_of(raw: object) -> dict[Operation, Operation]:
    document = object_of("remap", raw)
    return {operation_of("remap", was): operation_of(f"remap.{was}", becomes) for was, becomes in document.items()}


def _argument_of(raw: object) -> Argument:
    document = object_of("arguments", raw, ("subject", "evidence", "number"))
    subject, evidence, number = (
        text(f"arguments.{name}", document.get(name)) for name in ("subject", "evidence", "number")
    )
    return Argument(subject, evidence, number)
