"""What several pages show: rules in sentences, who can do them where, lines with their arguments."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from policy_app.console.number_words import shown_number, subject_words
from policy_app.kernel.evidence import number_at
from policy_app.kernel.findings import Finding
from policy_app.kernel.levers import LEVERS, Addressee, Force, Lever
from policy_app.kernel.operations import Operation
from policy_app.kernel.sentences import rule_sentence
from policy_app.kernel.table import LIMIT_NAMES, Rule, Table
from policy_app.kernel.zones import LINE_NAMES
from policy_app.models import Evidence, Policy
from policy_app.services import evidence, tables
from policy_app.services.blaming import Blame
from policy_app.services.findings import findings_of, recorded_of

HOST_NAMES: Mapping[str, str] = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "opencode": "OpenCode",
    "copilot": "Copilot",
    "gemini": "Gemini CLI",
    "cursor": "Cursor",
    "litellm": "LiteLLM",
    "otlp": "OpenTelemetry",
    "canonical": "own harness",
}
#: Shown where nobody has reported yet.
MAIN_HOSTS = ("claude-code", "codex", "opencode")
_WHO = {
    Addressee.HUMAN: "you",
    Addressee.MODEL: "the model",
    Addressee.SETTING: "a setting",
    Addressee.PLUGIN: "the plugin",
    Addressee.HARNESS: "the harness",
}


@dataclass(frozen=True, slots=True)
class Reach:
    """How far an operation reaches: `force`, and on which hosts by whom; `by` is the title of an entry."""

    force: str
    hosts: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class RuleLine:
    """One rule as it is read."""

    number: int
    id: str
    sentence: str
    enabled: bool
    reason: str
    cites: tuple["Cited", ...]
    reaches: tuple[Reach, ...]
    who: str
    findings: tuple[Finding, ...]
    blame: Blame | None


@dataclass(frozen=True, slots=True)
class Cited:
    """A record that is named; `record` is None where the library does not hold it."""

    slug: str
    record: Evidence | None


@dataclass(frozen=True, slots=True)
class ArgumentLine:
    """Why a number is what it is; `place` is its index in the table, `why_not` why it no longer matches (or empty)."""

    place: int
    cited: Cited
    confirmed: str
    why_not: str


@dataclass(frozen=True, slots=True)
class Unfit:
    """An argument that does not fit what it argues for: `now` is the number that stands there, or empty."""

    argument: ArgumentLine
    subject: str
    now: str


@dataclass(frozen=True, slots=True)
class NumberLine:
    """A line or a limit with what argues for it."""

    subject: str
    label: str
    value: str
    arguments: tuple[ArgumentLine, ...]


@dataclass(frozen=True, slots=True)
class TableParts:
    """A table in words."""

    lines: tuple[NumberLine, ...]
    limits: tuple[NumberLine, ...]
    rules: tuple[RuleLine, ...]
    findings: tuple[Finding, ...]
    unfit: tuple["Unfit", ...]
    windows: tuple[tuple[str, int], ...]
    remap: tuple[tuple[str, str], ...]


def reaches_of(operation: Operation) -> tuple[Reach, ...]:
    """Who can carry out the operation on which host; empty where nothing needs to be done."""
    if operation is Operation.CONTINUE:
        return ()
    found = []
    for force in Force:
        hosts = [
            (HOST_NAMES.get(host, host), who(lever.addressee, lever.also), lever.by)
            for host, levers in LEVERS.items()
            if (lever := levers[operation]).force is force
        ]
        if hosts:
            found.append(Reach(force.value, tuple(hosts)))
    return tuple(found)


def who(addressee: Addressee, also: Addressee | None) -> str:
    """Those who act, in words; empty where nobody does."""
    return " and ".join(_WHO[each] for each in (addressee, also) if each in _WHO)


def parts_of(policy: Policy, content: str, now: datetime, blames: Iterable[Blame] = ()) -> TableParts:
    """A content with what the library says of its arguments, and with its findings."""
    table = tables.parsed(content)
    recorded = recorded_of(policy.organisation_id, now)
    hosts = (recorded.hosts if recorded else ()) or MAIN_HOSTS
    records = records_of(policy.organisation_id, content)
    unfit = {
        (each.subject, each.evidence): _WHY[each.why]
        for each in evidence.mismatches(organisation_id=policy.organisation_id, content=content)
    }
    findings = findings_of(policy=policy, content=content, now=now)
    since = {each.rule: each for each in blames}
    return TableParts(
        lines=tuple(_number(table, f"zones.{name}", name.upper(), records, unfit) for name in LINE_NAMES),
        limits=tuple(_number(table, f"limits.{name}", name.replace("_", " "), records, unfit) for name in LIMIT_NAMES),
        rules=tuple(
            _rule(index, rule, table, records, findings, since.get(rule.id), hosts)
            for index, rule in enumerate(table.rules)
        ),
        findings=findings,
        unfit=tuple(_unfit(table, records, unfit)),
        windows=tuple((each.pattern.text, each.tokens) for each in table.working_windows),
        remap=tuple((str(was), str(becomes)) for was, becomes in table.remap.items()),
    )


def who_can(rule: Rule, hosts: Iterable[str]) -> str:
    """Who carries the rule out on each host where it can answer; empty where nothing needs to be done."""
    if rule.operation is Operation.CONTINUE:
        return ""
    condition = rule.on("host")
    asking = [host for host in hosts if condition is None or condition.matches(host)]
    return " · ".join(f"{HOST_NAMES.get(host, host)} {_doer(LEVERS[host][rule.operation])}" for host in asking)


def _doer(lever: Lever) -> str:
    return "nobody" if lever.force is Force.IMPOSSIBLE else who(lever.addressee, lever.also)


def _unfit(table: Table, records: Mapping[str, Evidence], unfit: Mapping[tuple[str, str], str]) -> Iterable[Unfit]:
    for place, each in enumerate(table.arguments):
        why = unfit.get((each.subject, each.evidence))
        if why:
            cited = Cited(each.evidence, records.get(each.evidence))
            argument = ArgumentLine(place, cited, shown_number(each.subject, each.number), why)
            now = number_at(table, each.subject)
            yield Unfit(argument, subject_words(each.subject), shown_number(each.subject, now) if now else "")


_WHY = {
    "number_changed": "argument no longer matches",
    "evidence_missing": "the library does not hold this evidence",
    "evidence_refuted": "this evidence is refuted",
}


def records_of(organisation_id: int, content: str) -> Mapping[str, Evidence]:
    """The library's records that a content cites, by slug."""
    rows = Evidence.objects.filter(organisation_id=organisation_id, slug__in=tables.evidence_of(content))
    return {row.slug: row for row in rows}


