"""One finding in words, whatever found it."""

from dataclasses import dataclass
from enum import StrEnum

from policy_app.kernel.analysis import Analysis
from policy_app.kernel.sentences import listed, values_words
from policy_app.kernel.space import Witness


class Severity(StrEnum):
    """`blocks` keeps a table from being published; `warns` and `notes` can be kept, with a reason."""

    BLOCKS = "blocks"
    WARNS = "warns"
    NOTES = "notes"


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, where, and a situation that shows it. `rule` is empty for the table as a whole.

    `hosts` are those that the finding is about, or that could mend it.
    """

    code: str
    severity: Severity
    rule: str
    text: str
    witness: Witness | None = None
    hosts: tuple[str, ...] = ()


def analysis_findings(analysis: Analysis) -> tuple[Finding, ...]:
    """The analysis in words; each blocks."""
    masked = {found.rule for found in analysis.masked}
    return (
        *(
            Finding("gap", Severity.BLOCKS, "", f"No rule answers for {shown(gap.witness)}.", gap.witness)
            for gap in analysis.gaps
        ),
        *(
            Finding(
                "overlap",
                Severity.BLOCKS,
                overlap.rules[1],
                f"{overlap.rules[0]} and {overlap.rules[1]} both answer for {shown(overlap.witness)}.",
                overlap.witness,
            )
            for overlap in analysis.overlaps
        ),
        *(
            Finding(
                "masked",
                Severity.BLOCKS,
                found.rule,
                f"{found.rule} never answers: {found.by} takes all of its situations, as for {shown(found.witness)}.",
                found.witness,
            )
            for found in analysis.masked
        ),
        *(
            _unreachable(found.rule, found.taken_by, found.witness)
            for found in analysis.unreachable
            if found.rule not in masked
        ),
        *(_undecided(rule) for rule in analysis.undecided),
    )


def _unreachable(rule: str, taken_by: tuple[str, ...], witness: Witness | None) -> Finding:
    if witness is None:
        text = f"{rule} never answers: its conditions exclude each other."
    else:
        text = f"{rule} never answers: {listed(taken_by, 'and')} together take all of its situations."
    return Finding("unreachable", Severity.BLOCKS, rule, text, witness)


def _undecided(rule: str) -> Finding:
    subject = f"whether {rule} ever answers" if rule else "whether every situation meets one rule"
    return Finding("undecided", Severity.BLOCKS, rule, f"The table is too entangled to say {subject}.")


def shown(witness: Witness | None) -> str:
    """The situation of a witness in words."""
    return values_words(witness.values.items()) if witness and witness.values else "every situation"
