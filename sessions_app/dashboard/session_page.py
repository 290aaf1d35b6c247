"""The page of one session: what happened, call by call, and where each figure comes from."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.shortcuts import get_object_or_404

from ecm_site.common import figures
from sessions_app.dashboard import findings, shapes, words
from sessions_app.dashboard.billing import BillingNote, billed, with_billing
from sessions_app.dashboard.call_lines import CallPages, call_lines, pages_of
from sessions_app.dashboard.certificate import Certificate, certificate
from sessions_app.dashboard.compaction_cards import CompactionCard, compaction_cards
from sessions_app.dashboard.follow import Follow, followed, signs_of, with_signs
from sessions_app.dashboard.ledger import Entry, Ledger, ledger
from sessions_app.dashboard.losses import LossCard, loss_cards
from sessions_app.dashboard.now_card import NowCard, now_card
from sessions_app.dashboard.sentences import Sentence
from sessions_app.dashboard.session_chart import timeline_of
from sessions_app.dashboard.session_facts import facts_of
from sessions_app.dashboard.verdict_lines import VerdictSection, verdict_section
from sessions_app.kernel.zones import Zone
from sessions_app.models import Call, Session, Thread, Viewer
from sessions_app.services.prices import load_price_book

#: Calls that a source lacks are named up to this many.
MOST_NAMED = 4
MOST_CHILDREN = 20


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One way by which readings came, and which calls it did not tell."""

    words: str
    readings: int
    calls: int
    lacks: str


@dataclass(frozen=True, slots=True)
class ThreadLine:
    """One agent of the session."""

    thread: Thread
    name: str


@dataclass(frozen=True, slots=True)
class WarningLine:
    """A remark of the fold, in words."""

    message: str
    count: int
    first_at: str


@dataclass(frozen=True, slots=True)
class SessionPage:
    """All that the template shows."""

    session: Session
    now: datetime
    title: str
    host: str
    window_words: str
    #: The larger window that the model is known for, where an automatic compaction showed a smaller one.
    known_window: int | None
    finding: Sentence
    timeline: shapes.Timeline
    has_agents: bool
    calls: CallPages
    ledger: Ledger | None
    losses: tuple[LossCard, ...]
    more_losses: int
    compactions: tuple[CompactionCard, ...]
    threads: tuple[ThreadLine, ...]
    warnings: tuple[WarningLine, ...]
    lower_bounds: tuple[str, ...]
    sources: tuple[SourceLine, ...]
    children: tuple[Session, ...]
    live: NowCard | None
    verdicts: VerdictSection
    certificate: Certificate | None
    billing: BillingNote
    follow: Follow

    @property
    def has_tokens(self) -> bool:
        """False when only marks or meters arrived: then sums of tokens are not known."""
        return bool(self.session.calls or self.session.aux_calls or self.session.total_tokens)

    @property
    def meter_zones(self) -> tuple[str, ...]:
        """Zones of the host's own meter in order, where no call was seen."""
        points = self.session.current.get("points", ()) if not self.session.calls else ()
        return tuple(zone for zone in points if zone in Zone)

    @property
    def host_agreement(self) -> str:
        """How the host's own figure stands to ours."""
        ours, theirs = self.session.cost_usd, self.session.host_cost_usd
        if ours is None or theirs is None:
            return ""
        if ours == theirs:
            return "equal"
        return f"{figures.usd_ledger(abs(theirs - ours))} {'more' if theirs > ours else 'less'} than the list price"

    @property
    def is_waiting(self) -> bool:
        """True when readings arrived that are not in these figures yet."""
        return self.session.revision > self.session.folded_revision


