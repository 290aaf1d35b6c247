"""A table's document as flat form fields and back; only strings go in, only the kernel judges what comes out."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from ecm_site.common.problems import DomainError
from policy_app.kernel.numbers import plain
from policy_app.kernel.signals import CATALOGUE, Kind
from policy_app.kernel.table import LIMIT_NAMES, MOST_RULES
from policy_app.kernel.zones import LINE_NAMES

MOST_CONDITIONS = 20
_SHARE_LIMIT = "tool_result_share_prune"
_WHOLE_PARAMETERS = ("keep", "clear_at_least", "summary_max_tokens")

type Fields = Mapping[str, str]
type Json = dict[str, Any]


def fields_of(document: Json) -> dict[str, str]:
    """The document as fields: `zone-red`, `limit-…`, `windows`, `rules` (how many), `r0-id`, `r0-c0-signal`, …"""
    fields = {f"zone-{name}": _percent(value) for name, value in document["zones"].items()}
    for name, value in document["limits"].items():
        fields[f"limit-{name}"] = _percent(value) if name == _SHARE_LIMIT else str(value)
    fields["windows"] = "\n".join(f"{each['model']} {each['tokens']}" for each in document["working_windows"])
    fields["rules"] = str(len(document["rules"]))
    for index, rule in enumerate(document["rules"]):
        fields.update(_rule_fields(f"r{index}-", rule))
    return fields


def _rule_fields(at: str, rule: Json) -> dict[str, str]:
    fields = {
        f"{at}id": rule["id"],
        f"{at}operation": rule["operation"],
        f"{at}reason": rule["reason"],
        f"{at}evidence": ", ".join(rule["evidence"]),
        f"{at}conditions": str(len(rule["when"])),
    }
    if rule["enabled"]:
        fields[f"{at}enabled"] = "on"
    for index, (signal, condition) in enumerate(rule["when"].items()):
        fields.update(_condition_fields(f"{at}c{index}-", signal, condition))
    for name, value in rule["parameters"].items():
        fields.update(_parameter_fields(at, name, value))
    return fields


def _parameter_fields(at: str, name: str, value: Any) -> dict[str, str]:
    if name == "trigger":
        return {f"{at}p-trigger_type": value["type"], f"{at}p-trigger_value": str(value["value"])}
    if isinstance(value, bool):
        return {f"{at}p-{name}": "on"} if value else {}
    if isinstance(value, list):
        return {f"{at}p-{name}": ", ".join(value)}
    return {f"{at}p-{name}": "" if value is None else str(value)}


def _condition_fields(at: str, signal: str, condition: Json) -> dict[str, str]:
    fields = {f"{at}signal": signal}
    for special in (*condition.get("or", ()), *condition.get("only", ())):
        fields[f"{at}{special}"] = "on"
    if "is" in condition:
        fields[f"{at}names"] = "yes" if condition["is"] else "no"
    if "in" in condition:
        fields[f"{at}names"] = ", ".join(condition["in"])
    is_share = CATALOGUE[signal].kind is Kind.SHARE
    for end in ("from", "to"):
        if condition.get(end) is not None:
            fields[f"{at}{end}"] = _end_text(condition[end], is_share)
            fields[f"{at}{end}_is"] = "in" if condition[f"{end}_inclusive"] else "out"
    # No bound at all and a special value beside it: the least bound says the same, and can be typed.
    is_open = "from" in condition and condition["from"] is None and condition["to"] is None
    if is_open and condition.get("or"):
        fields[f"{at}from"], fields[f"{at}from_is"] = "0", "in"
    return fields


def _end_text(end: Any, is_share: bool) -> str:
    if isinstance(end, dict):
        return str(end["limit"])
    return _percent(end) if is_share else str(end)


def document_from(fields: Fields, kept: Json) -> Json:
    """The document that was typed; what the form does not hold is taken from `kept`."""
    return {
        **kept,
        "zones": {name: number_text(fields.get(f"zone-{name}", "")) for name in LINE_NAMES},
        "limits": {
            name: number_text(text) if name == _SHARE_LIMIT else _whole(text)
            for name in LIMIT_NAMES
            for text in [fields.get(f"limit-{name}", "")]
        },
        "working_windows": [_window(line) for line in fields.get("windows", "").splitlines() if line.strip()],
        "rules": [_rule(fields, f"r{index}-") for index in range(count(fields, "rules", MOST_RULES))],
    }


def _window(line: str) -> Json:
    model, _, tokens = line.strip().rpartition(" ")
    return {"model": model.strip(), "tokens": _whole(tokens)}


def _rule(fields: Fields, at: str) -> Json:
    rows = [f"{at}c{index}-" for index in range(count(fields, f"{at}conditions", MOST_CONDITIONS) + 1)]
    when = [(fields[f"{row}signal"], _condition(fields, row)) for row in rows if fields.get(f"{row}signal")]
    if len(dict(when)) < len(when):
        raise DomainError("signal_twice", f"{fields.get(f'{at}id', '')}: a rule tests each signal once.")
    return {
        "id": fields.get(f"{at}id", "").strip(),
        "operation": fields.get(f"{at}operation", ""),
        "parameters": _parameters(fields, at),
        "reason": fields.get(f"{at}reason", ""),
        "evidence": names_in(fields.get(f"{at}evidence", "")),
        "enabled": f"{at}enabled" in fields,
        "when": dict(when),
    }


def _parameters(fields: Fields, at: str) -> Json:
    """Those of the operation that the form was made for; another operation begins with its own defaults."""
    if fields.get(f"{at}operation") != fields.get(f"{at}was", fields.get(f"{at}operation")):
        return {}
    given = {name: fields[f"{at}p-{name}"] for name in _PARAMETERS if f"{at}p-{name}" in fields}
    found: Json = {name: names_in(given[name]) for name in ("sinks", "exclude_tools") if name in given}
    found.update({name: _whole(given[name]) for name in _WHOLE_PARAMETERS if given.get(name, "").strip()})
    if "instructions" in given:
        found["instructions"] = given["instructions"]
    if "trigger_value" in given:
        found["trigger"] = {"type": given.get("trigger_type", ""), "value": _whole(given["trigger_value"])}
        found["clear_tool_inputs"] = "clear_tool_inputs" in given
    return found


_PARAMETERS = (
    "sinks",
    "instructions",
    "trigger_type",
    "trigger_value",
    "exclude_tools",
    "clear_tool_inputs",
    *_WHOLE_PARAMETERS,
)


def _condition(fields: Fields, at: str) -> Json:
    signal = CATALOGUE.get(fields[f"{at}signal"])
    specials = [name for name in ("unknown", "unset") if f"{at}{name}" in fields]
    ends = {end: fields.get(f"{at}{end}", "").strip() for end in ("from", "to")}
    names = names_in(fields.get(f"{at}names", ""))
    is_number = signal is not None and signal.is_number
    if specials and not (any(ends.values()) if is_number else names):
        return {"only": specials}
    condition: Json = {"or": specials} if specials else {}
    if not is_number:
        if signal is not None and signal.kind is Kind.FLAG and names in (["yes"], ["no"]):
            return {**condition, "is": names == ["yes"]}
        return {**condition, "in": names}
    for end, text in ends.items():
        condition[end] = _end(text) if text else None
        condition[f"{end}_inclusive"] = fields.get(f"{at}{end}_is", "in" if end == "from" else "out") == "in"
    return condition


def _end(text: str) -> Any:
    return {"limit": text} if text in LIMIT_NAMES else number_text(text)


def count(fields: Fields, name: str, most: int) -> int:
    """How many rows the form holds, at most `most`."""
    text = fields.get(name, "0")
    return min(int(text), most) if text.isascii() and text.isdigit() and len(text) < 6 else 0


def names_in(text: str) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _percent(share: Any) -> str:
    return f"{plain(Decimal(str(share)) * 100)}%"


def number_text(text: str) -> str:
    """A number as typed, `65%` as `0.65`; what is none stays as it is, for the kernel to refuse."""
    typed = text.strip()
    if not typed.endswith("%") or len(typed) > 30:
        return typed
    try:
        return plain(Decimal(typed[:-1].strip()) / 100)
    except InvalidOperation:
        return typed


def _whole(text: str) -> Any:
    typed = text.strip().replace(",", "").replace("_", "")
    return int(typed) if typed.isascii() and typed.isdigit() and len(typed) <= 15 else text
