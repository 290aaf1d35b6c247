"""Evidence records, and whether an argument still speaks of the number that stands in the table."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from policy_app.kernel.errors import BadText
from policy_app.kernel.findings import Finding, Severity
from policy_app.kernel.names import id_of, text_of
from policy_app.kernel.numbers import plain
from policy_app.kernel.rule_documents import condition_document
from policy_app.kernel.table import LIMIT_NAMES, Argument, Table
from policy_app.kernel.zones import LINE_NAMES


class Tier(StrEnum):
    """What kind of source it is, strongest first."""

    PEER_REVIEWED = "peer_reviewed"
    PROVIDER = "provider"
    PREPRINT = "preprint"
    PRACTITIONER = "practitioner"
    CONVENTION = "convention"


class Status(StrEnum):
    """How far the claim holds: `unestablished` says that nobody has checked it here."""

    CONFIRMED = "confirmed"
    DISPUTED = "disputed"
    REFUTED = "refuted"
    UNESTABLISHED = "unestablished"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One claim. `number` is what it says in figures, as text (may be empty); `scope` is where it was seen.

    `dated` is a year, a month or a day (`2026`, `2026-01`, `2026-01-31`), or empty where the source has none.
    """

    id: str
    claim: str
    number: str
    scope: str
    tier: Tier
    dated: str
    source: str
    status: Status

    def __post_init__(self) -> None:
        id_of("evidence.id", self.id)
        text_of("evidence.claim", self.claim, most=1_000)
        for name, most in (("number", 200), ("scope", 500), ("dated", 10)):
            text_of(f"evidence.{name}", getattr(self, name), most=most, empty=True)
        text_of("evidence.source", self.source, most=300)
        if self.dated and not all(part.isdigit() for part in self.dated.split("-")):
            raise BadText("evidence.dated", self.dated, "must be a year, a month or a day")


def number_at(table: Table, subject: str) -> str | None:
    """The number that stands at a dotted path now, as text; None where nothing stands there any more.

    Paths: `zones.red`, `limits.NAME`, `rules.ID.SIGNAL` (the condition as `from..to` or its members).
    """
    kind, _, rest = subject.partition(".")
    if kind == "zones" and rest in LINE_NAMES:
        return plain(getattr(table.lines, rest))
    if kind == "limits" and rest in LIMIT_NAMES:
        return plain(getattr(table.limits, rest))
    rule_id, _, signal = rest.rpartition(".")
    rule = next((each for each in table.rules if each.id == rule_id), None) if kind == "rules" else None
    condition = rule.on(signal) if rule else None
    if condition is None:
        return None
    document = condition_document(condition)
    return ", ".join(f"{key} {document[key]}" for key in sorted(document) if document[key] is not None)


def unmatched(table: Table) -> tuple[Argument, ...]:
    """Arguments made for another number than the one that stands there now."""
    return tuple(each for each in table.arguments if number_at(table, each.subject) != each.number)


def confirmed_again(table: Table, subject: str, evidence: str) -> Table:
    """The table with that argument confirmed for the number that stands there now."""
    number = number_at(table, subject)
    return replace(
        table,
        arguments=tuple(
            replace(each, number=number) if number and (each.subject, each.evidence) == (subject, evidence) else each
            for each in table.arguments
        ),
    )


def argument_findings(table: Table) -> Iterator[Finding]:
    """Unmatched arguments in words."""
    for each in unmatched(table):
        now = number_at(table, each.subject)
        stands = "nothing stands there any more" if now is None else f"{now} stands there now"
        text = f"The argument for {each.subject} no longer matches: {each.evidence} speaks of {each.number}, {stands}."
        rule = each.subject.split(".")[1] if each.subject.startswith("rules.") else ""
        yield Finding("argument_unmatched", Severity.WARNS, rule, text)