def session_page(user: Viewer, pk: int, parameters: Mapping[str, str], now: datetime) -> SessionPage:
    """The page of one session that the user may see: at most twelve queries; 404 for any other."""
    rows = Session.objects.for_user(user).select_related("project", "team", "parent")
    session = get_object_or_404(with_signs(with_billing(rows)), pk=pk)
    book = load_price_book()
    calls = list(session.call_rows.order_by("number"))
    compactions = list(session.compaction_rows.order_by("number"))
    threads = list(session.thread_rows.order_by("first_at", "key"))
    names = {thread.key: _thread_name(thread) for thread in threads}
    lines = call_lines(calls, names, session.window)
    cards = compaction_cards(compactions, calls)
    losses, more = loss_cards(calls, session.host)
    restorations = list(session.restorations.order_by("pk"))
    live = now_card(session, getattr(session, "main_state", None), book, now)
    return SessionPage(
        session=session,
        now=now,
        title=_title(session),
        host=" ".join((words.word(words.HOSTS, session.host), session.version)).strip(),
        window_words=words.word(words.WINDOW_ORIGINS, session.window_origin) if session.window else "",
        known_window=next((c.known_window for c in reversed(calls) if c.known_window != c.window), None),
        finding=findings.of_session(facts_of(session, calls, compactions)),
        timeline=timeline_of(lines, compactions, session.window),
        has_agents=any(call.thread and call.occupancy is not None for call in calls),
        calls=pages_of(lines, parameters),
        ledger=_ledger(session, calls),
        losses=losses,
        more_losses=more,
        compactions=cards,
        threads=tuple(ThreadLine(thread, names[thread.key]) for thread in threads),
        warnings=_warnings(session),
        lower_bounds=tuple(words.missing(session.lower_bound)),
        sources=_sources(session, calls),
        children=tuple(
            Session.objects.for_user(user).filter(parent=session).order_by("first_at", "pk")[:MOST_CHILDREN]
        ),
        live=live,
        verdicts=verdict_section(session, compactions, restorations, book, is_live=live is not None),
        certificate=certificate(calls, restorations),
        billing=billed(session),
        follow=followed(signs_of(session), now),
    )


def _title(session: Session) -> str:
    project = session.project.name if session.project else "project unknown"
    return f"{project} · {session.branch}" if session.branch else project


def _thread_name(thread: Thread) -> str:
    if not thread.key:
        return "main"
    return f"{thread.agent_type or 'subagent'} {thread.key[:8]}"


def _ledger(session: Session, calls: Sequence[Call]) -> Ledger | None:
    entries = [
        Entry(call.miss_cause, call.miss_part, 1, call.missed_tokens, call.miss_cost_usd)
        for call in calls
        if call.miss_cause
    ]
    needed = [call.needed_usd for call in calls if call.needed_usd is not None]
    # Counters alone have no call to look into: their sum is as it is.
    return ledger(session.cost_usd, sum(needed, Decimal()), entries) if calls else None


def _warnings(session: Session) -> tuple[WarningLine, ...]:
    messages = Counter(str(w.get("message") or w.get("code", "")) for w in session.warnings)
    first: dict[str, str] = {}
    for warning in session.warnings:
        first.setdefault(str(warning.get("message") or warning.get("code", "")), str(warning.get("at", "")))
    return tuple(WarningLine(message, n, first[message]) for message, n in messages.items())


def _sources(session: Session, calls: Sequence[Call]) -> tuple[SourceLine, ...]:
    """Each source with its readings, the calls that it told and the ones that only others told."""
    told: dict[str, set[int]] = {}
    for call in calls:
        for source in _usage_sources(call.origins):
            told.setdefault(source, set()).add(call.number)
    lines: list[SourceLine] = []
    for source, readings in sorted(session.sources.items()):
        mine = told.get(source, set())
        missing = [str(call.number) for call in calls if call.number not in mine] if mine else []
        named = f"call {words.listed(missing)}" if len(missing) <= MOST_NAMED else f"{len(missing)} calls"
        lines.append(SourceLine(words.word(words.SOURCES, source), readings, len(mine), named if missing else ""))
    return tuple(lines)


def _usage_sources(origins: Mapping[str, Any]) -> list[str]:
    usage = origins.get("usage", [])
    return [str(source) for source in usage] if isinstance(usage, list) else []
