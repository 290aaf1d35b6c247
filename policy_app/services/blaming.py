"""Per rule or pin of the live version: since which version it reads as it does, by whom and why."""

from dataclasses import dataclass
from datetime import datetime

from policy_app.models import Policy, Version
from policy_app.services import contents, tables


@dataclass(frozen=True, slots=True)
class Blame:
    """The version that last changed a rule (or pin), and its author and reason."""

    rule: str
    since: int
    by: str
    at: datetime
    reason: str
    evidence: tuple[str, ...]


def blame(*, policy: Policy) -> tuple[Blame, ...]:
    """One entry for each rule or pin of the live version, in its order; nothing before the first version."""
    entries = contents.of(policy).entries
    since: dict[str, tuple[object, Version]] = {}
    for version in Version.objects.filter(policy=policy).order_by("number"):
        rules = {rule["id"]: rule for rule in tables.document_of(version.content)[entries]}
        # A rule that was away and came back counts from its return.
        since = {
            name: since[name] if name in since and since[name][0] == rule else (rule, version)
            for name, rule in rules.items()
        }
    return tuple(
        Blame(name, version.number, version.published_by_name, version.published_at, version.reason, _evidence(rule))
        for name, (rule, version) in since.items()
    )


def _evidence(rule: object) -> tuple[str, ...]:
    return tuple(rule.get("evidence", ())) if isinstance(rule, dict) else ()
