"""Answer a delivery of hooks: take what it tells of compactions, give the verdict, put pins back, say what is known."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.dateparse import parse_datetime

from policy_app.kernel.messages import tokens_at_most
from policy_app.services import inforce
from policy_app.services.inforce import Scope
from policy_app.services.pinning import LivePins
from sessions_app.feeds.husk_strings import kept_id
from sessions_app.kernel import live_state
from sessions_app.kernel.live_state import Now
from sessions_app.kernel.trail import Trail
from sessions_app.models import Project, Restoration, Session, Standing, Verdict
from sessions_app.services import bracket, dialects, judging, living
from sessions_app.services.judging import Hook, Known, Said
from sessions_app.services.prices import load_price_book

#: A drill that lasts longer is none.
LONGEST_DRILL = timedelta(minutes=60)
JUDGED = judging.DECIDES | judging.RAISES
#: Hooks that tell of a compaction.
BRACKET = frozenset(("PreCompact", "PostCompact", "SessionStart"))


@dataclass(frozen=True, slots=True)
class Entry:
    """One hook of a delivery: its reduced payload, and when the client received it."""

    payload: Mapping[str, Any]
    at_ms: int

    def text(self, name: str) -> str:
        """A name that the payload carries; empty where it is none."""
        value = self.payload.get(name)
        return value if isinstance(value, str) else ""

    @property
    def event(self) -> str:
        """Which hook."""
        return self.text("hook_event_name")

    @property
    def is_after_compaction(self) -> bool:
        """Whether the session starts again on a summary."""
        return self.event == "SessionStart" and self.text("source") == "compact"


@dataclass(frozen=True, slots=True)
class Delivery:
    """Hooks of one session of one team. The last entry is answered if `waits`.

    `is_host`: the host itself reads the answer, so what is answered is delivered. `link` and `session_link` are
    addresses with `{}` for an id.
    """

    team_id: int
    organisation_id: int
    host: str
    session: str
    entries: tuple[Entry, ...]
    link: str
    session_link: str
    started: float
    waits: bool = False
    is_host: bool = False
    drill: Mapping[str, Any] | None = None
    printed: tuple[Mapping[str, Any], ...] = ()
    survival: tuple[tuple[Mapping[str, Any], int | None], ...] = ()


@dataclass(slots=True)
class Answered:
    """The answer in the host's dialect, and what else the client is told."""

    text: str = ""
    session: Session | None = None
    now: Now | None = None
    advice: str = ""
    keep: dict[str, Any] = field(default_factory=dict)


def answer(*, delivery: Delivery, now: datetime) -> Answered:
    """Answer one delivery, whose readings are stored already."""
    session = (
        Session.objects.select_related("project")
        .filter(team=delivery.team_id, host=delivery.host, host_session_id=delivery.session)
        .first()
    )
    if session is None:
        return Answered()
    known = _known(session, delivery, now)
    drill = drill_of(delivery.drill, now)
    answered = Answered(session=session, now=known.now)
    pins = bracket.pins_of(session, delivery.organisation_id, now)
    if pins is not None:
        known = replace(known, pins=len(pins.pins), pins_digest=pins.digest)
    answered.keep = _keep(session, delivery, pins, now)
    asked = delivery.entries[-1] if delivery.waits and delivery.entries else None
    is_bracket = delivery.printed or delivery.survival or any(e.event in BRACKET for e in delivery.entries)
    if is_bracket or (asked is not None and asked.event in JUDGED):
        with transaction.atomic():
            answered.text = _Turn(delivery, known, pins, drill, now).take(asked)
    answered.advice = judging.advice_of(known=known, drill=drill, now=now)
    return answered


def _known(session: Session, delivery: Delivery, now: datetime) -> Known:
    state = living.state_of(session.pk)
    project, path = session.project, state.trail
    has_crystalium = bool(project and project.has_crystalium)
    if path and path.externalized and path.externalized[1].startswith("mcp__crystalium__") and not has_crystalium:
        has_crystalium = True
        if project:
            Project.objects.filter(pk=project.pk).update(has_crystalium=True)
    return Known(
        session=session,
        organisation_id=delivery.organisation_id,
        state=state,
        now=live_state.now(state, load_price_book()),
        has_crystalium=has_crystalium,
    )


