"""What a draft would have said over recorded sessions, in words and as tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from ecm_site.common import figures
from policy_app.kernel.liveness import spoken
from policy_app.kernel.sentences import OPERATION_WORDS, rule_sentence
from policy_app.models import Draft
from policy_app.services import tables
from sessions_app.dashboard import words
from sessions_app.dashboard.scope import Scope
from sessions_app.models import Session, Team
from sessions_app.services.ghost import DAYS, Ghost, Reach, ghost

#: Sessions that are named for each operation.
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class ReachLine:
    """One operation in both tables; `gained` and `lost` are sessions to look at, of so many."""

    words: str
    reach: Reach
    gained: tuple[Session, ...]
    lost: tuple[Session, ...]
    effect: str
    earlier: str


@dataclass(frozen=True, slots=True)
class RuleLine:
    """One rule of the draft and how often it answers."""

    number: int
    id: str
    sentence: str
    sessions: int
    calls: int


@dataclass(frozen=True, slots=True)
class GhostPage:
    """All that the template shows."""

    now: datetime
    draft: Draft
    ghost: Ghost
    headline: str
    limits: tuple[str, ...]
    reaches: tuple[ReachLine, ...]
    rules: tuple[RuleLine, ...]


def ghost_page(draft: Draft, scope: Scope, now: datetime) -> GhostPage:
    """The draft over the sessions of those chosen teams that belong to its organisation."""
    team_ids = list(
        Team.objects.filter(pk__in=scope.team.ids, organisation_id=draft.policy.organisation_id).values_list(
            "pk", flat=True
        )
    )
    table = tables.parsed(draft.content)
    found = ghost(
        team_ids=team_ids, draft=table, base=tables.parsed(draft.base.content) if draft.base else None, now=now
    )
    named = _sessions(found.reaches)
    last = len(table.rules) - 1
    return GhostPage(
        now=now,
        draft=draft,
        ghost=found,
        headline=headline(found, draft.base.number if draft.base else None, now),
        limits=tuple(_limits(found)),
        reaches=tuple(_line(reach, named) for reach in found.reaches),
        rules=tuple(
            RuleLine(
                number=index + 1,
                id=rule.id,
                sentence=rule_sentence(rule, otherwise=index == last and not rule.when),
                sessions=hits.sessions,
                calls=hits.calls,
            )
            for index, (rule, hits) in enumerate(zip(table.rules, found.hits, strict=True))
        ),
    )


def headline(found: Ghost, base: int | None, now: datetime) -> str:
    """The largest difference in a sentence; that there is none; or that there is nothing to hold it against."""
    if not found.sessions:
        return (
            f"No session with a known context was recorded in {DAYS} days: there is nothing to hold the draft against."
        )
    of = f"{figures.plural(found.sessions, 'session')}"
    changed = [each for each in found.reaches if each.gained or each.lost]
    if not changed:
        earlier = next((each for each in found.reaches if each.earlier_calls), None)
        if earlier is not None:
            return (
                f"It would have spoken in the same of {of}, {_earlier(earlier)}: {OPERATION_WORDS[earlier.operation]}."
            )
        return f"It would have said the same as version {base} in all {of}." if base else f"It was held against {of}."
    first = changed[0]
    since = f"; first on {figures.day(first.first_at.date(), now.date())}" if first.first_at else ""
    word = OPERATION_WORDS[first.operation]
    return f"It would have said “{word}” in {first.sessions:,} of {of}, now {first.sessions_before:,}{since}."


def _limits(found: Ghost) -> Iterable[str]:
    """What the answer does not hold, a sentence each."""
    if found.silent:
        total = figures.plural(sum(found.silent.values()), "more session")
        hosts = ", ".join(f"{words.word(words.HOSTS, host)} {count:,}" for host, count in found.silent.items())
        yield f"Cannot say: {total} in which nobody told how full the context was ({hosts})."
    if found.without_window:
        yield f"Window not known: {figures.plural(found.without_window, 'session')}, where the zone reads unknown."
    if found.unheld:
        names = words.listed([spoken(name) for name in found.unheld])
        yield f"Recordings do not hold {names}; what they lack reads as not sent."
    if found.left_out:
        yield f"Bounded: {figures.plural(found.left_out, 'older session')} of the {DAYS} days were not read."


def _line(reach: Reach, named: dict[int, Session]) -> ReachLine:
    return ReachLine(
        words=OPERATION_WORDS[reach.operation],
        reach=reach,
        gained=_named(reach.gained, named),
        lost=_named(reach.lost, named),
        effect=_effect(reach),
        earlier=_earlier(reach) if reach.earlier_calls else "",
    )


def _effect(reach: Reach) -> str:
    parts = []
    if reach.gained:
        parts.append(f"also reaches {figures.plural(len(reach.gained), 'session')} it did not before")
    if reach.lost:
        parts.append(f"no longer reaches {len(reach.lost):,}")
    return ", ".join(parts) or "reaches the same sessions"


def _earlier(reach: Reach) -> str:
    calls = reach.earlier_calls or 0
    return f"{figures.plural(abs(calls), 'call')} {'earlier' if calls > 0 else 'later'} (median)"


def _sessions(reaches: Sequence[Reach]) -> dict[int, Session]:
    ids = {pk for each in reaches for pk in (*each.gained[:MOST_NAMED], *each.lost[:MOST_NAMED])}
    return {row.pk: row for row in Session.objects.filter(pk__in=ids).select_related("project")}


def _named(ids: Sequence[int], rows: dict[int, Session]) -> tuple[Session, ...]:
    return tuple(rows[pk] for pk in ids[:MOST_NAMED] if pk in rows)
