"""The list of policies, one policy as it is in force, and its history."""

from dataclasses import dataclass
from datetime import datetime

from policy_app.console import door
from policy_app.console.parts import TableParts, parts_of
from policy_app.console.places import Places, places_of
from policy_app.models import OPEN_STATES, Assignment, Draft, Policy, PolicyKind, ScopeKind, Version
from policy_app.services import blaming, contents
from policy_app.services.actors import Actor
from policy_app.services.inforce import DEFAULT_SLUG

MOST_DRAFTS = 100


@dataclass(frozen=True, slots=True)
class Place:
    """Where a policy holds, or will: `version` None follows its newest."""

    kind: str
    name: str
    version: int | None
    from_at: datetime


@dataclass(frozen=True, slots=True)
class PolicyLine:
    """One policy of the list."""

    policy: Policy
    live: Version | None
    places: tuple[Place, ...]
    is_fallback: bool
    drafts: tuple[Draft, ...]


@dataclass(frozen=True, slots=True)
class PoliciesPage:
    """All policies of an organisation and one kind."""

    now: datetime
    actor: Actor
    places: Places
    lines: tuple[PolicyLine, ...]


@dataclass(frozen=True, slots=True)
class PolicyPage:
    """One policy; `parts` is None before its first version."""

    now: datetime
    actor: Actor
    line: PolicyLine
    parts: TableParts | None
    places: Places


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """A version, and in sentences what it changed on the one before."""

    version: Version
    changes: tuple[str, ...]
    is_live: bool
    may_revert: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two versions, and the way from one to the other in sentences."""

    before: int
    after: int
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """All versions, the newest first."""

    now: datetime
    actor: Actor
    policy: Policy
    places: Places
    lines: tuple[HistoryLine, ...]
    comparison: Comparison | None
    error: str = ""
    typed: str = ""


def policies_page(actor: Actor, now: datetime, kind: PolicyKind) -> PoliciesPage:
    """The list."""
    rows = Policy.objects.of(actor.organisation_id, kind).order_by("slug")
    return PoliciesPage(now, actor, places_of(kind), tuple(policy_line(row, now) for row in rows))


def policy_page(policy: Policy, actor: Actor, now: datetime) -> PolicyPage:
    """One policy as it is in force."""
    line = policy_line(policy, now)
    blames = blaming.blame(policy=policy)
    parts = parts_of(policy, line.live.content, now, blames) if line.live else None
    return PolicyPage(now, actor, line, parts, places_of(policy))


def history_page(
    policy: Policy,
    actor: Actor,
    now: datetime,
    *,
    between: tuple[int, int] | None = None,
    error: str = "",
    typed: str = "",
) -> HistoryPage:
    """All versions; `between` compares two of them."""
    versions = list(Version.objects.filter(policy=policy).select_related("reverts", "provisional").order_by("-number"))
    lines = tuple(
        HistoryLine(
            version=version,
            changes=sentences(policy, before.content, version.content) if before else (),
            is_live=index == 0,
            may_revert=actor.may_approve and version.content != versions[0].content,
        )
        for index, version in enumerate(versions)
        for before in [versions[index + 1] if index + 1 < len(versions) else None]
    )
    return HistoryPage(now, actor, policy, places_of(policy), lines, _compared(policy, versions, between), error, typed)


def sentences(policy: Policy, before: str, after: str) -> tuple[str, ...]:
    """What changed from one content of the policy to the other, a sentence each."""
    return tuple(str(change["sentence"]) for change in contents.of(policy).differences(before, after))


def _compared(policy: Policy, versions: list[Version], between: tuple[int, int] | None) -> Comparison | None:
    by_number = {version.number: version for version in versions}
    if between is None or not set(between) <= set(by_number):
        return None
    before, after = between
    return Comparison(before, after, sentences(policy, by_number[before].content, by_number[after].content))


def policy_line(policy: Policy, now: datetime) -> PolicyLine:
    """What is in force of a policy, where, and what is being written."""
    drafts = Draft.objects.filter(policy=policy, state__in=OPEN_STATES).select_related("base").order_by("-updated_at")
    newest = Version.objects.filter(policy=policy).select_related("reverts", "provisional").order_by("-number")
    return PolicyLine(
        policy=policy,
        live=newest.first(),
        places=_places(policy, now),
        is_fallback=policy.slug == DEFAULT_SLUG,
        drafts=tuple(drafts[:MOST_DRAFTS]),
    )


def _places(policy: Policy, now: datetime) -> tuple[Place, ...]:
    """Scopes whose newest begun assignment is this policy's, and those that are to follow."""
    of_kind = Assignment.objects.filter(organisation_id=policy.organisation_id, kind=policy.kind)
    rows = of_kind.order_by("-from_at", "-pk")
    begun: set[tuple[str, int]] = set()
    found = []
    for row in rows.select_related("version"):
        scope = (row.scope_kind, row.scope_id)
        if row.from_at <= now:
            if scope in begun:
                continue
            begun.add(scope)
        if row.policy_id == policy.pk:
            name = door.scope_name(ScopeKind(row.scope_kind), row.scope_id)
            found.append(Place(row.scope_kind, name, row.version.number if row.version else None, row.from_at))
    return tuple(found)