def _keep(session: Session, delivery: Delivery, pins: LivePins | None, now: datetime) -> dict[str, Any]:
    """Digests of what the client keeps for when this server is away."""
    scope = Scope(delivery.organisation_id, session.team_id, session.project_id)
    live = inforce.live_table(scope=scope, now=now)
    policy = {"slug": live.policy, "number": live.number, "digest": live.digest} if live else None
    return {"policy": policy, "pins": {"digest": pins.digest} if pins else None}


def drill_of(raw: Mapping[str, Any] | None, now: datetime) -> dict[str, int] | None:
    """Lines of a drill in percent; None where there is none, it is over, or it asks for more than an hour."""
    if not isinstance(raw, Mapping):
        return None
    until = raw.get("until")
    try:
        end = parse_datetime(until) if isinstance(until, str) else None
    except ValueError:
        end = None
    lines = [raw.get(name) for name in ("amber", "red", "critical")]
    if end is None or end.tzinfo is None or not now < end <= now + LONGEST_DRILL:
        return None
    whole = [line for line in lines if type(line) is int]
    if len(whole) != len(lines) or not 0 < whole[0] < whole[1] < whole[2] <= 100:
        return None
    return dict(zip(("amber", "red", "critical"), whole, strict=True))


class _Turn:
    """One delivery of one session, under the lock of its standing row."""

    def __init__(
        self,
        delivery: Delivery,
        known: Known,
        pins: LivePins | None,
        drill: dict[str, int] | None,
        now: datetime,
    ) -> None:
        self.delivery, self.known, self.pins, self.drill, self.now = delivery, known, pins, drill, now
        self.session = known.session
        self.standing = _locked(self.session, "", is_drill=drill is not None)

    def take(self, asked: Entry | None) -> str:
        """Take what is told, in the order in which it can only have happened; the answer for `asked`."""
        restoration: Restoration | None = None
        for entry in self.delivery.entries:
            if entry.is_after_compaction:
                restoration = self._started_again(entry)
            elif entry.event == "PostCompact":
                bracket.note_end(session=self.session, at_ms=entry.at_ms, trigger=entry.text("trigger"))
        for told, at_ms in self.delivery.survival:
            bracket.note_survival(session=self.session, told=told, at_ms=at_ms)
        for told in self.delivery.printed:
            self._printed(told)
        if asked is None:
            return ""
        if asked.event == "PreCompact":
            return dialects.before_compaction(self.delivery.host, bracket.before(self.pins))
        if asked.event not in JUDGED or not dialects.hears(self.delivery.host, asked.event):
            return ""
        return self._judge(asked, restoration)

    def _started_again(self, entry: Entry) -> Restoration:
        path = self.known.state.trail or Trail()
        row, is_news = bracket.note_start(session=self.session, at_ms=entry.at_ms, path=path)
        if is_news:
            fresh = {"operation": "continue", "zone": "", "spoken": ""}
            Standing.objects.filter(session=self.session, thread="").update(**fresh)
            self.standing.refresh_from_db()
        return row

    def _printed(self, told: Mapping[str, Any]) -> None:
        if not bracket.note_printed(session=self.session, told=told, now=self.now):
            waiting = Verdict.objects.filter(session=self.session, printed_at=None).spoken()
            waiting.filter(answer_digest=bracket.digest_in(told.get("sha256")) or "-").update(printed_at=self.now)

    def _judge(self, asked: Entry, restoration: Restoration | None) -> str:
        # The summariser runs as an agent without a type; it is nobody's subagent.
        thread = kept_id(asked.text("agent_id")) if asked.text("agent_type") else ""
        standing, known = self.standing, self.known
        if thread:
            standing = _locked(self.session, thread, is_drill=self.drill is not None)
            state = living.state_of(self.session.pk, thread)
            known = replace(known, state=state, now=live_state.now(state, load_price_book()))
        if asked.event in judging.DECIDES and not self.delivery.is_host:
            judging.forget_unheard(standing=standing)
        hook = Hook(
            event=asked.event,
            thread=thread[: living.LONGEST_THREAD],
            link=self.delivery.link,
            started=self.delivery.started,
            source=asked.text("source"),
            drill=self.drill,
        )
        said = judging.judge(hook=hook, known=known, standing=standing, now=self.now)
        if not thread:
            self._bracketed(asked, restoration, said)
        text = dialects.said(self.delivery.host, asked.event, said.to_model, said.to_human)
        if text and said.verdict is not None:
            printed = self.now if self.delivery.is_host else None
            said.verdict.answer_digest, said.verdict.printed_at = judging.digest_of(text), printed
            said.verdict.save(update_fields=["answer_digest", "printed_at"])
        if text and restoration is not None:
            restoration.answer_digest = judging.digest_of(text)
            restoration.save(update_fields=["answer_digest"])
        return text

    def _bracketed(self, asked: Entry, restoration: Restoration | None, said: Said) -> None:
        """Put pins back after a compaction, or at the next prompt where that did not arrive; tell the person."""
        pins = self.pins
        if restoration is not None and asked.is_after_compaction and pins is not None:
            text = bracket.restore(row=restoration, pins=pins, now=self.now, is_sure=self.delivery.is_host)
            self._add(said, text, self._back(restoration, pins) if text else "")
        elif asked.event == "UserPromptSubmit":
            text, row = bracket.repair(session=self.session, pins=self.pins, now=self.now)
            self._add(said, text, self._kept(row) if row else "")

    def _add(self, said: Said, to_model: str, to_human: str) -> None:
        said.to_model = "\n\n".join(part for part in (to_model, said.to_model) if part)
        if to_human and self.session.muted_at is None:
            said.to_human = "\n".join(part for part in (to_human, said.to_human) if part)
        if to_model:
            self.standing.injected_tokens += tokens_at_most(to_model)
            self.standing.save(update_fields=["injected_tokens"])

    def _back(self, row: Restoration, pins: LivePins) -> str:
        """What the person reads right after a compaction."""
        count, all_of = len(pins.pins), len(pins.pins) + len(pins.left_out)
        words = [f"{count} of {all_of} pins are back."]
        if row.sink == "none" and self.standing.warned_at is None:
            self.standing.warned_at = self.now
            self.standing.save(update_fields=["warned_at"])
            words.append("Nothing had been written to durable memory before this compaction.")
        return " ".join([*words, self.delivery.session_link.format(self.session.pk)])

    def _kept(self, row: Restoration) -> str:
        """What the person reads at the first prompt after it: what the summary itself held."""
        found = bracket.survived(row)
        if row.told_at is not None or found is None:
            return ""
        row.told_at = self.now
        row.save(update_fields=["told_at"])
        words = [f"In the summary itself {found[0]} of {found[1]} pins word for word."]
        return " ".join([*words, self.delivery.session_link.format(self.session.pk)])


def _locked(session: Session, thread: str, *, is_drill: bool) -> Standing:
    """The standing row, made where it is missing, locked until commit."""
    named = {"session": session, "thread": thread[: living.LONGEST_THREAD], "is_drill": is_drill}
    rows = Standing.objects.select_for_update()
    return rows.filter(**named).first() or rows.get(pk=_made(named))


def _made(named: Mapping[str, Any]) -> int:
    row, _ = Standing.objects.get_or_create(**named)
    return row.pk


def entries_of(raw: object, now_ms: int) -> Iterable[Entry]:
    """Hooks of a bundle, with or without their envelope."""
    for record in raw if isinstance(raw, list) else ():
        if not isinstance(record, dict):
            continue
        payload = record.get("payload")
        if not isinstance(payload, dict):
            yield Entry(record, now_ms)
            continue
        at = record.get("received_at")
        is_moment = isinstance(at, int | float) and not isinstance(at, bool) and 1e9 < at < 1e10
        yield Entry(payload, int(at * 1000) if is_moment and isinstance(at, int | float) else now_ms)


def started() -> float:
    """The clock by which latencies are taken."""
    return time.perf_counter()
