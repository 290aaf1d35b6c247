"""The one place where services meet the kernel: content as text, and what it holds.

`content` is always the canonical JSON of a table's document; its SHA-256 is the identity of a version.
"""

import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from policy_app.kernel.analysis import analyse
from policy_app.kernel.canonical import canonical
from policy_app.kernel.documents import table_document, table_of
from policy_app.kernel.errors import Duplicate, NotANumber, Refused, WrongType
from policy_app.kernel.table import Table
from policy_app.services.refusals import BadTable, NotPublishable

type Change = dict[str, object]


def canonical_text(raw: object) -> str:
    """The canonical content of a table, of a document, or of JSON text. Raises `BadTable`."""
    try:
        table = raw if isinstance(raw, Table) else table_of(read_json(raw) if isinstance(raw, str | bytes) else raw)
        return canonical(table_document(table)).decode()
    except Refused as error:
        raise refusal_of(error) from error


def read_json(text: str | bytes) -> object:
    """JSON with exact numbers; duplicate keys, NaN and deep nesting are refused (`Refused`)."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_float=Decimal, parse_constant=_no_constant)
    except Refused:
        raise
    except (ValueError, RecursionError) as error:
        raise WrongType("table", "text", "must be JSON") from error


def refusal_of(error: Refused) -> BadTable:
    """The kernel's refusal as an answer for clients."""
    return BadTable(str(error), field=error.field, reason=error.code)


@lru_cache(maxsize=512)
def parsed(content: str) -> Table:
    """The table of a content that was canonical when it was stored."""
    return table_of(json.loads(content))


def document_of(content: str) -> dict[str, Any]:
    """The content as JSON values."""
    document: dict[str, Any] = json.loads(content)
    return document


def digest_of(content: str) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(content.encode()).hexdigest()


def evidence_of(content: str) -> tuple[str, ...]:
    """Slugs of the evidence that rules and arguments cite, each once, in order."""
    table = parsed(content)
    cited = [slug for rule in table.rules for slug in rule.evidence] + [each.evidence for each in table.arguments]
    return tuple(dict.fromkeys(cited))


def require_publishable(content: str) -> None:
    """Raise `NotPublishable` with the findings where the analysis is not clean."""
    findings = findings_of(content)
    if findings:
        raise NotPublishable(findings)


def findings_of(content: str) -> list[Mapping[str, object]]:
    """What keeps a table from being published: gaps, overlaps, rules that never answer; with a situation each."""
    found = analyse(parsed(content))
    gaps: list[Mapping[str, object]] = [
        {"kind": "gap", "region": each.region.document(), "witness": each.witness.document()} for each in found.gaps
    ]
    overlaps = [
        {"kind": "overlap", "rules": list(each.rules), "witness": each.witness.document()} for each in found.overlaps
    ]
    unreachable = [
        {
            "kind": "unreachable",
            "rule": each.rule,
            "taken_by": list(each.taken_by),
            "witness": each.witness.document() if each.witness else None,
        }
        for each in found.unreachable
    ]
    undecided = [{"kind": "undecided", "rule": each} for each in found.undecided]
    return [*gaps, *overlaps, *unreachable, *undecided]


def differences(before: str, after: str) -> list[Change]:
    """From one content to the other, field by field: {"path", "before", "after"}; rules go by their id."""
    changes: list[Change] = []
    _compare("", _by_id(document_of(before)), _by_id(document_of(after)), changes)
    return changes


def _by_id(document: dict[str, Any]) -> dict[str, Any]:
    rules = document["rules"]
    order = [rule["id"] for rule in rules]
    return {**document, "rules": {rule["id"]: rule for rule in rules}, "order": order}


def _compare(path: str, before: Any, after: Any, changes: list[Change]) -> None:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            _compare(f"{path}/{key}", before.get(key), after.get(key), changes)
    elif before != after:
        changes.append({"path": path, "before": before, "after": after})


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise Duplicate(key, key, "must be there once")
        found[key] = value
    return found


def _no_constant(text: str) -> object:
    raise NotANumber("number", text, "must be a finite number")


def number_at(content: str, subject: str) -> str:
    """The number that a dotted subject such as `zones.amber` names, as text; empty where there is none."""
    found: Any = document_of(content)
    for name in subject.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return "" if found is None or isinstance(found, dict | list) else str(found)