def _number(
    table: Table, subject: str, label: str, records: Mapping[str, Evidence], unfit: Mapping[tuple[str, str], str]
) -> NumberLine:
    raw = number_at(table, subject) or ""
    value = shown_number(subject, raw)
    arguments = tuple(
        ArgumentLine(
            place,
            Cited(each.evidence, records.get(each.evidence)),
            shown_number(subject, each.number),
            unfit.get((subject, each.evidence), ""),
        )
        for place, each in enumerate(table.arguments)
        if each.subject == subject
    )
    return NumberLine(subject, label, value, arguments)


def _rule(
    index: int,
    rule: Rule,
    table: Table,
    records: Mapping[str, Evidence],
    findings: tuple[Finding, ...],
    blame: Blame | None,
    hosts: tuple[str, ...],
) -> RuleLine:
    is_last = index == len(table.rules) - 1
    return RuleLine(
        number=index + 1,
        id=rule.id,
        sentence=rule_sentence(rule, otherwise=is_last and not rule.when),
        enabled=rule.enabled,
        reason=rule.reason,
        cites=tuple(Cited(slug, records.get(slug)) for slug in rule.evidence),
        reaches=reaches_of(rule.operation),
        who=who_can(rule, hosts),
        findings=tuple(each for each in findings if each.rule == rule.id),
        blame=blame,
    )
