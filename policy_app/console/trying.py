"""One situation, put to the saved table: the verdict in words, and why."""

from collections.abc import Mapping
from dataclasses import dataclass

from policy_app.console.form_fields import number_text
from policy_app.kernel.errors import Refused
from policy_app.kernel.evaluate import evaluate
from policy_app.kernel.sentences import OPERATION_WORDS, step_words
from policy_app.kernel.signals import CATALOGUE, HOSTS, Kind, Signals
from policy_app.services import tables

#: What the row asks for; what is left empty is not sent.
ASKED = ("zone", "depth", "tool_result_share", "budget_spent_ratio", "host", "model")


@dataclass(frozen=True, slots=True)
class Trial:
    """What was asked, and the answer; `answer` is empty while nothing was asked."""

    values: tuple[tuple[str, str, tuple[str, ...], str], ...]
    subagent: bool
    answer: str
    rule: str
    reason: str
    trace: tuple[tuple[str, str], ...]
    error: str


def trial_of(content: str, asked: Mapping[str, str]) -> Trial:
    """The answer of a content to the fields `try-SIGNAL` and `try-subagent`."""
    typed = {name: asked.get(f"try-{name}", "").strip()[:200] for name in ASKED}
    values = tuple((name, name.replace("_", " "), _options(name), text) for name, text in typed.items())
    subagent = "try-subagent" in asked
    given = {name: _value(name, text) for name, text in typed.items() if text}
    if not given and "try" not in asked:
        return Trial(values, subagent, "", "", "", (), "")
    try:
        verdict = evaluate(tables.parsed(content), Signals.of(given), subagent)
    except Refused as error:
        return Trial(values, subagent, "", "", "", (), str(error))
    trace = tuple((step.rule, step_words(step)) for step in verdict.trace)
    answer = OPERATION_WORDS[verdict.operation]
    return Trial(values, subagent, answer, verdict.rule, verdict.reason, trace, "")


def _options(name: str) -> tuple[str, ...]:
    return HOSTS if name == "host" else (*CATALOGUE[name].options, "unknown") if name == "zone" else ()


def _value(name: str, text: str) -> object:
    if CATALOGUE[name].kind is Kind.WHOLE:
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text
    return number_text(text) if CATALOGUE[name].kind is Kind.SHARE else text
