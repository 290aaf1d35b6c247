"""The editor: a draft as form rows, what the analysis says of the saved revision, and one situation to try."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from policy_app.console.form_fields import MOST_CONDITIONS, Fields, count, fields_of
from policy_app.console.parts import RuleLine, TableParts, parts_of
from policy_app.console.places import Places, places_of
from policy_app.console.policy_pages import sentences
from policy_app.console.review_page import Refusal
from policy_app.console.trying import Trial
from policy_app.kernel.operations import Measure, Operation
from policy_app.kernel.sentences import OPERATION_WORDS
from policy_app.kernel.signals import CATALOGUE, Kind, Special
from policy_app.kernel.table import LIMIT_NAMES, MOST_RULES
from policy_app.kernel.zones import LINE_NAMES
from policy_app.models import OPEN_STATES, Draft, Evidence
from policy_app.services import tables
from policy_app.services.actors import Actor

SIGNALS = tuple((name, name.replace("_", " ")) for name, signal in CATALOGUE.items() if signal.in_rules)
OPERATIONS = tuple((operation.value, OPERATION_WORDS[operation]) for operation in Operation)
MEASURES = tuple(measure.value for measure in Measure)


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """One row: `at` begins the names of its fields; a blank row has no signal and shows every input."""

    at: str
    signal: str
    names: str
    low: str
    low_is: str
    high: str
    high_is: str
    unknown: bool
    unset: bool
    has_range: bool
    has_names: bool
    has_unknown: bool
    has_unset: bool
    hint: str


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule as inputs; `parameters` are values by name."""

    at: str
    index: int
    id: str
    operation: str
    reason: str
    evidence: str
    enabled: bool
    conditions: tuple[ConditionRow, ...]
    parameters: Mapping[str, str]
    said: RuleLine | None


@dataclass(frozen=True, slots=True)
class EditorPage:
    """All that the template shows. `fields` are what was typed, or what is saved."""

    now: datetime
    actor: Actor
    draft: Draft
    may_save: bool
    zones: tuple[tuple[str, str], ...]
    limits: tuple[tuple[str, str, str], ...]
    windows: str
    rules: tuple[RuleRow, ...]
    parts: TableParts
    changes: tuple[str, ...]
    trial: Trial
    refusal: Refusal | None
    library: tuple[tuple[str, str], ...]
    places: Places
    is_saved: bool = True
    opened: str = ""
    signals: tuple[tuple[str, str], ...] = SIGNALS
    operations: tuple[tuple[str, str], ...] = OPERATIONS
    measures: tuple[str, ...] = MEASURES


def editor_page(
    draft: Draft,
    actor: Actor,
    now: datetime,
    trial: Trial,
    *,
    typed: Fields | None = None,
    refusal: Refusal | None = None,
    opened: str = "",
) -> EditorPage:
    """The editor of one draft; `typed` keeps what a refused form held, `opened` is a rule to begin with."""
    fields = fields_of(tables.document_of(draft.content)) if typed is None else typed
    parts = parts_of(draft.policy, draft.content, now)
    said = {rule.id: rule for rule in parts.rules}
    return EditorPage(
        now=now,
        actor=actor,
        draft=draft,
        may_save=actor.may_edit and draft.state in OPEN_STATES,
        zones=tuple((name, fields.get(f"zone-{name}", "")) for name in LINE_NAMES),
        limits=tuple((name, name.replace("_", " "), fields.get(f"limit-{name}", "")) for name in LIMIT_NAMES),
        windows=fields.get("windows", ""),
        rules=tuple(_rule_row(fields, index, said) for index in range(count(fields, "rules", MOST_RULES))),
        parts=parts,
        changes=sentences(draft.policy, draft.base.content, draft.content) if draft.base else (),
        trial=trial,
        refusal=refusal,
        library=_library(actor.organisation_id),
        places=places_of(draft.policy),
        is_saved=refusal is None,
        opened=opened,
    )


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of what was typed; the names are those of the editor's page, whose part it is."""

    draft: Draft
    may_save: bool
    parts: TableParts | None
    changes: tuple[str, ...]
    refusal: Refusal | None
    library: tuple[tuple[str, str], ...]
    is_saved: bool
    places: Places


def said_of(draft: Draft, actor: Actor, content: str | None, refusal: Refusal | None, now: datetime) -> Said:
    """Findings and changes of a content that is not saved; `refusal` where what was typed is none."""
    return Said(
        draft=draft,
        may_save=actor.may_edit and draft.state in OPEN_STATES,
        parts=parts_of(draft.policy, content, now) if content else None,
        changes=sentences(draft.policy, draft.base.content, content) if draft.base and content else (),
        refusal=refusal,
        library=_library(actor.organisation_id),
        is_saved=content == draft.content,
        places=places_of(draft.policy),
    )


def _library(organisation_id: int) -> tuple[tuple[str, str], ...]:
    rows = Evidence.objects.filter(organisation_id=organisation_id).order_by("slug")
    return tuple((row.slug, f"{row.slug}: {row.claim[:80]}") for row in rows)


def _rule_row(fields: Fields, index: int, said: Mapping[str, RuleLine]) -> RuleRow:
    at = f"r{index}-"
    rows = [f"{at}c{each}-" for each in range(count(fields, f"{at}conditions", MOST_CONDITIONS) + 1)]
    filled = [row for row in rows if fields.get(f"{row}signal")]
    # The blank row comes last, under the number after those that are kept.
    conditions = [_condition_row(fields, row, f"{at}c{number}-") for number, row in enumerate(filled)]
    conditions.append(_condition_row({}, "", f"{at}c{len(conditions)}-"))
    prefix = f"{at}p-"
    rule_id = fields.get(f"{at}id", "")
    return RuleRow(
        at=at,
        index=index,
        id=rule_id,
        operation=fields.get(f"{at}operation", ""),
        reason=fields.get(f"{at}reason", ""),
        evidence=fields.get(f"{at}evidence", ""),
        enabled=f"{at}enabled" in fields,
        conditions=tuple(conditions),
        parameters={name.removeprefix(prefix): text for name, text in fields.items() if name.startswith(prefix)},
        said=said.get(rule_id),
    )


def _condition_row(fields: Fields, source: str, at: str) -> ConditionRow:
    name = fields.get(f"{source}signal", "")
    signal = CATALOGUE.get(name)
    return ConditionRow(
        at=at,
        signal=name,
        names=fields.get(f"{source}names", ""),
        low=fields.get(f"{source}from", ""),
        low_is=fields.get(f"{source}from_is", "in"),
        high=fields.get(f"{source}to", ""),
        high_is=fields.get(f"{source}to_is", "out"),
        unknown=f"{source}unknown" in fields,
        unset=f"{source}unset" in fields,
        has_range=signal is None or signal.is_number,
        has_names=signal is None or not signal.is_number,
        has_unknown=signal is None or Special.UNKNOWN in signal.specials,
        has_unset=signal is None or Special.UNSET in signal.specials,
        hint="yes or no" if signal and signal.kind is Kind.FLAG else ", ".join(signal.options) if signal else "",
    )
