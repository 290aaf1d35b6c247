"""The page of one verdict: what was known then, which rule answered, who was told, and whether it comes out again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.shortcuts import get_object_or_404

from ecm_site.common import figures
from policy_app.kernel.operations import Operation
from policy_app.kernel.quiet import SOON_CALLS
from policy_app.kernel.sentences import OPERATION_WORDS, step_words, value_words
from policy_app.kernel.signals import CATALOGUE, Special
from sessions_app.dashboard import words
from sessions_app.models import Verdict, Viewer
from sessions_app.services import verdicts
from sessions_app.services.verdicts import Rederived

#: Of who asks rather than of what is known; shown in the crumbs.
_NOT_SHOWN = frozenset(("host", "thread_kind", "model"))
SILENCES = {
    "nothing_to_do": "there is nothing to do",
    "nobody_can": "nobody can do it on this host",
    "not_heard_here": "whoever can do it does not hear this hook",
    "muted": "the session is muted",
    "after_compaction": "too soon after a compaction",
    "said_in_this_zone": "it was said when this zone began",
    "advised_lately": f"a compaction was advised less than {SOON_CALLS} calls before",
}
ADHERENCES = {
    "pending": f"not known yet: it counts what happens within {SOON_CALLS} calls",
    "followed": "yes",
    "not_followed": f"no, not within {SOON_CALLS} calls",
    "unknown": f"not known: the session ended before {SOON_CALLS} calls",
}


@dataclass(frozen=True, slots=True)
class KnownLine:
    """A signal as it was known: value, whence, how old, how far behind."""

    label: str
    value: str
    is_known: bool
    origin: str
    age: str
    calls_behind: int


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A rule, and why it answered or not."""

    rule: str
    says: str
    why: str
    matched: bool


@dataclass(frozen=True, slots=True)
class VerdictPage:
    """All that the template shows. `rederived` is None until somebody asks."""

    verdict: Verdict
    now: datetime
    finding: str
    told: str
    adherence: str
    utilization: str
    known: tuple[KnownLine, ...]
    rules: tuple[RuleLine, ...]
    latency_ms: str
    asked: bool
    is_equal: bool
    differing: tuple[str, ...]


def verdict_page(user: Viewer, public_id: str, *, ask: bool, now: datetime) -> VerdictPage:
    """The page of a verdict of a session that the user may see; 404 for any other."""
    rows = Verdict.objects.for_user(user).select_related("session__team", "session__project", "version")
    verdict = get_object_or_404(rows, public_id=public_id)
    again = verdicts.rederive(verdict)
    utilization = again.judged.situation.signals["utilization"]
    return VerdictPage(
        verdict=verdict,
        now=now,
        finding=_finding(verdict, value_words(utilization)),
        told=told_words(verdict),
        adherence=ADHERENCES.get(verdict.adherence, ""),
        utilization="" if isinstance(utilization, Special) else value_words(utilization),
        known=tuple(_known(verdict, again)),
        rules=tuple(_rules(verdict, again)),
        latency_ms=f"{verdict.latency_us / 1000:.1f} ms",
        asked=ask,
        is_equal=again.is_equal,
        differing=again.differing,
    )


def _finding(verdict: Verdict, utilization: str) -> str:
    share = "" if verdict.zone == "UNKNOWN" else f" {utilization}"
    does = OPERATION_WORDS[Operation(verdict.operation)]
    return f"{'Drill: ' if verdict.drill else ''}{verdict.zone}{share}: {does}"


def told_words(verdict: Verdict) -> str:
    """Who was told, or why nobody."""
    if verdict.said_to:
        people = {"human": "person"}
        return f"told the {words.listed([people.get(each, each) for each in verdict.said_to])}"
    return f"told nobody: {SILENCES.get(verdict.silence, verdict.silence)}"


def _known(verdict: Verdict, again: Rederived) -> Iterator[KnownLine]:
    situation = again.judged.situation.signals
    for name, signal in CATALOGUE.items():
        if name in _NOT_SHOWN:
            continue
        value = situation[name]
        origin: Mapping[str, Any] = verdict.origins.get(name, {})
        yield KnownLine(
            label=signal.name.replace("_", " "),
            value=value_words(value),
            is_known=not isinstance(value, Special),
            origin=words.word(words.ORIGINS, str(origin["origin"])) if origin else _derived(name, value),
            age=_age(verdict.at, origin.get("taken_at")),
            calls_behind=int(origin.get("calls_behind") or 0),
        )


def _derived(name: str, value: object) -> str:
    return "" if isinstance(value, Special) else "follows from the others"


def _age(at: datetime, taken: object) -> str:
    if not isinstance(taken, str):
        return ""
    seconds = (at - datetime.fromisoformat(taken)).total_seconds()
    return figures.duration(max(0.0, seconds))


def _rules(verdict: Verdict, again: Rederived) -> Iterator[RuleLine]:
    steps = {step.rule: step for step in again.judged.trace}
    for rule in again.table.rules:
        step = steps.get(rule.id)
        why = step_words(step) if step else f"not asked: {verdict.rule} answered"
        yield RuleLine(rule.id, OPERATION_WORDS[rule.operation], why, rule.id == verdict.rule)
