"""What policies of each kind hold: tables and pin sets go the same way through drafts, reviews and versions.

`content` is always the canonical JSON of a document; its SHA-256 is the identity of a version.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from policy_app.kernel.canonical import canonical
from policy_app.kernel.errors import Refused
from policy_app.kernel.findings import Finding, Severity
from policy_app.kernel.pin_documents import (
    PinAdded,
    PinChange,
    PinRemoved,
    PinsReordered,
    pin_document,
    pin_sentence,
    set_difference,
    set_document,
    set_findings,
    set_of,
)
from policy_app.kernel.pins import PinSet
from policy_app.models import Policy, PolicyKind
from policy_app.services import tables
from policy_app.services.refusals import BadPins, NotPublishable
from policy_app.services.tables import Change


@dataclass(frozen=True, slots=True)
class Contents:
    """What can be done with the contents of one kind. `field` is its name in requests and answers.

    `entries`: the list in the document whose members have an id, a reason and an author each.
    """

    field: str
    entries: str
    canonical_text: Callable[[object], str]
    differences: Callable[[str, str], list[Change]]
    findings: Callable[[str], tuple[Finding, ...]]
    evidence: Callable[[str], tuple[str, ...]]
    #: What the first draft of a new policy may begin with; None where somebody must send a content.
    blank: str | None = None


def of(policy: Policy) -> Contents:
    """How the contents of this policy are read."""
    return _BY_KIND[PolicyKind(policy.kind)]


def require_publishable(policy: Policy, content: str) -> None:
    """Raise `NotPublishable` where a finding blocks."""
    blocking = [each for each in of(policy).findings(content) if each.severity is Severity.BLOCKS]
    if blocking:
        raise NotPublishable([tables.finding_document(each) for each in blocking])


@lru_cache(maxsize=512)
def pin_set(content: str) -> PinSet:
    """The pin set of a content that was canonical when it was stored."""
    return set_of(json.loads(content))


def pins_text(raw: object) -> str:
    """The canonical content of a pin set, of a document, or of JSON text. Raises `BadPins`."""
    try:
        given = tables.read_json(raw) if isinstance(raw, str | bytes) else raw
        return canonical(set_document(given if isinstance(given, PinSet) else set_of(given))).decode()
    except Refused as error:
        raise BadPins(str(error), field=error.field, reason=error.code) from error


def _pin_differences(before: str, after: str) -> list[Change]:
    return [_pin_change(change) for change in set_difference(pin_set(before), pin_set(after))]


def _pin_change(change: PinChange) -> Change:
    was: object = None
    now: object = None
    match change:
        case PinAdded(pin):
            kind, subject, now = "pin_added", f"pins.{pin.id}", pin_document(pin)
        case PinRemoved(pin):
            kind, subject, was = "pin_removed", f"pins.{pin.id}", pin_document(pin)
        case PinsReordered():
            kind, subject, was, now = "reordered", "order", list(change.was), list(change.now)
        case _:
            kind, subject = "pin_changed", f"pins.{change.now.id}"
            was, now = pin_document(change.was), pin_document(change.now)
    return {"kind": kind, "subject": subject, "before": was, "after": now, "sentence": pin_sentence(change)}


def _no_evidence(_content: str) -> tuple[str, ...]:
    return ()


_BY_KIND = {
    PolicyKind.TABLE: Contents(
        "table", "rules", tables.canonical_text, tables.differences, tables.findings_of, tables.evidence_of
    ),
    PolicyKind.PINS: Contents(
        "pin_set",
        "pins",
        pins_text,
        _pin_differences,
        lambda content: set_findings(pin_set(content)),
        _no_evidence,
        pins_text(PinSet(())),
    ),
}
