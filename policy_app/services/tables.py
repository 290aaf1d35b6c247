"""The one place where services meet the kernel of tables: content as text, and what it holds.

`content` is always the canonical JSON of a table's document; its SHA-256 is the identity of a version.
"""

import hashlib
import json
from decimal import Decimal
from functools import lru_cache
from typing import Any

from policy_app.kernel.analysis import analyse
from policy_app.kernel.canonical import canonical
from policy_app.kernel.changes import change_sentence
from policy_app.kernel.diff import Change as KernelChange
from policy_app.kernel.diff import Reordered, RuleAdded, RuleChanged, RuleRemoved, Set, difference
from policy_app.kernel.documents import table_document, table_of
from policy_app.kernel.errors import Duplicate, NotANumber, Refused, WrongType
from policy_app.kernel.evidence import argument_findings
from policy_app.kernel.findings import Finding, analysis_findings
from policy_app.kernel.lint import lint
from policy_app.kernel.table import Table
from policy_app.services.refusals import BadTable

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


def findings_of(content: str) -> tuple[Finding, ...]:
    """What the analysis, the laws and the arguments for its numbers say about a table."""
    table = parsed(content)
    return (*analysis_findings(analyse(table)), *lint(table), *argument_findings(table))


def finding_document(finding: Finding) -> dict[str, object]:
    """A finding as JSON values."""
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "rule": finding.rule,
        "text": finding.text,
        "witness": finding.witness.document() if finding.witness else None,
        "hosts": list(finding.hosts),
    }


def differences(before: str, after: str) -> list[Change]:
    """From one content to the other: {"kind", "subject", "before", "after", "sentence"} for each change.

    `subject` is a dotted path: `zones.red`, `rules.P3`, `order`; `before` and `after` are as in the documents.
    """
    was, now = document_of(before), document_of(after)
    return [
        {
            "kind": _KINDS[type(change)],
            "subject": subject,
            "before": _at(was, subject),
            "after": _at(now, subject),
            "sentence": change_sentence(change),
        }
        for change in difference(parsed(before), parsed(after))
        for subject in [_subject(change)]
    ]


_KINDS = {
    Set: "set",
    RuleAdded: "rule_added",
    RuleRemoved: "rule_removed",
    RuleChanged: "rule_changed",
    Reordered: "reordered",
}


def _subject(change: KernelChange) -> str:
    match change:
        case Set():
            return change.field
        case RuleAdded() | RuleRemoved():
            return f"rules.{change.rule.id}"
        case RuleChanged():
            return f"rules.{change.now.id}"
        case Reordered():
            return "order"


def _at(document: dict[str, Any], subject: str) -> object:
    group, _, name = subject.partition(".")
    if group == "order":
        return [rule["id"] for rule in document["rules"]]
    if group == "rules":
        return next((rule for rule in document["rules"] if rule["id"] == name), None)
    return document[group][name] if name else document[group]


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise Duplicate(key, key, "must be there once")
        found[key] = value
    return found


def _no_constant(text: str) -> object:
    raise NotANumber("number", text, "must be a finite number")
